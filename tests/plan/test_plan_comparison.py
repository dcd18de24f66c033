"""A plan beside a recorded motion: aligned paths, timing and joint curves."""

from dataclasses import replace

import numpy as np

from homodyn.analysis import RecordedMotion
from homodyn.analysis.plan_comparison import PlanComparison
from homodyn.motion import motion_from_poses


def test_a_turned_and_shifted_copy_of_a_plan_has_no_difference(step_plan):
    motion, angle = step_plan.motion, 0.8
    q = np.array(motion.q)
    c, s = np.cos(angle), np.sin(angle)
    q[:, :2] = q[:, :2] @ np.array([[c, -s], [s, c]]).T + [3.0, -2.0]
    q[:, 3] += angle  # the first rotation of the root is about the vertical
    copy = motion_from_poses(motion.model, 2.0 * motion.time, q)
    comparison = PlanComparison(step_plan, RecordedMotion("copy", copy))
    assert comparison.recorded_duration == 2 * comparison.plan.duration or np.isclose(
        comparison.recorded_duration, 2 * float(motion.time[-1])
    )
    assert abs(comparison.turn + angle) < 1e-6
    assert comparison.com_distance < 1e-6
    assert len(comparison.joint_curves) > 10
    assert max(curve.rms for curve in comparison.joint_curves) < 1e-9
    assert len(comparison.planned_phases) == 3
    feet = [phase.supports for phase in comparison.recorded_phases]
    assert any("right" in name for name in feet)


def test_other_motions_have_the_difference_that_they_have(step_plan):
    motion = step_plan.motion
    q = np.array(motion.q)
    knee = motion.model.coordinate_names.index("right_knee_flexion")
    q[:, knee] += np.deg2rad(5.0)
    other = replace(motion, q=q)
    comparison = PlanComparison(step_plan, RecordedMotion("other", other))
    rms = {curve.title: curve.rms for curve in comparison.joint_curves}
    assert abs(rms["Right knee flexion"] - 5.0) < 1e-9
    assert abs(rms["Left knee flexion"]) < 1e-9
    assert 0 < comparison.com_distance < 0.05
