"""Curves of torque, power and ground force over the gait cycle."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis.curves import CycleSegmentation
from homodyn.analysis.load_curves import ground_force_curves, power_curves, torque_curves
from support import strolls

WALKER = strolls.WALKER


@pytest.fixture(scope="module")
def motion():
    return strolls.fitted()


@pytest.fixture(scope="module")
def segmentation(motion):
    return CycleSegmentation(motion.time, tuple(WALKER.events()))


@pytest.fixture(scope="module")
def loads(motion):
    return hd.capture.inverse_dynamics(motion, strolls.plates(motion), cutoff=8.0)


def test_left_and_right_of_a_symmetric_walk_agree(loads, segmentation):
    for curve in torque_curves(loads, segmentation) + power_curves(loads, segmentation):
        if curve.joint in ("Hip", "Knee", "Ankle"):
            spread = max(np.ptp(curve.right.mean), 0.3)
            middle = slice(15, 85)
            assert np.abs(curve.right.mean - curve.left.mean)[middle].max() < 0.4 * spread


def test_ground_forces_are_in_percent_of_body_weight(loads, segmentation):
    forward, inward, upward = ground_force_curves(loads, segmentation)
    assert upward.title == "Upward"
    both = upward.right.mean + np.roll(upward.left.mean, 50)
    assert np.mean(both) == pytest.approx(100, abs=6)
    assert np.abs(forward.right.mean.mean()) < 5
    assert upward.right.mean[75:95].max() < 2
    assert inward.right is not None
