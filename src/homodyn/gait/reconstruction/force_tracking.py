"""Tracking of measured ground forces, and the curves that objective terms follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from homodyn.dynamics import position
from homodyn.gait.contact_schedule import FootContactPhase
from homodyn.motion import ContactForce, Loads
from homodyn.optimal import ObjectiveTerm, TimePoint, track, track_force
from homodyn.spatial import Array

MOMENT_ARM_M = 0.1
"""An error of the moment on a foot counts as an error of its force at this distance."""
COMPLIANT_MOMENT_ARM_M = 0.5
"""The same for soles that yield, whose center of pressure three points reproduce to some
centimeters only. A larger one leaves the torques to the regularization of the forces, a smaller one
takes the movement from the recording."""
MIN_COVERED_SHARE = 0.8
"""Share of the frames of a phase that plates have to measure; the nearest measured frame stands for
others."""


@dataclass(frozen=True, eq=False)
class CurveSegment:
    """A curve over a time span, as a function of the fraction of the span."""

    curve: CubicSpline
    begin: float
    duration: float

    def __call__(self, fractions: np.ndarray) -> np.ndarray:
        """Values at fractions of the span (0 to 1)."""
        return self.curve(self.begin + self.duration * fractions)


def force_terms(
    measured: Loads, contacts: FootContactPhase, weight: float, compliant: bool
) -> list[ObjectiveTerm]:
    """Tracking of the measured wrenches on stance feet, forces as fractions of the weight.

    Args:
        measured: Measured ground forces.
        contacts: The phase.
        weight: Weight of the terms.
        compliant: Whether soles yield: moments count less then.

    Returns:
        The terms; none where the plates do not cover the phase.
    """
    model = measured.motion.model
    body_weight = model.mass * float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))
    time = measured.motion.time
    inside = (time >= contacts.begin) & (time <= contacts.end)
    covered = inside & measured.covered
    if covered.sum() < max(2.0, MIN_COVERED_SHARE * inside.sum()):
        return []
    known = _nearest_covered(measured.covered)
    span = contacts.begin, contacts.duration
    terms = []
    for foot in measured.feet:
        if foot.side is None or foot.predicted:
            continue
        points = [n for n in contacts.contact_points if n.endswith(foot.side.title)]
        if not points:
            continue
        force = CurveSegment(CubicSpline(time, foot.force[known]), *span)
        terms.append(weight * track_force(force, *points, scale=1 / body_weight**2))
        moment = _moment(measured, foot)[known]
        if np.isfinite(moment[inside]).all():
            curve = CurveSegment(CubicSpline(time, np.nan_to_num(moment)), *span)
            arm = COMPLIANT_MOMENT_ARM_M if compliant else MOMENT_ARM_M
            scale = 1 / (arm * body_weight) ** 2
            name, value = f"moment {foot.body}", _GroundMoment(foot.body)
            terms.append(weight * track(name, value, curve, scale=scale))
    return terms


def _nearest_covered(covered: np.ndarray) -> np.ndarray:
    """For each frame the nearest one in which plates measured all forces."""
    frames = np.flatnonzero(covered)
    middles = (frames[:-1] + frames[1:]) / 2
    return np.asarray(frames[np.searchsorted(middles, np.arange(len(covered)))])


@dataclass(frozen=True)
class _GroundMoment:
    """The moment of the ground on a foot."""

    body: str

    def __call__(self, time_point: TimePoint) -> Array:
        return time_point.ground_moment(self.body)


def _moment(measured: Loads, foot: ContactForce) -> np.ndarray:
    """(frames, 3), N m: moment of the ground about the origin of the foot."""
    origin = np.asarray(position(measured.motion.model, measured.motion.q, foot.body))
    unloaded = np.abs(foot.force).max(axis=1) == 0
    point = np.where(unloaded[:, None], origin, foot.point)
    return np.cross(point - origin, foot.force) + foot.torque
