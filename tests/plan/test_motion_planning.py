"""The motion of a step over a bar: targets, distances and rates, and what stops other motions."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.motion import BoxObstacle
from homodyn.plan import FlightMethod, MotionPlanFailure, MotionPlanOptions
from homodyn.plan.collision_pairs import obstacle_distances


def test_supports_and_center_of_mass_are_kept_at_every_frame(step_plan):
    plan = step_plan
    q, time = plan.motion.q, plan.motion.time
    com = hd.dynamics.center_of_mass(plan.model, q)
    assert np.linalg.norm(com - plan.com.spline.at(time), axis=1).max() < 1.001e-3
    left = hd.dynamics.position(plan.model, q, "left_foot")
    assert np.linalg.norm(left - left[0], axis=1).max() < 2e-3
    on_ground = time <= plan.instants[1]
    right = hd.dynamics.position(plan.model, q, "right_foot")
    assert np.ptp(right[on_ground], axis=0).max() < 2e-3
    np.testing.assert_allclose(right[-1] - right[0], [0.45, 0.0, 0.0], atol=2e-3)
    assert right[:, 2].max() > right[0, 2] + 0.04


def test_nothing_hits_the_bar(step_plan):
    plan = step_plan
    bar = [each.name for each in plan.scene.obstacles].index("bar")
    distance = obstacle_distances(plan.model, plan.motion.q, plan.scene)[:, :, bar]
    assert distance.min() > 0.009
    assert plan.clearance.min() <= distance.min() + 1e-9


def test_motion_is_smooth_and_in_balance(step_plan):
    plan = step_plan
    assert str(plan.motion.source) == "planned"
    assert np.abs(plan.motion.v).max() < 15.0
    assert plan.flights[0].body == "right_foot"
    assert [key.solved for key in plan.keys] == [True] * 4
    assert plan.balance.wrench.shape == plan.motion.time.shape
    assert plan.balance.point_mass.wrench.min() > 0
    assert "least clearance" in plan.sentence


def test_flight_through_a_wall_is_refused_with_its_name(step_file):
    scene = hd.motion.load_scene(step_file)
    wall = BoxObstacle((0.04, 4.0, 1.2), position=(0.24, 0.0, 0.6), name="wall")
    blocked = replace(scene, obstacles=(wall,))
    with pytest.raises(MotionPlanFailure, match=r"wall|right_foot") as failure:
        hd.plan.motion(blocked, options=MotionPlanOptions(flight=FlightMethod.ARC))
    assert failure.value.phase in ("1", "2", "3")
    assert "mm" in str(failure.value)


def test_scene_without_phases_is_refused():
    with pytest.raises(hd.ModelError, match="has no phases"):
        hd.plan.motion(hd.motion.Scene("empty"))
