"""A scene of one step over a bar, and its plan, shared by the tests of planning."""

from pathlib import Path

import pytest

import homodyn as hd
from homodyn.plan import MotionPlan, MotionPlanOptions


@pytest.fixture(scope="session")
def step_file() -> Path:
    return Path(__file__).parent / "step_over_a_bar.toml"


@pytest.fixture(scope="session")
def step_plan(step_file) -> MotionPlan:
    scene = hd.motion.load_scene(step_file)
    return hd.plan.motion(scene, options=MotionPlanOptions(rate=30.0))
