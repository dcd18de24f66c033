"""Strength curves: the table at rest, and both branches of the velocity."""

import numpy as np
import pytest

from homodyn.errors import HomodynError
from homodyn.plan.ergonomics import StrengthProfile, joint_strength

MAN = StrengthProfile(75.0, 1.75)
ANGLE = np.array([1.133])
"""rad: where a young man's knee extension is strongest."""


def knee(speed: float) -> float:
    return float(joint_strength("Knee", "extension", ANGLE, np.array([speed]), MAN)[0])


def test_torque_at_rest_is_that_of_the_table():
    assert knee(0.0) == pytest.approx(0.163 * 75.0 * 1.75 * 9.81)


def test_constants_are_the_speeds_of_three_quarters_and_half_of_the_torque():
    # C4 and C5 are defined as the speeds at which 75 % and 50 % of the torque are left.
    assert knee(1.517) == pytest.approx(0.75 * knee(0.0))
    assert knee(3.952) == pytest.approx(0.5 * knee(0.0))


def test_lengthening_muscles_at_the_measured_speed():
    # (2 c4 c5 + w (c5 - 3 c4)) (1 + c6 w) / (2 c4 c5 + w (2 c5 - 4 c4)) at 60 deg/s.
    c4, c5, c6, w = 1.517, 3.952, 0.095, np.pi / 3
    share = (2 * c4 * c5 + w * (c5 - 3 * c4)) / (2 * c4 * c5 + w * (2 * c5 - 4 * c4))
    assert knee(-w) == pytest.approx(knee(0.0) * share * (1 + c6 * w))


def test_faster_lengthening_keeps_the_torque_of_the_measured_speed():
    assert knee(-8.0) == pytest.approx(knee(-np.pi / 3))


def test_an_unknown_joint_is_refused():
    with pytest.raises(HomodynError, match="no strength curve"):
        joint_strength("Wrist", "flexion", ANGLE, ANGLE, MAN)
