"""Points on the surfaces of obstacles, to draw them."""

from __future__ import annotations

import numpy as np

from homodyn.motion.obstacles import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    HeightField,
    MeshObstacle,
    Obstacle,
    RingObstacle,
    SphereObstacle,
)

CIRCLE_POINTS = 32
"""Points on a circle."""


def surface_points(obstacle: Obstacle) -> np.ndarray:
    """Points on the surface of an obstacle, to draw it: their convex hull is its outline.

    Args:
        obstacle: The obstacle.

    Returns:
        (points, 3), m, world; the nodes of a height field, none for a plane, which has no end.
    """
    angle = 2 * np.pi * np.arange(CIRCLE_POINTS) / CIRCLE_POINTS
    circle = np.c_[np.cos(angle), np.sin(angle), np.zeros(CIRCLE_POINTS)]
    rings = [circle * np.cos(a) + [0, 0, np.sin(a)] for a in np.linspace(-np.pi / 2, np.pi / 2, 9)]
    ball = np.concatenate(rings)
    match obstacle:
        case BoxObstacle():
            return obstacle.corners
        case SphereObstacle():
            return obstacle.to_world(obstacle.radius * ball)
        case CylinderObstacle():
            end = np.array([0, 0, obstacle.length / 2])
            rim = obstacle.radius * circle
            return obstacle.to_world(np.concatenate([rim - end, rim + end]))
        case CapsuleObstacle():
            caps = [end + obstacle.radius * ball for end in obstacle.ends]
            return np.concatenate(caps)
        case RingObstacle():
            height = np.array([0, 0, obstacle.tube_radius])
            rim = (obstacle.radius + obstacle.tube_radius) * circle
            line = obstacle.radius * circle
            return obstacle.to_world(np.concatenate([rim, line - height, line + height]))
        case MeshObstacle():
            return obstacle.to_world(obstacle.mesh.vertices)
        case HeightField():
            return np.array(obstacle.nodes)
        case _:
            return np.zeros((0, 3))
