"""The point of an ellipsoid or ellipse that is closest to a given point."""

from __future__ import annotations

import casadi as ca

from homodyn.muscle.geometry.selects import root
from homodyn.spatial import Array, reuse_graph

SECULAR_STEPS = 9
"""Newton steps; from the start value each is at least quadratic near the solution."""


@reuse_graph
def closest_on_ellipsoid(semiaxes: Array, point: Array) -> Array:
    """The point of an ellipsoid (or ellipse) that is closest to another point.

    It is ``a^2 x / (t + a^2)`` by components, where t is the largest root of the secular equation
    ``sum (a x / (t + a^2))^2 = 1``. Newton's method is applied to the inverse of the norm, which is
    nearly linear in t and concave, from a start value below the root.

    Args:
        semiaxes: Semi-axes, (n,).
        point: The point, (n,).

    Returns:
        (n,).
    """
    squares = semiaxes * semiaxes
    scaled = semiaxes * point
    t = ca.mmax(ca.fabs(scaled) - squares)
    for _ in range(SECULAR_STEPS):
        below = t + squares
        ratio = scaled / below
        total = ca.fmax(ca.dot(ratio, ratio), 1e-30)
        slope = ca.fmax(ca.dot(ratio * ratio, 1 / below), 1e-30)
        t = t + total * (root(total) - 1) / slope
    return squares * point / (t + squares)
