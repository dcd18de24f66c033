"""The benchmark of control: its models, and that Pink solves the same problem."""

import numpy as np
import pytest

from homodyn.bench.control import TASK_FRAMES, _pink_step, standing_posture
from homodyn.catalog import manikin
from homodyn.dynamics import center_of_mass, position


def test_the_manikin_stands_over_its_feet() -> None:
    model = manikin()
    q = standing_posture(model)
    foot = position(model, model.neutral(), "right_foot")
    np.testing.assert_allclose(position(model, q, "right_foot"), foot, atol=1e-4)
    np.testing.assert_allclose(center_of_mass(model, q)[:2], [foot[0] + 0.04, 0], atol=1e-4)


def test_pink_reaches_the_targets_of_the_benchmark() -> None:
    pytest.importorskip("pink")
    pytest.importorskip("daqp")
    model = manikin()
    q = model.neutral()
    v = _pink_step(model, q, q)(q)
    assert v.shape == (model.nv,)
    np.testing.assert_allclose(v, 0, atol=1e-6)
    assert set(TASK_FRAMES) <= set(model.body_names)
