"""Wrapping over a cylinder about the z axis, in closed form."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import casadi as ca

from homodyn.muscle.geometry.circle import (
    CircleTangents,
    angle_between,
    is_on_side,
    perpendicular,
    plane_cross,
    side_is_counterclockwise,
)
from homodyn.muscle.geometry.selects import both, either, negate, root, select
from homodyn.muscle.geometry.surface_contact import (
    MANDATORY_CONTACT,
    NO_CONTACT,
    POSSIBLE_CONTACT,
    SurfaceContact,
)
from homodyn.muscle.geometry.tangent_rule import GEODESIC
from homodyn.spatial import Array, reuse_graph

SHORTEST_SLID_ARC_M = 0.004
"""Arcs from this length on are slid to tangency where a path has several wrap objects."""


@lru_cache(maxsize=64)
def cylinder_wrap(side: tuple[int, int] | None, rule: str, alone: bool) -> Callable[..., Array]:
    """The function that wraps a segment over a cylinder.

    Args:
        side: Axis (0, 1 or 2) and sign of the side that a path wraps around; None: any side.
        rule: A rule of ``TANGENT_RULES``.
        alone: Whether the path has no other wrap object; OpenSim then places tangent points by a
            plane, else it slides them to tangency.

    Returns:
        A function of both ends (3,), m, and of (radius, length), m; its value is a column of
        `SurfaceContact`.
    """

    @reuse_graph
    def wrap(p: Array, r: Array, size: Array) -> Array:
        radius, half = size[0], size[1] / 2
        tangents = CircleTangents(p[:2], r[:2], radius)
        status = _status(p, r, radius, side)
        if side is None:
            is_ccw = plane_cross(tangents.a, tangents.b) > 0
        else:
            is_ccw = _constrained_sense(tangents, p, r, *side)
        sense = 2.0 * is_ccw - 1.0
        start, end = tangents.touch_a(sense), tangents.touch_b(sense)
        angle = angle_between(start, end)
        if side is not None:
            tends_back = ca.dot(start + end, start - p[:2] + end - r[:2]) < 0
            angle = select(tends_back, 2 * ca.pi - angle, angle)
        arc = radius * angle
        start_z, end_z = _geodesic_heights(tangents, p[2], r[2], arc)
        if rule != GEODESIC:
            plane = _plane_heights(tangents, p[2], r[2], start, end)
            if alone:
                start_z, end_z = plane
            else:
                rise = plane[1] - plane[0]
                is_short = arc * arc + rise * rise < SHORTEST_SLID_ARC_M**2
                start_z = select(is_short, plane[0], start_z)
                end_z = select(is_short, plane[1], end_z)
        beyond = both(ca.fabs(start_z) > half, ca.fabs(end_z) > half)
        length = root(arc * arc + (end_z - start_z) ** 2)
        return SurfaceContact(
            select(beyond, NO_CONTACT, status),
            ca.vertcat(start, start_z),
            ca.vertcat(end, end_z),
            length,
        ).to_column()

    return wrap


def crossing_status(p: Array, r: Array, size: Array) -> Array:
    """Contact of a segment with a cylinder of no particular side, but for its ends.

    Args:
        p: One end, (3,), m.
        r: The other end, (3,), m.
        size: Radius and length, m.

    Returns:
        `MANDATORY_CONTACT` where the segment crosses the cylinder, else `NO_CONTACT`.
    """
    return _crossing_status(p, r, size)


@reuse_graph
def _crossing_status(p: Array, r: Array, size: Array) -> Array:
    return _status(p, r, size[0], None)


def _status(p: Array, r: Array, radius: Array, side: tuple[int, int] | None) -> Array:
    """Contact of a segment, but for the ends of the cylinder."""
    # The point of the line that is closest to the axis is p + (along / square) (r - p).
    a, step = p[:2], r[:2] - p[:2]
    along, square = -ca.dot(a, step), ca.dot(step, step)
    outside = ca.dot(a, a) - radius * radius
    crosses = both(both(along > 0, along < square), outside * square < along * along)
    is_outside = both(outside >= 0, ca.dot(r[:2], r[:2]) >= radius * radius)
    if side is None:
        touches = select(crosses, MANDATORY_CONTACT, NO_CONTACT)
    else:
        axis, sign = side
        first, second = is_on_side(p[axis], sign), is_on_side(r[axis], sign)
        nearest = square * p[axis] + along * (r[axis] - p[axis])
        leans = both(first != second, negate(is_on_side(nearest, sign)))
        otherwise = select(leans, POSSIBLE_CONTACT, NO_CONTACT)
        touches = select(
            either(first, second),
            select(crosses, MANDATORY_CONTACT, otherwise),
            POSSIBLE_CONTACT,
        )
    return select(is_outside, touches, NO_CONTACT)


def _constrained_sense(tangents: CircleTangents, p: Array, r: Array, axis: int, sign: int) -> Array:
    if axis == 2:
        a, b = is_on_side(p[2], sign), is_on_side(r[2], sign)
        return side_is_counterclockwise(tangents, (a, a, b, b))
    touches = (
        tangents.touch_a(1.0),
        tangents.touch_a(-1.0),
        tangents.touch_b(1.0),
        tangents.touch_b(-1.0),
    )
    a_ccw, a_cw, b_ccw, b_cw = (is_on_side(touch[axis], sign) for touch in touches)
    return side_is_counterclockwise(tangents, (a_ccw, a_cw, b_ccw, b_cw))


def _geodesic_heights(
    tangents: CircleTangents, p_z: Array, r_z: Array, arc: Array
) -> tuple[Array, Array]:
    """Heights of the tangent points of the shortest path: straight on the unrolled surface."""
    first, last = tangents.tangent_lengths
    slope = (r_z - p_z) / (first + arc + last)
    return p_z + slope * first, r_z - slope * last


def _plane_heights(
    tangents: CircleTangents, p_z: Array, r_z: Array, start: Array, end: Array
) -> tuple[Array, Array]:
    """Heights of the tangent points in the plane of both ends and the apex of the cylinder.

    The apex is on the bisector of the directions of both ends from the axis, at the height where
    the straight segment meets the bisector. A tangent point that would leave the range of heights
    between both ends remains at the height of its end.
    """
    (a_distance, a_inverse), (b_distance, b_inverse) = tangents.a_distance, tangents.b_distance
    rise = r_z - p_z
    middle_z = p_z + rise * a_distance / (a_distance + b_distance)
    across = perpendicular(tangents.a * a_inverse + tangents.b * b_inverse)
    slope = rise / ca.dot(across, tangents.b - tangents.a)
    start_z = middle_z + slope * ca.dot(across, start)
    end_z = middle_z + slope * ca.dot(across, end)
    span = ca.fabs(rise)
    return (
        select(ca.fabs(start_z - r_z) < span, start_z, p_z),
        select(ca.fabs(end_z - p_z) < span, end_z, r_z),
    )
