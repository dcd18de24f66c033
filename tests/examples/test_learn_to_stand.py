"""The policy of the example that learns to stand keeps bodies upright that fall without it."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium")

SPEC = importlib.util.spec_from_file_location(
    "learn_to_stand", Path(__file__).resolve().parents[2] / "examples" / "learn_to_stand.py"
)
example = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(example)


def test_the_policy_learns_to_stand():
    env = example.VectorMovementEnv(example.TASK, 48)
    size = len(example.JOINTS) * env.single_observation_space.shape[0]
    idle = example.returns(env, np.zeros((24, size)), seed=0).mean()
    assert idle < 0.65
    policy, final, history = example.learn(12, population=16)
    assert policy.shape == (size,)
    assert max(history) > history[0]
    assert final > idle + 0.1
