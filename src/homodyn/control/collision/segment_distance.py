"""The nearest points of a segment and an obstacle, for many segments at once.

The distance of a point to a convex solid is convex, so along a segment its slope changes sign once;
bisection finds where. Rings are not convex: bisection starts in the nearest of several parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.motion.obstacles import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    Obstacle,
    PlaneObstacle,
    PosedObstacle,
    RingObstacle,
    SphereObstacle,
)
from homodyn.spatial import Array, stack
from homodyn.symbolic import Kernel, kernel

BISECTION_COUNT = 32
"""Halvings of a segment: 2e-10 of its length."""
RING_PART_COUNT = 48
"""Parts of a segment in which the distance to a ring is compared."""
MIN_LENGTH_M = 1e-12
"""Length (m) below which a direction is undefined."""

Surface = Callable[[Array, Array], tuple[Array, Array]]
"""Signed distance and outward normal of a point (3,), in the axes of an obstacle, by its sizes."""


def _plane(p: Array, sizes: Array) -> tuple[Array, Array]:
    return p[2], ca.SX([0.0, 0.0, 1.0]) + 0 * p


def _sphere(p: Array, sizes: Array) -> tuple[Array, Array]:
    distance = ca.norm_2(p)
    return distance - sizes[0], _direction(p, distance)


def _box(p: Array, sizes: Array) -> tuple[Array, Array]:
    beyond = ca.fabs(p) - sizes / 2
    sign = ca.if_else(p < 0, -1.0, 1.0)
    outside = ca.fmax(beyond, 0.0)
    distance = ca.norm_2(outside)
    nearest = ca.mmax(beyond)
    inside = [
        ca.logic_and(beyond[0] >= beyond[1], beyond[0] >= beyond[2]),
        ca.logic_and(beyond[1] > beyond[0], beyond[1] >= beyond[2]),
    ]
    face = stack(inside[0], inside[1], 1 - inside[0] - inside[1]) * sign
    out = distance > MIN_LENGTH_M
    normal = ca.if_else(out, sign * outside / ca.fmax(distance, MIN_LENGTH_M), face)
    return ca.if_else(out, distance, nearest), normal


def _cylinder(p: Array, sizes: Array) -> tuple[Array, Array]:
    radial = ca.norm_2(p[:2])
    around = _direction(p[:2], radial)
    side = radial - sizes[0]
    end = ca.fabs(p[2]) - sizes[1] / 2
    up = ca.if_else(p[2] < 0, -1.0, 1.0)
    out_side, out_end = ca.fmax(side, 0.0), ca.fmax(end, 0.0)
    distance = ca.sqrt(out_side**2 + out_end**2)
    out = distance > MIN_LENGTH_M
    scale = ca.fmax(distance, MIN_LENGTH_M)
    outside = stack(around * (out_side / scale), up * (out_end / scale))
    inside = ca.if_else(side > end, stack(around, 0.0), stack(0.0, 0.0, up))
    return ca.if_else(out, distance, ca.fmax(side, end)), ca.if_else(out, outside, inside)


def _capsule(p: Array, sizes: Array) -> tuple[Array, Array]:
    half = sizes[1] / 2
    axis = ca.fmin(ca.fmax(p[2], -half), half)
    return _sphere(stack(p[0], p[1], p[2] - axis), sizes)


def _ring(p: Array, sizes: Array) -> tuple[Array, Array]:
    radial = ca.norm_2(p[:2])
    around = _direction(p[:2], radial)
    gap = stack(radial - sizes[0], p[2])
    distance = ca.norm_2(gap)
    direction = _direction(gap, distance)
    return distance - sizes[1], stack(around * direction[0], direction[1])


def _direction(p: Array, length: Array) -> Array:
    """Unit vector; the first axis where the length is zero."""
    first = ca.SX.zeros(p.shape[0])
    first[0] = 1.0
    return ca.if_else(length > MIN_LENGTH_M, p / ca.fmax(length, MIN_LENGTH_M), first)


SURFACES: dict[type[Obstacle], Surface] = {
    PlaneObstacle: _plane,
    BoxObstacle: _box,
    SphereObstacle: _sphere,
    CylinderObstacle: _cylinder,
    CapsuleObstacle: _capsule,
    RingObstacle: _ring,
}
"""Surfaces of the obstacles that capsules can avoid."""


def obstacle_frame(obstacle: Obstacle) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Origin (3,), axes as columns (3, 3) and sizes (3,) of an obstacle for its surface.

    Args:
        obstacle: The obstacle.

    Raises:
        ModelError: Its kind has no surface here.
    """
    if type(obstacle) not in SURFACES:
        known = ", ".join(kind.kind for kind in SURFACES)
        raise ModelError(
            f"{obstacle.title}: distances of capsules are known for {known}; leave it out of the "
            "scene of this limit, or replace it by such solids"
        )
    sizes = np.zeros(3)
    if isinstance(obstacle, PlaneObstacle):
        normal = np.asarray(obstacle.normal)
        guess = np.eye(3)[np.abs(normal).argmin()]
        x = np.cross(guess, normal)
        x = x / np.linalg.norm(x)
        axes = np.array([x, np.cross(normal, x), normal]).T
        return normal * obstacle.height, axes, sizes
    assert isinstance(obstacle, PosedObstacle)
    if isinstance(obstacle, BoxObstacle):
        sizes = np.asarray(obstacle.size, dtype=float)
    elif isinstance(obstacle, SphereObstacle):
        sizes[0] = obstacle.radius
    elif isinstance(obstacle, RingObstacle):
        sizes[:2] = obstacle.radius, obstacle.tube_radius
    elif isinstance(obstacle, (CylinderObstacle, CapsuleObstacle)):
        sizes[:2] = obstacle.radius, obstacle.length
    return np.asarray(obstacle.position), np.asarray(obstacle.orientation), sizes


def nearest_on_segments(
    obstacle: Obstacle, start: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The points of segments that are nearest to an obstacle.

    Args:
        obstacle: The obstacle.
        start: (..., 3), m, world.
        end: (..., 3), m, world.

    Returns:
        Shares of the segments from start to end (...), signed distances (...), m, and outward
        normals of the obstacle (..., 3), world.

    Raises:
        ModelError: The kind of obstacle has no surface here.
    """
    origin, axes, sizes = obstacle_frame(obstacle)
    a, b = (start - origin) @ axes, (end - origin) @ axes
    share, distance, normal = _nearest_kernel(type(obstacle).__name__)(a, b, sizes)
    return np.asarray(share), np.asarray(distance), np.asarray(normal @ axes.T)


@cache
def _nearest_kernel(name: str) -> Kernel:
    kind = next(kind for kind in SURFACES if kind.__name__ == name)
    surface = SURFACES[kind]

    def nearest(a: ca.SX, b: ca.SX, sizes: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        along = b - a
        low, high, sampled = ca.SX(0.0), ca.SX(1.0), ca.SX(0.0)
        if kind is RingObstacle:
            best = surface(a, sizes)[0]
            for part in range(1, RING_PART_COUNT + 1):
                share = part / RING_PART_COUNT
                value = surface(a + share * along, sizes)[0]
                closer = value < best
                best, sampled = ca.if_else(closer, value, best), ca.if_else(closer, share, sampled)
            low = ca.fmax(sampled - 1 / RING_PART_COUNT, 0.0)
            high = ca.fmin(sampled + 1 / RING_PART_COUNT, 1.0)
        for _ in range(BISECTION_COUNT):
            middle = (low + high) / 2
            rising = ca.dot(surface(a + middle * along, sizes)[1], along) > 0
            low, high = ca.if_else(rising, low, middle), ca.if_else(rising, middle, high)
        share = (low + high) / 2
        if kind is RingObstacle:
            found = surface(a + share * along, sizes)[0]
            share = ca.if_else(found <= best, share, sampled)
        return share, *surface(a + share * along, sizes)

    return kernel(nearest, a=3, b=3, sizes=3, name=f"distance of capsules to a {kind.kind}")


def nearest_of_segments(
    start: np.ndarray, end: np.ndarray, other_start: np.ndarray, other_end: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The nearest points of pairs of segments (Ericson 2004, Real-Time Collision Detection, 5.1.9).

    Args:
        start: (..., 3), m.
        end: (..., 3), m.
        other_start: (..., 3), m.
        other_end: (..., 3), m.

    Returns:
        Shares of both segments (...), distances (...), m, and unit vectors (..., 3) from the other
        segment to the first.
    """
    d1, d2, r = end - start, other_end - other_start, start - other_start

    def dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray((x * y).sum(axis=-1))

    a, e, f = dot(d1, d1), dot(d2, d2), dot(d2, r)
    b, c = dot(d1, d2), dot(d1, r)
    tiny = MIN_LENGTH_M**2
    safe_a, safe_e = np.maximum(a, tiny), np.maximum(e, tiny)
    spread = a * e - b * b
    parallel = spread <= 1e-12 * safe_a * safe_e
    s = np.where(parallel, 0.0, np.clip((b * f - c * e) / np.where(parallel, 1, spread), 0, 1))
    t = (b * s + f) / safe_e
    s = np.where(t < 0, np.clip(-c / safe_a, 0, 1), s)
    s = np.where(t > 1, np.clip((b - c) / safe_a, 0, 1), s)
    t = np.clip(t, 0, 1)
    gap = (start + s[..., None] * d1) - (other_start + t[..., None] * d2)
    distance = np.sqrt(dot(gap, gap))
    up = np.zeros(3)
    up[2] = 1.0
    safe = np.maximum(distance, MIN_LENGTH_M)[..., None]
    normal = np.where(distance[..., None] > MIN_LENGTH_M, gap / safe, up)
    return s, t, distance, normal
