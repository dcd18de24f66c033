"""Tangents from two points to a circle about the origin, and which of them a path takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from homodyn.muscle.geometry.selects import both, either, length_and_inverse, negate, root, select
from homodyn.spatial import Array


def perpendicular(v: Array) -> Array:
    """A plane vector turned counterclockwise by a quarter."""
    return ca.vertcat(-v[1], v[0])


def plane_cross(a: Array, b: Array) -> Array:
    """The third component of the cross product of two plane vectors."""
    return a[0] * b[1] - a[1] * b[0]


def is_on_side(v: Array, sign: int) -> Array:
    """Whether a coordinate has the sign of a quadrant; zero counts as positive, as in OpenSim."""
    return v >= 0 if sign > 0 else v < 0


@dataclass(frozen=True)
class CircleTangents:
    """Tangents from the plane points ``a`` and ``b`` to a circle of a radius about the origin.

    The counterclockwise path leaves ``a`` for ``a_ccw``, follows the circle counterclockwise and
    leaves ``b_ccw`` for ``b``; the clockwise path likewise.
    """

    a: Array
    b: Array
    radius: Array

    @cached_property
    def a_distance(self) -> tuple[Array, Array]:
        """Distance of ``a`` from the center, m, and its reciprocal."""
        return length_and_inverse(self.a)

    @cached_property
    def b_distance(self) -> tuple[Array, Array]:
        """Distance of ``b`` from the center, m, and its reciprocal."""
        return length_and_inverse(self.b)

    @cached_property
    def tangent_lengths(self) -> tuple[Array, Array]:
        """Distances from ``a`` and ``b`` to their tangent points, m."""
        square = self.radius * self.radius
        return root(ca.dot(self.a, self.a) - square), root(ca.dot(self.b, self.b) - square)

    @cached_property
    def _parts(self) -> tuple[Array, Array, Array, Array]:
        """Parts of the tangent points along and across the directions of ``a`` and ``b``."""
        parts: list[Array] = []
        ends = (self.a, self.a_distance[1]), (self.b, self.b_distance[1])
        for (point, inverse), tangent in zip(ends, self.tangent_lengths, strict=True):
            cosine = self.radius * inverse
            parts += [cosine * cosine * point, cosine * inverse * tangent * perpendicular(point)]
        return parts[0], parts[1], parts[2], parts[3]

    def touch_a(self, sense: Array) -> Array:
        """Tangent point of ``a`` for the counterclockwise (1) or clockwise (-1) path."""
        return self._parts[0] + sense * self._parts[1]

    def touch_b(self, sense: Array) -> Array:
        """Tangent point of ``b`` for the counterclockwise (1) or clockwise (-1) path."""
        return self._parts[2] - sense * self._parts[3]


def angle_between(u: Array, v: Array) -> Array:
    """Angle between two plane vectors, 0 to pi (rad)."""
    return ca.fabs(ca.atan2(plane_cross(u, v), ca.dot(u, v)))


def side_is_counterclockwise(
    tangents: CircleTangents, is_active: tuple[Array, Array, Array, Array]
) -> Array:
    """Whether a path that must lie on the active side of a cylinder is counterclockwise.

    Args:
        tangents: The tangents.
        is_active: Whether the tangent points lie on the active side: that of ``a`` for the
            counterclockwise and the clockwise path, then those of ``b``.

    Returns:
        A condition. The tangent points of ``a`` decide; if both or none lie on the active side,
        those of ``b``; if none of the four does, the path with the larger angle between its
        tangent points.
    """
    a_ccw, a_cw, b_ccw, b_cw = is_active
    ccw = angle_between(tangents.touch_a(1.0), tangents.touch_b(1.0))
    cw = angle_between(tangents.touch_a(-1.0), tangents.touch_b(-1.0))
    none = select(b_cw, False, either(b_ccw, ccw > cw))
    return select(a_cw, both(a_ccw, negate(b_cw)), select(a_ccw, True, none))
