"""Signed distances and normals of obstacles, against an independent search."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.motion import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    HeightField,
    PlaneObstacle,
    RingObstacle,
    SphereObstacle,
)
from homodyn.simulate import ContactGeometry, level_ground
from homodyn.simulate.geometry import signed_distance
from support.obstacles import CONVEX, OBSTACLES, distance_and_normal, signed_distance_by_search


@pytest.mark.parametrize("name", CONVEX)
def test_distances_are_those_of_a_search_over_supporting_planes(name):
    obstacle = CONVEX[name]
    center = np.asarray(getattr(obstacle, "position", np.zeros(3)))
    points = np.random.default_rng(5).uniform(-0.7, 0.7, (24, 3))
    points = center + points * np.repeat([0.35, 1.0], 12)[:, None]
    distance, normal = distance_and_normal(obstacle, points)
    assert np.count_nonzero(distance < 0) > 2
    assert np.count_nonzero(distance > 0) > 6
    expected = [signed_distance_by_search(obstacle, point) for point in points]
    np.testing.assert_allclose(distance, expected, atol=1e-8)
    # The surface is at the distance against the normal.
    on_surface, _ = distance_and_normal(obstacle, points - distance[:, None] * normal)
    np.testing.assert_allclose(on_surface, 0, atol=1e-12)


@pytest.mark.parametrize("name", OBSTACLES)
def test_normals_are_the_gradients_of_distances(name):
    obstacle = OBSTACLES[name]
    points = np.random.default_rng(0).uniform(-0.6, 0.6, (200, 3))
    _, normal = distance_and_normal(obstacle, points)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-12)
    if name == "field":
        # Away from the surface the distance is correct to first order only: project onto it.
        height = distance_and_normal(obstacle, points * [1, 1, 0])
        points = points * [1, 1, 0] - np.outer(height[0] / height[1][:, 2], [0, 0, 1])
        _, normal = distance_and_normal(obstacle, points)
    step = 1e-6
    gradient = np.stack(
        [
            (
                distance_and_normal(obstacle, points + step * e)[0]
                - distance_and_normal(obstacle, points - step * e)[0]
            )
            / (2 * step)
            for e in np.eye(3)
        ],
        axis=1,
    )
    close = np.linalg.norm(gradient - normal, axis=1) < 1e-5
    assert close.mean() > 0.97  # gradients jump on the medial surfaces of boxes and cylinders


@pytest.mark.parametrize(
    ("obstacle", "direction", "surface"),
    [
        (BoxObstacle((0.4, 0.2, 0.6)), (1, 0, 0), 0.2),
        (BoxObstacle((0.4, 0.2, 0.6)), (0, 0, 1), 0.3),
        (SphereObstacle(0.3), (0, 1, 0), 0.3),
        (CylinderObstacle(0.3, 0.8), (0, 1, 0), 0.3),
        (CylinderObstacle(0.3, 0.8), (0, 0, -1), 0.4),
        (CapsuleObstacle(0.3, 0.8), (1, 0, 0), 0.3),
        (CapsuleObstacle(0.3, 0.8), (0, 0, 1), 0.7),
        (PlaneObstacle((0, 0, 2), 0.1), (0, 0, 1), 0.1),
    ],
)
def test_sizes_are_full_sizes(obstacle, direction, surface):
    distance, normal = distance_and_normal(obstacle, np.array(direction) * 1.5)
    assert distance == pytest.approx(1.5 - surface, abs=1e-14)
    np.testing.assert_allclose(normal, direction, atol=1e-14)


@pytest.mark.parametrize(
    "obstacle", [SphereObstacle(0.3), CapsuleObstacle(0.3, 0.8), CylinderObstacle(0.3, 0.8)]
)
def test_on_the_axis_the_normal_is_still_a_unit_vector(obstacle):
    distance, normal = distance_and_normal(obstacle, np.zeros(3))
    assert distance == pytest.approx(-0.3)
    assert np.linalg.norm(normal) == pytest.approx(1)


def test_a_height_field_passes_through_its_nodes_and_is_exact_on_slopes():
    field = OBSTACLES["field"]
    x = -0.8 + 0.4 * np.arange(5)
    y = -0.7 + 0.3 * np.arange(6)
    heights = np.array(field.heights)
    nodes = np.array([[x[i], y[j], heights[i, j]] for i in range(5) for j in range(6)])
    np.testing.assert_allclose(distance_and_normal(field, nodes)[0], 0, atol=1e-14)
    X, Y = np.meshgrid(np.arange(4.0), np.arange(4.0), indexing="ij")
    ramp = HeightField(0.3 * X - 0.1 * Y)
    plane = PlaneObstacle((-0.3, 0.1, 1.0))
    points = np.random.default_rng(2).uniform(0.1, 2.9, (40, 3))
    for got, expected in zip(
        distance_and_normal(ramp, points), distance_and_normal(plane, points), strict=True
    ):
        np.testing.assert_allclose(got, expected, atol=1e-12)


class Bowl:
    """The inside of a sphere of radius 1 m around (0, 0, 1)."""

    def signed_distance(self, x):
        arm = ca.SX([0.0, 0.0, 1.0]) - x
        length = ca.norm_2(arm)
        return 1.0 - length, arm / length


def test_a_user_defined_surface_is_accepted(ball):
    distance, normal = distance_and_normal(Bowl(), np.array([0.3, 0.0, 1.4]))
    assert distance == pytest.approx(0.5)
    np.testing.assert_allclose(normal, [-0.6, 0, -0.8], atol=1e-14)
    geometry = ContactGeometry(ball, ground=(Bowl(),))
    q = ball.neutral()
    q[:3] = [0.3, 0.0, 1.4]
    assert hd.simulate.gap_distances(geometry)(q)["distance"] == pytest.approx([0.4])


@pytest.mark.parametrize(
    ("obstacle", "name"),
    [
        (RingObstacle(0.2, 0.02, name="wheel"), "ring 'wheel'"),
        ("wall", "'wall'"),
    ],
)
def test_other_obstacles_are_refused_with_the_accepted_kinds(ball, obstacle, name):
    accepted = "the obstacles plane, box, sphere, cylinder, capsule, height_field, mesh"
    message = f"simulations cannot use {name}; accepted are {accepted}"
    with pytest.raises(hd.ModelError, match=message):
        ContactGeometry(ball, ground=(obstacle,))
    with pytest.raises(hd.ModelError, match=message):
        signed_distance(obstacle, ca.SX.zeros(3))


def test_level_ground_is_normal_to_gravity(ball):
    assert level_ground(ball, 0.5).height == 0.5
    tilted = ball.with_numbers({"gravity": np.array([0.0, -9.81, 0.0])})
    np.testing.assert_allclose(level_ground(tilted).normal, [0, 1, 0])
    weightless = ball.with_numbers({"gravity": np.zeros(3)})
    np.testing.assert_allclose(level_ground(weightless).normal, [0, 0, 1])
