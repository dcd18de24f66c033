"""The nearest points of a segment and an obstacle, for many segments at once.

The distance of a point to a convex solid is convex, so along a segment its slope changes sign once;
bisection finds where. Rings are not convex: bisection starts in the nearest of several parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

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
TURN_SLOPE = 0.2
"""Largest turn (rad) of a capsule in a step for which its guarded points are chosen."""
OBSTACLE_FRAME = "_frame of distances"
"""Attribute of obstacles in which their frame is kept."""
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
    kept: tuple[np.ndarray, np.ndarray, np.ndarray] | None = obstacle.__dict__.get(OBSTACLE_FRAME)
    if kept is None:
        kept = _compute_frame(obstacle)
        obstacle.__dict__[OBSTACLE_FRAME] = kept
    return kept


def _compute_frame(obstacle: Obstacle) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    share, distance, normal = nearest_kernel(type(obstacle).__name__)(a, b, sizes)
    return np.asarray(share), np.asarray(distance), np.asarray(normal @ axes.T)


def guarded_on_segments(
    obstacle: Obstacle, start: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nearest points of segments and, on both sides of them, those that a turn brings closer.

    The nearest point of a segment along a face jumps from end to end as the segment turns. On each
    side of it, the point with the least distance after a turn by `TURN_SLOPE` is where the distance
    rises by that slope: the end of a segment along a face, or the edge at which the face ends.

    Args:
        obstacle: The obstacle.
        start: (..., 3), m, world.
        end: (..., 3), m, world.

    Returns:
        Shares of the segments from start to end (..., 3), signed distances (..., 3), m, and outward
        normals of the obstacle (..., 3, 3), world; the nearest point comes first. Distances of the
        others are those of points of the obstacle to the line of the segment.

    Raises:
        ModelError: The kind of obstacle has no surface here.
    """
    origin, axes, sizes = obstacle_frame(obstacle)
    a, b = (start - origin) @ axes, (end - origin) @ axes
    share, distance, normal = guard_kernel(type(obstacle).__name__)(a, b, sizes)
    normal = np.asarray(normal).reshape(*np.shape(share), 3)
    return np.asarray(share), np.asarray(distance), np.asarray(normal @ axes.T)


@cache
def nearest_kernel(name: str) -> Kernel:
    """Shares, distances and normals of the nearest points, by the class name of an obstacle."""
    kind = next(kind for kind in SURFACES if kind.__name__ == name)

    def nearest(a: ca.SX, b: ca.SX, sizes: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        segment = _segment_at(kind, a, b, sizes)
        share = segment.nearest_share()
        return share, *segment.at(share)

    return kernel(nearest, a=3, b=3, sizes=3, name=f"distance of capsules to a {kind.kind}")


@cache
def guard_kernel(name: str) -> Kernel:
    """Shares, distances and normals of guarded points, by the class name of an obstacle."""
    kind = next(kind for kind in SURFACES if kind.__name__ == name)

    def guard(a: ca.SX, b: ca.SX, sizes: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        segment = _segment_at(kind, a, b, sizes)
        places = segment.guarded_places(apart=kind is not PlaneObstacle)
        shares, distances, normals = (ca.vertcat(*part) for part in zip(*places, strict=True))
        return shares, distances, normals

    return kernel(guard, a=3, b=3, sizes=3, name=f"guarded points of capsules at a {kind.kind}")


def _segment_at(kind: type[Obstacle], a: Array, b: Array, sizes: Array) -> _Segment:
    def surface(p: Array) -> tuple[Array, Array]:
        return SURFACES[kind](p, sizes)

    return _Segment(a, b, surface, kind is not RingObstacle, kind is SphereObstacle)


@dataclass(frozen=True, eq=False)
class _Segment:
    """A segment from a to b, over symbols, near a surface."""

    a: Array
    b: Array
    surface: Callable[[Array], tuple[Array, Array]]
    convex: bool
    spherical: bool = False
    """Whether the surface is a sphere about the origin: shares then have a closed form."""

    def at(self, share: Any) -> tuple[Array, Array]:
        """Distance and normal at a share of the segment."""
        return self.surface(self.a + share * (self.b - self.a))

    @cached_property
    def samples(self) -> list[tuple[float, Array]]:
        """Shares and distances at the ends of the parts of the segment."""
        shares = [part / RING_PART_COUNT for part in range(RING_PART_COUNT + 1)]
        return [(share, self.at(share)[0]) for share in shares]

    def nearest_share(self) -> Array:
        """Share of the nearest point."""
        if self.convex:
            return self.share_of_slope(0.0, 0.0, 1.0)
        low, high, sampled = self._sampled_bracket(lambda share, value: value)
        share = self.share_of_slope(0.0, low, high)
        best = self.at(sampled)[0]
        return ca.if_else(self.at(share)[0] <= best, share, sampled)

    def share_of_slope(self, slope: Any, low: Any, high: Any) -> Array:
        """Share between two shares at which the distance begins to rise by more than a slope."""
        along = self.b - self.a
        first, last = ca.SX(low), ca.SX(high)
        if self.spherical:
            # The distance to the center is sqrt(h^2 + u^2) at u along the line from its foot.
            square = ca.fmax(ca.sumsqr(along), MIN_LENGTH_M**2)
            foot = -ca.dot(self.a, along) / square
            height = ca.norm_2(self.a + foot * along)
            beyond = slope / ca.sqrt(1 - ca.SX(slope) ** 2) * height / ca.sqrt(square)
            return ca.fmin(ca.fmax(foot + beyond, first), last)
        rise = slope * ca.norm_2(along)
        low, high = first, last
        for _ in range(BISECTION_COUNT):
            middle = (low + high) / 2
            rising = ca.dot(self.at(middle)[1], along) > rise
            low, high = ca.if_else(rising, low, middle), ca.if_else(rising, middle, high)
        inner = ca.if_else(low == first, first, (low + high) / 2)
        return ca.if_else(high == last, last, inner)

    def guarded_places(self, apart: bool) -> list[tuple[Array, Array, Array]]:
        """Shares, distances and normals at the nearest point and on both sides of it.

        The distances of the sides are those that the points of the surface have to the line of the
        segment, so that an edge keeps its distance as the segment turns about it.

        Args:
            apart: Whether the sides are only used while the axis is outside the surface: inside,
                normals can oppose each other.
        """
        middle = self.nearest_share()
        least, normal = self.at(middle)
        along = self.b - self.a
        square = ca.fmax(ca.sumsqr(along), MIN_LENGTH_M**2)
        places = [(middle, least, normal)]
        for sign in (-1, 1):
            share = self._side_share(middle, sign)
            if apart:
                share = ca.if_else(least > MIN_LENGTH_M, share, middle)
            distance, normal = self.at(share)
            lean = ca.fmin(ca.dot(normal, along) ** 2 / square, 1.0)
            places.append((share, ca.fmax(least, distance * ca.sqrt(1 - lean)), normal))
        return places

    def _side_share(self, middle: Array, sign: int) -> Array:
        low, high = (ca.SX(0.0), middle) if sign < 0 else (middle, ca.SX(1.0))
        if not self.convex:
            length = ca.norm_2(self.b - self.a)

            def turned(share: float, value: Array) -> Array:
                beyond = sign * (share - middle)
                return ca.if_else(beyond >= 0, value - TURN_SLOPE * length * beyond, np.inf)

            first, last, _ = self._sampled_bracket(turned)
            low, high = ca.fmin(ca.fmax(first, low), high), ca.fmax(ca.fmin(last, high), low)
        return self.share_of_slope(sign * TURN_SLOPE, low, high)

    def _sampled_bracket(
        self, measure: Callable[[float, Array], Array]
    ) -> tuple[Array, Array, Array]:
        """Shares around the sample with the least measure, and its share."""
        sampled, best = ca.SX(0.0), measure(*self.samples[0])
        for share, value in self.samples[1:]:
            measured = measure(share, value)
            closer = measured < best
            best = ca.if_else(closer, measured, best)
            sampled = ca.if_else(closer, share, sampled)
        part = 1 / RING_PART_COUNT
        return ca.fmax(sampled - part, 0.0), ca.fmin(sampled + part, 1.0), sampled


def guarded_of_segments(
    start: np.ndarray, end: np.ndarray, other_start: np.ndarray, other_end: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """As `guarded_on_segments`, between pairs of segments.

    Args:
        start: (..., 3), m.
        end: (..., 3), m.
        other_start: (..., 3), m.
        other_end: (..., 3), m.

    Returns:
        Shares of both segments (..., 3), distances (..., 3), m, and unit vectors (..., 3, 3) from
        the other segment to the first; the nearest point comes first.
    """
    parts = _pair_kernel()(start, end, other_start, other_end)
    share, other, distance, normal = (np.asarray(part) for part in parts)
    return share, other, distance, normal.reshape(*share.shape, 3)


@cache
def _pair_kernel() -> Kernel:
    def guard(a: ca.SX, b: ca.SX, c: ca.SX, d: ca.SX) -> tuple[ca.SX, ...]:
        along = d - c
        square = ca.fmax(ca.sumsqr(along), MIN_LENGTH_M**2)

        def other_share(p: Array) -> Array:
            return ca.fmin(ca.fmax(ca.dot(p - c, along) / square, 0.0), 1.0)

        def surface(p: Array) -> tuple[Array, Array]:
            gap = p - (c + other_share(p) * along)
            distance = ca.norm_2(gap)
            up = ca.SX([0.0, 0.0, 1.0])
            far = distance > MIN_LENGTH_M
            return distance, ca.if_else(far, gap / ca.fmax(distance, MIN_LENGTH_M), up)

        segment = _Segment(a, b, surface, True)
        shares, distances, normals = zip(*segment.guarded_places(apart=True), strict=True)
        others = [other_share(a + share * (b - a)) for share in shares]
        return tuple(ca.vertcat(*part) for part in (shares, others, distances, normals))

    return kernel(guard, a=3, b=3, c=3, d=3, name="guarded points of pairs of capsules")
