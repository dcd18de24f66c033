"""Wrapping over an ellipsoid: an arc of the ellipse in a plane through both ends.

Dividing by the semi-axes maps the ellipsoid to the unit sphere and the ellipse to a circle, and
keeps tangents, so that the tangent points are those of a circle. The arc is not a geodesic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from homodyn.muscle.geometry.circle import CircleTangents, plane_cross
from homodyn.muscle.geometry.ellipsoid_plane import WrapPlane
from homodyn.muscle.geometry.selects import both, norm, root, select
from homodyn.muscle.geometry.surface_contact import MANDATORY_CONTACT, NO_CONTACT, SurfaceContact
from homodyn.muscle.geometry.tangent_rule import GEODESIC
from homodyn.spatial import Array, reuse_graph

ELLIPSOID_METHODS = ("hybrid", "midpoint", "axial")
ARC_NODES = 10
"""Nodes of the quadrature of an arc."""
CHORD_M = 0.001
"""OpenSim measures an arc as a polygon with sides of about this length."""
MAX_CHORDS = 499
LEAST_OUTSIDE = -0.0001
"""An end with a smaller value of ``sum (x / a)^2 - 1`` is inside the ellipsoid."""


@lru_cache(maxsize=64)
def ellipsoid_wrap(side: tuple[int, int] | None, method: str, rule: str) -> Callable[..., Array]:
    """The function that wraps a segment over an ellipsoid.

    Args:
        side: Axis (0, 1 or 2) and sign of the side that a path wraps around; None: any side.
        method: One of `ELLIPSOID_METHODS`: how the plane is found.
        rule: A rule of ``TANGENT_RULES``; ``"opensim"`` measures the arc as a polygon.

    Returns:
        A function of both ends (3,), m, and of the semi-axes (3,), m; its value is a column of
        `SurfaceContact`.
    """

    @reuse_graph
    def wrap(p: Array, r: Array, size: Array) -> Array:
        scale = ca.sum1(size) / 3
        status, first, second = _intersection(p, r, size)
        direction = (r - p) / norm(r - p)
        plane = WrapPlane(size / scale, first / scale, second / scale, direction)
        top = scale * plane.point(method, side)
        arc = _PlaneArc.through(p / size, r / size, top / size, is_any_side=side is None)
        length = arc.length(size, rule)
        return SurfaceContact(
            status, size * arc.point(0.0), size * arc.point(arc.angle), length
        ).to_column()

    return wrap


def _intersection(p: Array, r: Array, size: Array) -> tuple[Array, Array, Array]:
    """Contact of a segment, and where it enters and leaves the ellipsoid."""
    a, step = p / size, (r - p) / size
    square, mixed = ca.dot(step, step), ca.dot(a, step)
    rest = ca.dot(a, a) - 1
    discriminant = mixed * mixed - square * rest
    spread = root(discriminant)
    enters, leaves = (-mixed - spread) / square, (-mixed + spread) / square
    is_outside = both(rest >= LEAST_OUTSIDE, ca.dot(r / size, r / size) - 1 >= LEAST_OUTSIDE)
    is_between = both(both(enters > 0, enters < 1), both(leaves > 0, leaves < 1))
    is_straight = 1 - ca.dot(p, r) / (norm(p) * norm(r)) < -LEAST_OUTSIDE
    touches = both(both(is_outside, is_between), both(discriminant >= 0, ca.logic_not(is_straight)))
    status = select(touches, MANDATORY_CONTACT, NO_CONTACT)
    return status, p + enters * (r - p), p + leaves * (r - p)


@dataclass(frozen=True)
class _PlaneArc:
    """An arc of a circle on the unit sphere, between two tangent points."""

    center: Array
    start: Array
    """From the center to the first tangent point."""
    across: Array
    """The start turned by a quarter in the sense of the path."""
    angle: Array
    """rad."""
    normal: Array

    @staticmethod
    def through(p: Array, r: Array, top: Array, is_any_side: bool) -> _PlaneArc:
        """The arc on the side of ``top`` of the segment from ``p`` to ``r``."""
        normal = ca.cross(p - top, r - top)
        normal = normal / norm(normal)
        center = ca.dot(normal, top) * normal
        radius = root(1 - ca.dot(center, center))
        first = (p - center) / norm(p - center)
        second = ca.cross(normal, first)

        def flat(point: Array) -> Array:
            return ca.vertcat(ca.dot(first, point - center), ca.dot(second, point - center))

        a, b, c = flat(p), flat(r), flat(top)
        tangents = CircleTangents(a, b, radius)
        sense = 2 * (plane_cross(b - a, c - a) < 0) - 1
        start, end = tangents.touch_a(sense), tangents.touch_b(sense)
        angle = sense * ca.atan2(plane_cross(start, end), ca.dot(start, end))
        around = select(angle < 0, angle + 2 * ca.pi, angle)
        angle = ca.fabs(angle) if is_any_side else around
        from_center = first * start[0] + second * start[1]
        return _PlaneArc(center, from_center, sense * ca.cross(normal, from_center), angle, normal)

    def point(self, angle: Array) -> Array:
        """Point of the unit sphere at an angle from the start."""
        return self.center + ca.cos(angle) * self.start + ca.sin(angle) * self.across

    def length(self, size: Array, rule: str) -> Array:
        """Length of the arc on the ellipsoid, m."""
        pivot = _pivot(self.normal / size, size * (self.center + self.start))
        ends = [size * self.point(0.0) - pivot, size * self.point(self.angle) - pivot]
        turn = ca.atan2(norm(ca.cross(*ends)), ca.dot(*ends))
        turn = select(self.angle > ca.pi, 2 * ca.pi - turn, turn)
        span = norm(ends[1] - ends[0])
        chords = ca.fmax(ca.fmin(ca.floor(span / CHORD_M), MAX_CHORDS), 1)
        nodes, weights = np.polynomial.legendre.leggauss(ARC_NODES)
        total: Array = 0.0
        for node, weight in zip(nodes, weights, strict=True):
            angle = self.angle * (1 + node) / 2
            cosine, sine = ca.cos(angle), ca.sin(angle)
            offset = size * (cosine * self.start + sine * self.across)
            rate = size * (cosine * self.across - sine * self.start)
            speed = norm(rate)
            term = speed
            if rule != GEODESIC:
                arm = size * self.center + offset - pivot
                swing = norm(ca.cross(arm, rate)) / ca.dot(arm, arm)
                curvature = norm(ca.cross(rate, offset)) / speed**3
                chord = speed / swing * turn / chords
                term = speed * (1 - (curvature * chord) ** 2 / 24)
            total = total + weight / 2 * term
        arc = self.angle * total
        return arc if rule == GEODESIC else select(span < CHORD_M, span, arc)


def _pivot(normal: Array, point: Array) -> Array:
    """Where the plane meets the coordinate axis that it is most perpendicular to."""
    sizes = ca.fabs(normal)
    offset = ca.dot(normal, point)
    result, best = ca.vertcat(offset / normal[0], 0, 0), sizes[0]
    for axis in (1, 2):
        here = ca.SX.zeros(3)
        here[axis] = offset / normal[axis]
        is_best = sizes[axis] > best
        result, best = select(is_best, here, result), select(is_best, sizes[axis], best)
    return result
