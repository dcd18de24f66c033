"""Nearest points of segments: against dense sampling and the geometry of each solid."""

import numpy as np
import pytest

from homodyn.control.collision.segment_distance import (
    TURN_SLOPE,
    guarded_of_segments,
    guarded_on_segments,
    nearest_on_segments,
)
from homodyn.errors import ModelError
from homodyn.motion.obstacles import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    HeightField,
    Obstacle,
    PlaneObstacle,
    RingObstacle,
    SphereObstacle,
)

TURN = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
POSE = {"position": (0.1, -0.2, 0.3), "orientation": TURN}
SOLIDS: list[Obstacle] = [
    PlaneObstacle(normal=(0.3, 0.2, 1.0), height=0.1),
    BoxObstacle((0.4, 0.6, 0.2), **POSE),
    SphereObstacle(0.3, **POSE),
    CylinderObstacle(0.2, 0.5, **POSE),
    CapsuleObstacle(0.1, 0.5, **POSE),
    RingObstacle(0.3, 0.05, **POSE),
]


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda solid: solid.kind)
def test_the_nearest_point_is_that_of_dense_samples(solid: Obstacle) -> None:
    rng = np.random.default_rng(1)
    a, b = 0.6 * rng.normal(size=(2, 40, 3))
    share, distance, normal = nearest_on_segments(solid, a, b)
    samples = a[:, None] + np.linspace(0, 1, 401)[:, None] * (b - a)[:, None]
    sampled = nearest_on_segments(solid, samples, samples)[1].min(axis=1)
    assert (distance <= sampled + 1e-9).all()
    np.testing.assert_allclose(distance, sampled, atol=3e-3)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-9)
    assert ((share >= 0) & (share <= 1)).all()


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda solid: solid.kind)
def test_normals_are_gradients_of_the_distance(solid: Obstacle) -> None:
    """V28 for all solids: the gradient equals differences."""
    rng = np.random.default_rng(2)
    p = np.array(getattr(solid, "position", (0, 0, 0))) + 0.6 * rng.normal(size=(60, 3))
    _, distance, normal = nearest_on_segments(solid, p, p)
    h = 1e-6
    for axis in np.eye(3):
        more = nearest_on_segments(solid, p + h * axis, p + h * axis)[1]
        less = nearest_on_segments(solid, p - h * axis, p - h * axis)[1]
        smooth = np.abs(more + less - 2 * distance) < 1e-10
        assert smooth.sum() > 50
        np.testing.assert_allclose(
            ((more - less) / (2 * h))[smooth], (normal @ axis)[smooth], atol=1e-6
        )


def test_distances_have_their_closed_form() -> None:
    sphere = SphereObstacle(0.5, position=(1.0, 0.0, 0.0))
    start, end = np.array([-1.0, 2.0, 0.0]), np.array([3.0, 2.0, 0.0])
    share, distance, normal = nearest_on_segments(sphere, start, end)
    assert share == pytest.approx(0.5)
    assert distance == pytest.approx(1.5)
    np.testing.assert_allclose(normal, [0, 1, 0], atol=1e-8)
    ring = RingObstacle(1.0, 0.1)
    through = nearest_on_segments(ring, np.array([0.2, 0, -2.0]), np.array([0.2, 0, 2.0]))
    assert through[1] == pytest.approx(0.7)


def test_pairs_of_segments_have_the_distance_of_dense_samples() -> None:
    rng = np.random.default_rng(3)
    a, b, c, d = rng.normal(size=(4, 30, 3))
    d[0] = c[0] + (b[0] - a[0])
    s, t, distance, normal = (part[:, 0] for part in guarded_of_segments(a, b, c, d))
    shares = np.linspace(0, 1, 201)[:, None]
    first = a[:, None] + shares * (b - a)[:, None]
    second = c[:, None] + shares * (d - c)[:, None]
    gaps = np.linalg.norm(first[:, :, None] - second[:, None], axis=-1)
    sampled = gaps.min(axis=(1, 2))
    assert (distance <= sampled + 1e-12).all()
    np.testing.assert_allclose(distance, sampled, atol=0.01)
    gap = (a + s[:, None] * (b - a)) - (c + t[:, None] * (d - c))
    np.testing.assert_allclose(gap, distance[:, None] * normal, atol=1e-12)


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda solid: solid.kind)
def test_side_points_are_the_closest_after_a_turn(solid: Obstacle) -> None:
    """On each side, no sample is closer after a turn about the nearest point."""
    rng = np.random.default_rng(4)
    a, b = 0.6 * rng.normal(size=(2, 60, 3))
    share, distance, _ = guarded_on_segments(solid, a, b)
    nearest = nearest_on_segments(solid, a, b)
    np.testing.assert_allclose(share[:, 0], nearest[0], atol=1e-9)
    assert (distance >= distance[:, :1] - 1e-12).all()
    shares, length = np.linspace(0, 1, 401), np.linalg.norm(b - a, axis=1)[:, None]
    places = a[:, None] + shares[:, None] * (b - a)[:, None]
    beyond = shares - share[:, :1]
    values = nearest_on_segments(solid, places, places)[1]
    outside = distance[:, 0] > 0
    assert outside.sum() > 10
    for side, sign in ((1, -1), (2, 1)):
        place = a + share[:, side, None] * (b - a)
        own = nearest_on_segments(solid, place, place)[1]
        own = own - TURN_SLOPE * length[:, 0] * np.abs(share[:, side] - share[:, 0])
        turned = np.where(
            sign * beyond >= 0, values - TURN_SLOPE * length * np.abs(beyond), np.inf
        ).min(axis=1)
        assert (own <= turned + 1e-6)[outside].all()


def test_side_points_of_a_segment_along_a_face_are_where_the_face_ends() -> None:
    box = BoxObstacle((1.0, 0.2, 0.2))
    start, end = np.array([-0.4, 0.0, 0.2]), np.array([2.0, 0.0, 0.2])
    share, distance, normal = guarded_on_segments(box, start, end)
    places = start[0] + share * (end[0] - start[0])
    assert places[1] == pytest.approx(-0.4, abs=1e-6)
    assert places[2] == pytest.approx(0.5 + 0.1 * np.tan(np.arcsin(TURN_SLOPE)), abs=1e-6)
    np.testing.assert_allclose(distance, 0.1, atol=1e-8)
    assert normal[2] @ [1, 0, 0] == pytest.approx(TURN_SLOPE, abs=1e-6)


def test_solids_without_distances_are_refused() -> None:
    field = HeightField([[0.0, 0.0], [0.0, 0.1]], name="hill")
    with pytest.raises(ModelError, match=r"height field 'hill'.*plane, box"):
        nearest_on_segments(field, np.zeros(3), np.ones(3))
