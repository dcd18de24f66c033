"""Distances between limbs, approximated by capsules."""

from __future__ import annotations

import casadi as ca

from homodyn.dynamics.kinematics import attached_point
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Capsule
from homodyn.optimal.statement.path_constraints import POSITION_TOLERANCE, PathConstraint
from homodyn.optimal.statement.time_point import TimePoint
from homodyn.spatial import Array

PARALLEL_AXES_SMOOTHING_M4 = 1e-9
"""Added to the determinant of two axes (m4), which is zero when they are parallel."""
DISTANCE_SMOOTHING_M2 = 1e-12
"""Rounds off the squared distance of axes that meet (m2), which has no derivative there."""


def min_distance(one: str, two: str, *, clearance: float = 0.0) -> PathConstraint:
    """Two capsules of the model keep a minimum distance.

    Args:
        one: Name of a capsule.
        two: Name of another one.
        clearance: Least distance between their surfaces (m).

    Returns:
        The constraint.

    Raises:
        ModelError: The model has no such capsule (when the problem is transcribed).
    """
    return PathConstraint(
        "distance",
        lambda time_point: capsule_distance(time_point, one, two),
        clearance,
        float("inf"),
        labels=(f"{one} to {two}",),
        tolerance=POSITION_TOLERANCE,
    )


def capsule_distance(time_point: TimePoint, one: str, two: str) -> Array:
    """Distance (m) between the surfaces of two capsules, negative when they overlap.

    It is the distance between the axes less both radii (Felis 2015, section 4.6).

    Args:
        time_point: The time point.
        one: Name of a capsule.
        two: Name of another one.

    Returns:
        A scalar (m).

    Raises:
        ModelError: The model has no such capsule.
    """
    first, second = _capsule(time_point, one), _capsule(time_point, two)
    ends = [_ends(time_point, each) for each in (first, second)]
    return segment_distance(*ends[0], *ends[1]) - first.radius - second.radius


def segment_distance(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Distance (m) between the segments from ``a`` to ``b`` and from ``c`` to ``d``."""
    along, other, between = b - a, d - c, a - c
    aa, bb, ab = ca.dot(along, along), ca.dot(other, other), ca.dot(along, other)
    ar, br = ca.dot(along, between), ca.dot(other, between)
    # Nearest on the lines, then each in turn on its segment: exact, as distance is convex in both.
    s = _within((ab * br - bb * ar) / (aa * bb - ab**2 + PARALLEL_AXES_SMOOTHING_M4))
    t = _within((ab * s + br) / bb)
    s = _within((ab * t - ar) / aa)
    gap = between + s * along - t * other
    return ca.sqrt(ca.dot(gap, gap) + DISTANCE_SMOOTHING_M2)


def _within(part: Array) -> Array:
    return ca.fmin(ca.fmax(part, 0.0), 1.0)


def _capsule(time_point: TimePoint, name: str) -> Capsule:
    capsules = {capsule.name: capsule for capsule in time_point.model.capsules}
    if name not in capsules:
        raise ModelError(f"{time_point.model.name!r} has {unknown_name('capsule', name, capsules)}")
    return capsules[name]


def _ends(time_point: TimePoint, capsule: Capsule) -> tuple[Array, Array]:
    body, _ = attached_point(time_point.model, capsule.body, None)
    placement = time_point.tree.placements[body]
    return placement.point_back(capsule.start), placement.point_back(capsule.end)
