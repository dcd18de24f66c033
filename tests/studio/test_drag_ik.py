"""Inverse kinematics of dragging."""

import numpy as np

from homodyn import catalog
from homodyn.model.configuration import within_limits
from homodyn.studio.drag_ik import DragTarget, frame_placement, solve_drag_pose
from homodyn.studio.pose_editing import (
    random_pose,
)


def test_a_reachable_target_is_reached():
    model = catalog.heiman()
    rng = np.random.default_rng(4)
    for _ in range(5):
        start = 0.3 * random_pose(model, model.neutral(), rng)
        goal = 0.4 * random_pose(model, model.neutral(), rng)
        target, _ = frame_placement(model, goal, "HandRight")
        q = solve_drag_pose(model, start, DragTarget("HandRight"), target)
        reached, _ = frame_placement(model, q, "HandRight")
        assert np.linalg.norm(reached - target) < 2e-3
        assert within_limits(model, q, tolerance=1e-9)
        np.testing.assert_array_equal(q[:6], start[:6])


def test_an_unreachable_target_is_approached_within_the_limits():
    model = catalog.heiman()
    start = model.neutral()
    far = np.array([5.0, 0.0, 1.0])
    before, _ = frame_placement(model, start, "HandLeft")
    q = solve_drag_pose(model, start, DragTarget("HandLeft"), far)
    after, _ = frame_placement(model, q, "HandLeft")
    assert np.linalg.norm(after - far) < np.linalg.norm(before - far) - 0.2
    assert within_limits(model, q, tolerance=1e-9)


def test_a_free_root_moves_the_whole_body():
    model = catalog.heiman()
    start = model.neutral()
    place, turn = frame_placement(model, start, "FootLeft")
    there = place + np.array([1.0, 0.5, 0.2])
    q = solve_drag_pose(
        model, start, DragTarget("FootLeft", with_rotation=True), there, turn, root=True
    )
    reached, turned = frame_placement(model, q, "FootLeft")
    np.testing.assert_allclose(reached, there, atol=2e-3)
    np.testing.assert_allclose(turned, turn, atol=2e-2)
