"""How far apart two limbs are: the distance of their capsules."""

from __future__ import annotations

import casadi as ca

from homodyn.dynamics.kinematics import attached_point
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Capsule
from homodyn.optimal.conditions import AWAY, Condition
from homodyn.optimal.instant import Instant
from homodyn.spatial import Array

PARALLEL = 1e-9
"""m4: added to the determinant of two axes, which is zero when they are parallel."""
TOUCHING = 1e-12
"""m2: rounds off the distance of axes that meet, which has no derivative there."""


def apart(one: str, two: str, *, clearance: float = 0.0) -> Condition:
    """Two capsules of the model stay at least ``clearance`` (m) apart."""
    return Condition(
        "distance",
        lambda instant: capsule_distance(instant, one, two),
        clearance,
        float("inf"),
        labels=(f"{one} to {two}",),
        slack=AWAY,
    )


def capsule_distance(instant: Instant, one: str, two: str) -> Array:
    """Distance (m) between the surfaces of two capsules, negative when they overlap.

    That of the nearest points of both axes, less both radii (Felis 2015, section 4.6).
    """
    first, second = _capsule(instant, one), _capsule(instant, two)
    ends = [_ends(instant, each) for each in (first, second)]
    return segment_distance(*ends[0], *ends[1]) - first.radius - second.radius


def segment_distance(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Distance (m) between the segments from ``a`` to ``b`` and from ``c`` to ``d``."""
    along, other, between = b - a, d - c, a - c
    aa, bb, ab = ca.dot(along, along), ca.dot(other, other), ca.dot(along, other)
    ar, br = ca.dot(along, between), ca.dot(other, between)
    # Nearest on the lines, then each in turn on its segment: exact, as distance is convex in both.
    s = _within((ab * br - bb * ar) / (aa * bb - ab**2 + PARALLEL))
    t = _within((ab * s + br) / bb)
    s = _within((ab * t - ar) / aa)
    gap = between + s * along - t * other
    return ca.sqrt(ca.dot(gap, gap) + TOUCHING)


def _within(part: Array) -> Array:
    return ca.fmin(ca.fmax(part, 0.0), 1.0)


def _capsule(instant: Instant, name: str) -> Capsule:
    capsules = {capsule.name: capsule for capsule in instant.model.capsules}
    if name not in capsules:
        raise ModelError(f"{instant.model.name!r} has {unknown_name('capsule', name, capsules)}")
    return capsules[name]


def _ends(instant: Instant, capsule: Capsule) -> tuple[Array, Array]:
    body, _ = attached_point(instant.model, capsule.body, None)
    placement = instant.tree.placements[body]
    return placement.point_back(capsule.start), placement.point_back(capsule.end)
