"""Obstacles of every kind that simulations support, and their distances as numbers."""

from functools import partial

import numpy as np
from scipy.optimize import minimize

import homodyn as hd
from homodyn.motion import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    HeightField,
    PlaneObstacle,
    SphereObstacle,
)
from homodyn.simulate.geometry import signed_distance


def random_rotation(seed):
    """A rotation matrix, (3, 3)."""
    matrix = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return matrix * np.sign(np.linalg.det(matrix))


POSE = {"position": (0.1, 0.0, -0.2), "orientation": random_rotation(3)}
CONVEX = {
    "plane": PlaneObstacle((0.2, -0.3, 1.0), 0.1),
    "box": BoxObstacle((0.6, 0.4, 0.8), **POSE),
    "sphere": SphereObstacle(0.3, position=(0.1, 0.0, -0.2)),
    "capsule": CapsuleObstacle(0.15, 0.5, **POSE),
    "cylinder": CylinderObstacle(0.25, 0.5, **POSE),
}
OBSTACLES = CONVEX | {
    "field": HeightField(
        0.05 * np.random.default_rng(1).normal(size=(5, 6)), (0.4, 0.3), (-0.8, -0.7)
    )
}


def distance_and_normal(obstacle, points):
    """Signed distances (...,) and normals (..., 3) of points (..., 3), by a kernel."""

    def evaluate(x):
        distance, normal = signed_distance(obstacle, x)
        return {"distance": distance, "normal": normal}

    result = hd.symbolic.kernel(evaluate, x=3)(points)
    return result["distance"], result["normal"]


def support_function(obstacle, n):
    """Maximum of n . x over a convex obstacle, for unit vectors n (..., 3)."""
    if isinstance(obstacle, PlaneObstacle):
        return np.where(n @ obstacle.normal > 1 - 1e-12, obstacle.height, np.inf)
    local = n @ obstacle.orientation
    center = n @ obstacle.position
    match obstacle:
        case BoxObstacle():
            return center + np.abs(local) @ (np.asarray(obstacle.size) / 2)
        case SphereObstacle():
            return center + obstacle.radius
        case CapsuleObstacle():
            return center + obstacle.radius + np.abs(local[..., 2]) * obstacle.length / 2
        case CylinderObstacle():
            across = np.linalg.norm(local[..., :2], axis=-1)
            return center + obstacle.radius * across + np.abs(local[..., 2]) * obstacle.length / 2
    raise AssertionError(obstacle)


def signed_distance_by_search(obstacle, point):
    """Signed distance of a point from a convex obstacle: max over unit n of n . x - h(n).

    h is the support function. The formula holds outside and inside (there it is the distance of the
    nearest supporting plane, negative).
    """
    if isinstance(obstacle, PlaneObstacle):
        return obstacle.normal @ point - obstacle.height

    def negative(obstacle, point, angles):
        polar, azimuth = angles
        n = np.array(
            [np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)]
        )
        return support_function(obstacle, n) - n @ point

    polar, azimuth = np.meshgrid(np.linspace(0.01, 3.13, 40), np.linspace(0, 2 * np.pi, 80))
    grid = np.stack(
        [np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)], axis=-1
    )
    values = support_function(obstacle, grid) - grid @ point
    best = np.argsort(values, axis=None)[:3]
    found = [
        minimize(
            partial(negative, obstacle, point),
            (polar.flat[k], azimuth.flat[k]),
            method="Nelder-Mead",
            options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 2000},
        ).fun
        for k in best
    ]
    return -min(found)
