"""Bounds of what the ground can exert on the feet: friction cones of forces and of impulses.

A foot is rigid, and its contact rows leave open which of its points carries a tangential force. The
friction cone is therefore that of the whole foot, while each point by itself is compressive.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.gait.contact_schedule.foot_contact_phases import FOOT_POINTS, FootContactPhase
from homodyn.model import Model
from homodyn.motion import Side
from homodyn.optimal import PathConstraint, TimePoint, friction_cone
from homodyn.spatial import Array, stack

GROUND_FRICTION = 0.8
"""Coefficient of friction of the ground, of shoes on dry floors."""
CONE_TOLERANCE_WEIGHTS = 0.01
"""Accepted violation of the friction cones between the nodes, as a fraction of the weight."""
IMPULSE_TOLERANCE_S = 1e-3
"""Tolerance of the impulses of contacts that bear load already: that of the weight in this time.

An impact lasts several milliseconds, in which the load presses such a contact to the ground by more
than this.
"""
IMPULSE_SMOOTHING_SHARE = 0.1
"""Rounds off the tip of the cone of impulses, as a share of their tolerance."""


def foot_cones(friction: float, contacts: FootContactPhase) -> PathConstraint:
    """The friction cone of each foot that is on the ground.

    Args:
        friction: Coefficient of friction.
        contacts: Contacts of both feet.

    Returns:
        The constraint, along the whole phase.
    """
    feet = _feet(contacts.contact_points)
    return friction_cone(friction, *feet, tolerance=CONE_TOLERANCE_WEIGHTS)


def no_tangential_force(side: Side) -> PathConstraint:
    """The foot that leaves the ground exerts no tangential force at the end of the phase."""
    foot = f"Foot{side.title}"
    return PathConstraint(
        "unloaded",
        lambda i: i.ground_force(foot)[:2],
        when="end",
        labels=(f"{foot} x", f"{foot} y"),
    )


def impulse_bounds(
    model: Model, friction: float, before: FootContactPhase, after: FootContactPhase
) -> list[PathConstraint]:
    """Impulses are compressive at each contact, and within the friction cone of each foot.

    The foot that lands satisfies this exactly, the one that bears load already to its tolerance.

    Args:
        model: The model, whose weight the tolerance depends on.
        friction: Coefficient of friction.
        before: Contacts before the impact.
        after: Contacts after it.

    Returns:
        The constraints.
    """
    tolerance = impulse_tolerance(model)
    points, feet = after.contact_points, _feet(after.contact_points)
    lands = _feet(tuple(point for point in points if point not in before.contact_points))
    point_tolerance = [tolerance if point in before.contact_points else 0.0 for point in points]
    foot_tolerance = [0.0 if foot in lands else tolerance for foot in feet]
    smoothing = IMPULSE_SMOOTHING_SHARE * tolerance

    def margin(impact: TimePoint, foot: str) -> Array:
        x, y, z = ca.vertsplit(impact.ground_force(foot))
        return friction * z - ca.sqrt(x**2 + y**2 + smoothing**2)

    return [
        PathConstraint(
            "unilateral impulse",
            lambda i: stack(*(i.ground_force(point)[2] for point in points)),
            -np.array(point_tolerance),
            np.inf,
            labels=points,
        ),
        PathConstraint(
            "friction cone of the impulse",
            lambda i: stack(*(margin(i, foot) for foot in feet)),
            -np.array(foot_tolerance),
            np.inf,
            labels=feet,
        ),
    ]


def impulse_tolerance(model: Model) -> float:
    """Tolerance of impulses (N s)."""
    weight = model.mass * float(np.linalg.norm(np.asarray(model.gravity, float)))
    return IMPULSE_TOLERANCE_S * weight


def _feet(points: tuple[str, ...]) -> tuple[str, ...]:
    """The feet of some contacts, each once."""
    sides = [side for side in Side if any(f"{p}{side.title}" in points for p in FOOT_POINTS)]
    return tuple(f"Foot{side.title}" for side in sides)
