"""Wrapping over a sphere: an arc in the plane of both ends and the center."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import casadi as ca

from homodyn.muscle.geometry.circle import CircleTangents, angle_between, is_on_side
from homodyn.muscle.geometry.selects import both, either, norm, select
from homodyn.muscle.geometry.surface_contact import (
    MANDATORY_CONTACT,
    NO_CONTACT,
    POSSIBLE_CONTACT,
    SurfaceContact,
)
from homodyn.spatial import Array, reuse_graph


@lru_cache(maxsize=16)
def sphere_wrap(side: tuple[int, int] | None) -> Callable[..., Array]:
    """The function that wraps a segment over a sphere.

    The segment wraps if it crosses the sphere. It takes the shorter way, but for a side that a path
    must wrap around: if one of its ends is not on that side, the way that leaves its tangents
    towards that side.

    Args:
        side: Axis (0, 1 or 2) and sign of the side that a path wraps around; None: any side.

    Returns:
        A function of both ends (3,), m, and of (radius,), m; its value is a column of
        `SurfaceContact`.
    """

    @reuse_graph
    def wrap(p: Array, r: Array, size: Array) -> Array:
        radius = size[0]
        first = p / norm(p)
        rest = r - first * ca.dot(first, r)
        second = rest / norm(rest)
        a = ca.vertcat(norm(p), 0)
        b = ca.vertcat(ca.dot(first, r), norm(rest))
        tangents = CircleTangents(a, b, radius)
        near, far = (
            tuple(
                first * touch[0] + second * touch[1]
                for touch in (tangents.touch_a(sense), tangents.touch_b(sense))
            )
            for sense in (1.0, -1.0)
        )
        angle = angle_between(tangents.touch_a(1.0), tangents.touch_b(1.0))
        status = select(_crosses(p, r, radius), POSSIBLE_CONTACT, NO_CONTACT)
        start, end = near
        if side is not None:
            axis, sign = side
            sides = [is_on_side(point[axis], sign) for point in (p, r)]
            leaves = far[0] + far[1] - p - r
            is_far = both(ca.logic_not(both(*sides)), sign * leaves[axis] >= 0)
            start, end = (select(is_far, y, x) for x, y in zip(near, far, strict=True))
            other = angle_between(tangents.touch_a(-1.0), tangents.touch_b(-1.0))
            angle = select(is_far, other, angle)
            tends_back = both(is_far, ca.dot(start + end, start + end - p - r) < 0)
            angle = select(tends_back, 2 * ca.pi - angle, angle)
            status = select(both(either(*sides), status != NO_CONTACT), MANDATORY_CONTACT, status)
        return SurfaceContact(status, start, end, radius * angle).to_column()

    return wrap


def _crosses(p: Array, r: Array, radius: Array) -> Array:
    step = r - p
    nearest = -ca.dot(p, step) / ca.dot(step, step)
    point = p + nearest * step
    square = radius * radius
    is_outside = both(ca.dot(p, p) >= square, ca.dot(r, r) >= square)
    is_between = both(nearest > 0, nearest < 1)
    return both(both(is_outside, is_between), ca.dot(point, point) < square)
