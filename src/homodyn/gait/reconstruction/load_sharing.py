"""How two feet share the ground force where kinematics alone leaves it open.

In double support the ground forces of both feet are determined only together. Two observations
about walking resolve them: the ground force points from the center of pressure of each foot near to
the center of mass, and the load moves smoothly from the trailing to the leading foot (the smooth
transition of Ren, Jones and Howard, 2008).
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from scipy.interpolate import make_interp_spline

from homodyn.dynamics import center_of_mass, center_of_mass_velocity
from homodyn.gait.contact_schedule import FootContact, FootContactPhase
from homodyn.model import Model
from homodyn.motion import Motion, Side
from homodyn.optimal import ObjectiveTerm, TimePoint, track
from homodyn.spatial import Array

AIM_WEIGHT = 1e-2
"""Weight of squared horizontal forces (fractions of the weight) off the center of mass."""
SUPPORT_WEIGHT = 0.1
"""Weight of squared deviations (fractions of the weight) of the whole ground force from the rate of
the recorded momentum."""
SHARE_WEIGHT = 1e-2
"""Weight of squared vertical forces (fractions of the weight) off a smooth transition."""
LOAD_TRANSFER = "load transfer"
"""Parameter of the shape of the load transfer: positive where the load passes early."""
MAX_LOAD_TRANSFER = 0.9
"""Bound of its size; below one the load passes monotonically."""


def aimed_forces(model: Model, contacts: FootContactPhase) -> ObjectiveTerm:
    """Ground forces that point from the center of pressure of each foot to the center of mass.

    Args:
        model: The model.
        contacts: The phase.

    Returns:
        The term: two horizontal components for each foot on the ground.
    """
    weight = _weight(model)
    sides = [s for s in Side if contacts.feet[s] is not FootContact.SWING]

    def deviation(time_point: TimePoint) -> Array:
        center = center_of_mass(time_point.model, time_point.q)
        parts = []
        for side in sides:
            points = [n for n in contacts.contact_points if n.endswith(side.title)]
            force = time_point.ground_force(*points)
            for axis in (0, 1):
                moment = sum(
                    time_point.ground_force(name)[2]
                    * (center[axis] - time_point.position(name)[axis])
                    for name in points
                )
                parts.append((force[axis] - moment / center[2]) / weight)
        return ca.vertcat(*parts)

    size = 2 * len(sides)
    return AIM_WEIGHT * track("aim", deviation, lambda f: np.zeros((len(f), size)))


def whole_force(motion: Motion, contacts: FootContactPhase) -> ObjectiveTerm:
    """A whole ground force that is the rate of the recorded momentum plus the weight.

    Markers show the path of the center of mass better than the angular momentum, whose errors
    otherwise change the force.

    Args:
        motion: The recorded movement with a smooth center of mass, in axes with Z up.
        contacts: The phase.

    Returns:
        The term.
    """
    model, weight = motion.model, _weight(motion.model)
    speed = np.asarray(center_of_mass_velocity(model, motion.q, motion.v))
    acceleration = make_interp_spline(motion.time, speed, k=3).derivative(1)
    gravity = np.asarray(model.gravity, dtype=float)

    def known(fractions: np.ndarray) -> np.ndarray:
        times = contacts.begin + contacts.duration * fractions
        return np.asarray(model.mass * (acceleration(times) - gravity) / weight)

    def value(time_point: TimePoint) -> Array:
        return time_point.ground_force() / weight

    return SUPPORT_WEIGHT * track("support", value, known)


def smooth_transition(
    model: Model, schedule: Sequence[FootContactPhase], k: int, is_free: bool = False
) -> list[ObjectiveTerm]:
    """A vertical load that moves smoothly from the trailing to the leading foot.

    With s the elapsed share of the double support and c the parameter of the shape, the share of
    the trailing foot is half a period of a cosine of s + c s (1 - s).

    Args:
        model: The model.
        schedule: The contact schedule.
        k: Index of the phase.
        is_free: Whether c is the parameter `LOAD_TRANSFER` of the problem; 0 otherwise.

    Returns:
        One term in double support with a foot on its toes; none elsewhere.
    """
    contacts = schedule[k]
    trailing = [s for s in Side if contacts.feet[s] is FootContact.FOREFOOT]
    if not contacts.double_support or len(trailing) != 1:
        return []
    first = last = k
    while first > 0 and schedule[first - 1].double_support:
        first -= 1
    while last + 1 < len(schedule) and schedule[last + 1].double_support:
        last += 1
    begin, end = schedule[first].begin, schedule[last].end
    weight, title = _weight(model), trailing[0].title
    points = [name for name in contacts.contact_points if name.endswith(title)]

    def deviation(time_point: TimePoint) -> Array:
        passed = (contacts.begin - begin + time_point.elapsed) / (end - begin)
        if is_free:
            passed = passed * (1 + time_point.parameter(LOAD_TRANSFER) * (1 - passed))
        share = (1 + ca.cos(np.pi * passed)) / 2
        total = time_point.ground_force()[2]
        return ca.vertcat((time_point.ground_force(*points)[2] - share * total) / weight)

    return [SHARE_WEIGHT * track("share", deviation, lambda f: np.zeros((len(f), 1)))]


def _weight(model: Model) -> float:
    """Weight of the model (N)."""
    return float(model.mass * np.linalg.norm(np.asarray(model.gravity, dtype=float)))
