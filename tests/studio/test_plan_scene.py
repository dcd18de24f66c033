"""The scene of a plan: what can be dragged, where it goes, and its triangles."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.plan.collision_pairs import named_obstacles
from homodyn.studio.plan_scene import (
    ball_mesh,
    item_position,
    movable_names,
    obstacle_mesh,
    support_mesh,
    with_item_at,
)


@pytest.fixture(scope="module")
def car():
    return named_obstacles(hd.plan.load_case("car"))


def test_supports_and_obstacles_move_and_planes_stay(car):
    names = movable_names(car)
    assert "ground" not in names
    assert {"sill", "steering wheel", "right hand on the wheel", "left foot outside"} <= set(names)
    for name in ("sill", "right hand on the wheel", "left foot outside"):
        place = item_position(car, name) + np.array([0.1, -0.2, 0.05])
        moved = with_item_at(car, name, place)
        np.testing.assert_allclose(item_position(moved, name), place, atol=1e-12)
        assert moved.path is None
        others = [other for other in names if other != name]
        for other in others:
            np.testing.assert_array_equal(item_position(moved, other), item_position(car, other))


def test_meshes_lie_on_the_surfaces(car):
    by_name = {each.name: each for each in car.obstacles}
    assert obstacle_mesh(by_name["ground"]) is None
    points, faces = obstacle_mesh(by_name["seat pan"])
    assert len(points) == 8
    assert faces.shape[1] == 3
    ring = by_name["steering wheel"]
    points, faces = obstacle_mesh(ring)
    local = (points - np.asarray(ring.position)) @ np.asarray(ring.orientation)
    tube = np.hypot(np.hypot(local[:, 0], local[:, 1]) - ring.radius, local[:, 2])
    np.testing.assert_allclose(tube, ring.tube_radius, atol=1e-12)
    assert faces.max() == len(points) - 1
    patch = car.supports["left foot outside"]
    points, _ = support_mesh(patch)
    np.testing.assert_allclose(points[:4], patch.corners)
    points, _ = ball_mesh(np.array([1.0, 2.0, 3.0]), 0.1)
    np.testing.assert_allclose(np.linalg.norm(points - [1, 2, 3], axis=1), 0.1)
