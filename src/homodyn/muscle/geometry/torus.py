"""Wrapping over the inside of a torus about the z axis.

The path wraps over the cylinder that touches the torus, along its ring, where the segment comes
closest to the ring; on the side of the cylinder that faces the center of the torus.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import casadi as ca

from homodyn.muscle.geometry.circle import is_on_side
from homodyn.muscle.geometry.cylinder import cylinder_wrap
from homodyn.muscle.geometry.selects import both, either, negate, norm, select
from homodyn.muscle.geometry.surface_contact import NO_CONTACT, POSSIBLE_CONTACT, SurfaceContact
from homodyn.muscle.geometry.tangent_rule import GEODESIC
from homodyn.spatial import Array, reuse_graph

CYLINDER_LENGTH_M = 1.0
"""Length of the cylinder that stands for the torus at the place of contact."""
DESCENT_STEPS = 6
"""Steps towards the point of the line that is closest to the ring; each comes closer."""
NEWTON_STEPS = 4
OPENSIM_RING_FACTOR = 2.0
"""OpenSim differentiates the squared distance from the ring with twice the radius of the ring."""


@lru_cache(maxsize=32)
def torus_wrap(side: tuple[int, int] | None, rule: str, alone: bool) -> Callable[..., Array]:
    """The function that wraps a segment over a torus.

    Args:
        side: Axis (0, 1 or 2) and sign of the part of the torus that a path wraps over; None: any.
        rule: A rule of ``TANGENT_RULES``.
        alone: Whether the path has no other wrap object.

    Returns:
        A function of both ends (3,), m, and of (inner radius, outer radius), m: those of the tube
        and of its center line; its value is a column of `SurfaceContact`.
    """
    over_cylinder = cylinder_wrap((0, 1), rule, alone)

    @reuse_graph
    def wrap(p: Array, r: Array, size: Array) -> Array:
        tube, ring = size[0], size[1]
        pull = ring if rule == GEODESIC else OPENSIM_RING_FACTOR * ring
        from_p, from_r = _closest_point(p, r, pull), _closest_point(r, p, pull)
        is_nearer = _distance(from_p, ring) < _distance(from_r, ring)
        found = True
        if side is not None:
            axis, sign = side
            first, second = is_on_side(from_p[axis], sign), is_on_side(from_r[axis], sign)
            found = either(first, second)
            is_nearer = select(both(first, second), is_nearer, first)
        closest = select(is_nearer, from_p, from_r)
        outward = ca.vertcat(closest[:2], 0) / norm(closest[:2])
        x, y = -outward, ca.vertcat(0, 0, -1)
        axes = ca.horzcat(x, y, ca.cross(x, y))
        center = ring * outward
        column = over_cylinder(
            axes.T @ (p - center), axes.T @ (r - center), ca.vertcat(tube, CYLINDER_LENGTH_M)
        )
        contact = SurfaceContact.from_column(column)
        missed = either(contact.status == NO_CONTACT, negate(found))
        return SurfaceContact(
            select(missed, NO_CONTACT, POSSIBLE_CONTACT),
            center + axes @ contact.start,
            center + axes @ contact.end,
            contact.length,
        ).to_column()

    return wrap


def _distance(point: Array, ring: Array) -> Array:
    """Distance of a point from the ring."""
    return norm(ca.vertcat(norm(point[:2]) - ring, point[2]))


def _closest_point(p: Array, r: Array, ring: Array) -> Array:
    """The point of the line from ``p`` to ``r`` closest to the ring, as found from ``p``.

    The square of the distance is a parabola in the position u on the line minus 2 ring rho(u),
    where rho, the distance from the axis, is convex. Replacing rho by its tangent gives an upper
    bound whose minimum is the next u; Newton steps finish.
    """
    step = r - p
    n = step / norm(step)
    along = ca.dot(p, n)
    squared, mixed = ca.dot(n[:2], n[:2]), ca.dot(p[:2], n[:2])

    def slope_of_rho(u: Array) -> tuple[Array, Array]:
        rho = norm(p[:2] + u * n[:2])
        slope = (mixed + squared * u) / rho
        curvature = (squared - slope * slope) / rho
        return slope, curvature

    u: Array = 0.0
    for _ in range(DESCENT_STEPS):
        u = ring * slope_of_rho(u)[0] - along
    for _ in range(NEWTON_STEPS):
        slope, curvature = slope_of_rho(u)
        stiffness = 1 - ring * curvature
        change = (along + u - ring * slope) / select(stiffness > 0.05, stiffness, 1.0)
        u = u - change
    return p + u * n
