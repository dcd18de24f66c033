"""Normative angles as functions of the phase: against the tables, for models with other signs."""

import numpy as np
import pytest

from homodyn import catalog
from homodyn.gait.norms import normative_curve
from homodyn.gait.studies.normative_targets import foot_strike_pose, normative_targets
from homodyn.motion.clinical import resolve_coordinate


@pytest.mark.parametrize("name", ["winter_human", "heiman"])
def test_angles_are_those_of_the_table(name):
    model = catalog.build(name)
    tilt = normative_curve("pelvis tilt").mean.mean()
    for target in normative_targets(model):
        sign = resolve_coordinate(model, target.coordinate).sign
        title = next(
            angle
            for angle in ("hip flexion", "knee flexion", "ankle dorsiflexion")
            if resolve_coordinate(model, f"{target.side} {angle}").coordinate == target.coordinate
        )
        sign = resolve_coordinate(model, f"{target.side} {title}").sign
        curve = normative_curve(title)
        degrees = [np.rad2deg(sign * float(target.at(p / 100))) for p in curve.percent]
        expected = curve.mean - (tilt if title == "hip flexion" else 0.0)
        # The table does not end where it begins; the series is periodic.
        assert np.abs(np.array(degrees) - expected)[1:-2].max() < 1.5
        step = 1e-6
        slope = (float(target.at(0.3 + step)) - float(target.at(0.3 - step))) / (2 * step)
        assert target.rate(0.3) == pytest.approx(slope, rel=1e-5)


def test_the_pose_of_foot_strike_has_both_legs_half_a_cycle_apart():
    model = catalog.build("winter_human")
    q, v = foot_strike_pose(model, 0.9)
    right, left = (model.coordinate_index(f"{side}_hip") for side in ("right", "left"))
    assert q[right] < -0.3 < 0.1 < q[left]  # the right hip is flexed, the left one extended
    assert v[left] != 0
    assert not v[:3].any()
