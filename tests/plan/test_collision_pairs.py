"""Pairs of solids: which keep clear, and of what their distances are made."""

import numpy as np

import homodyn as hd
from homodyn.motion import BoxObstacle, Scene
from homodyn.motion.supports import Grasp
from homodyn.plan.capsule_axes import capsule_axes
from homodyn.plan.collision_pairs import (
    CONTACT_TOLERANCE_M,
    closest_pairs,
    contact_margins,
    limb_pairs,
    named_obstacles,
    obstacle_distances,
    pair_distances,
)
from homodyn.plan.support_targets import support_bodies

MODEL = hd.catalog.manikin(1.75, 79.0)


def sampled_distance(points: np.ndarray, box: BoxObstacle) -> float:
    """Distance of points to a box along the axes of the world."""
    beyond = np.abs(points - np.asarray(box.position)) - np.asarray(box.size) / 2
    return float(np.linalg.norm(np.maximum(beyond, 0.0), axis=-1).min())


def test_distances_are_those_of_points_on_the_capsules():
    rng = np.random.default_rng(0)
    box = BoxObstacle((0.4, 0.3, 0.2), position=(0.9, -0.4, 0.6), name="box")
    scene = Scene("box", ground=None, obstacles=(box,))
    q = MODEL.neutral() + 0.2 * rng.normal(size=(5, MODEL.nq))
    found = obstacle_distances(MODEL, q, scene)[..., 0]
    axes, radius = capsule_axes(MODEL, q)
    share = np.linspace(0, 1, 401)[:, None]
    for pose in range(len(q)):
        for k in range(len(MODEL.capsules)):
            points = axes[pose, k, 0] + share * (axes[pose, k, 1] - axes[pose, k, 0])
            expected = sampled_distance(points, box) - radius[k]
            assert abs(found[pose, k] - expected) < 1e-4


def test_legs_and_arms_are_pairs_that_are_apart_in_the_neutral_pose():
    pairs = limb_pairs(MODEL)
    assert ("right_leg", "left_leg") in pairs
    assert ("right_hand", "pelvis") in pairs
    assert (pair_distances(MODEL, MODEL.neutral(), pairs) > 0.01).all()


def test_feet_may_touch_what_they_stand_on_and_nothing_else():
    scene = named_obstacles(hd.motion.load_scene("complex"))
    assert [each.name for each in scene.obstacles] == ["ground", "roof", "threshold", "platform"]
    bodies = support_bodies(MODEL, scene)
    uses = [(bodies["right_foot"], scene.supports["right 1"])]
    margins = contact_margins(scene, uses)
    assert margins == dict.fromkeys(
        (("right_foot", "platform"), ("right_toes", "platform")), -CONTACT_TOLERANCE_M
    )


def test_hand_may_reach_into_the_wheel_that_it_grasps():
    scene = named_obstacles(hd.plan.load_case("car"))
    bodies = support_bodies(MODEL, scene)
    grasp = scene.supports["right hand on the wheel"]
    assert isinstance(grasp, Grasp)
    margins = contact_margins(scene, [(bodies["right_hand"], grasp)])
    assert margins == {("right_hand", "steering wheel"): -np.inf}


def test_closest_pair_is_named_with_what_it_lacks():
    wall = BoxObstacle((0.1, 4.0, 4.0), position=(0.25, 0.0, 1.0), name="wall")
    scene = Scene("wall", ground=None, obstacles=(wall,))
    excess, pairs = closest_pairs(MODEL, MODEL.neutral()[None], scene, {}, 0.01)
    assert pairs[0].other == "wall"
    assert pairs[0].required == 0.01
    assert abs(excess[0] - (pairs[0].distance - 0.01)) < 1e-12
    assert abs(pairs[0].missing - max(0.0, -excess[0])) < 1e-12
