"""Distances to several obstacles at once, against those to each of them."""

import numpy as np

from homodyn.control.collision.obstacle_distance import guarded_on_pairs, nearest_on_obstacles
from homodyn.control.collision.segment_distance import guarded_on_segments, nearest_on_segments
from homodyn.motion import (
    BoxObstacle,
    CapsuleObstacle,
    PlaneObstacle,
    RingObstacle,
    SphereObstacle,
)
from homodyn.spatial import quaternion_rotation

TILT = np.asarray(quaternion_rotation(np.array([0.9, 0.3, -0.2, 0.25]) / np.sqrt(1.0025))).T
OBSTACLES = (
    BoxObstacle((0.3, 0.2, 0.5), position=(0.5, 0.1, 0.3), orientation=TILT),
    SphereObstacle(0.2, position=(-0.4, 0.2, 0.5)),
    BoxObstacle((1.0, 0.1, 0.2), position=(0.0, -0.6, 0.4)),
    PlaneObstacle((0.0, 0.6, 0.8), -0.2),
    RingObstacle(0.3, 0.02, position=(0.2, 0.3, 0.9), orientation=TILT),
    CapsuleObstacle(0.05, 0.4, position=(0.1, -0.2, 1.1), orientation=TILT),
)


def test_distances_are_those_of_each_obstacle():
    rng = np.random.default_rng(3)
    start, end = rng.normal(size=(2, 4, 5, 3))
    together = nearest_on_obstacles(OBSTACLES, start, end)
    for k, obstacle in enumerate(OBSTACLES):
        each = nearest_on_segments(obstacle, start, end)
        np.testing.assert_allclose(together[0][..., k], each[0], rtol=0, atol=1e-9)
        np.testing.assert_allclose(together[1][..., k], each[1], rtol=0, atol=1e-9)
        np.testing.assert_allclose(together[2][..., k, :], each[2], rtol=0, atol=1e-9)


def test_guarded_points_of_pairs_are_those_of_each_obstacle():
    rng = np.random.default_rng(4)
    start, end = rng.normal(size=(2, 40, 3))
    index = rng.integers(len(OBSTACLES), size=40)
    together = guarded_on_pairs(OBSTACLES, index, start, end)
    for pair, k in enumerate(index):
        each = guarded_on_segments(OBSTACLES[k], start[pair], end[pair])
        for found, expected in zip(together, each, strict=True):
            np.testing.assert_allclose(found[pair], expected, rtol=0, atol=1e-9)
