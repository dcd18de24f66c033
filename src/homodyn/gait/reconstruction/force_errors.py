"""Errors of ground forces against force plates, and the plain estimate to compare them with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from homodyn.dynamics import center_of_mass_velocity
from homodyn.foundation.record import Record, record
from homodyn.gait.contact_schedule import FootContact, FootContactPhase
from homodyn.motion import Loads, Motion, Side


@record
class ForceError(Record):
    """Deviation of reconstructed ground forces from measured ones, over the step."""

    side: str
    """``"Right"``, ``"Left"`` or ``"both"`` together."""
    rms: np.ndarray
    """(3,), N: forward, left, up."""
    single: float
    """N: rms of the vertical force in single support."""
    double: float
    """N: the same in double support; NaN where there is none."""

    def headline(self) -> str:
        """Side and rms of the vertical force."""
        return f"ForceError, {self.side}: {self.rms[2]:.4g} N rms (vertical)"


def force_errors(
    time: np.ndarray,
    forces: Mapping[Side, np.ndarray],
    schedule: Sequence[FootContactPhase],
    measured: Loads | None,
) -> list[ForceError]:
    """Deviations of the forces of both feet from measured ones.

    Args:
        time: (samples,), s.
        forces: By side, (samples, 3), N.
        schedule: The contact schedule, which separates single from double support.
        measured: Measured ground forces.

    Returns:
        One record per foot and one for both; empty where the plates do not cover the step.
    """
    if measured is None:
        return []
    clock = measured.motion.time
    inside = (clock >= time[0]) & (clock <= time[-1])
    if not measured.covered[inside].all():
        return []
    ends = [phase.end for phase in schedule[:-1]]
    double = np.array([phase.double_support for phase in schedule])[np.searchsorted(ends, time)]
    errors: dict[str, np.ndarray] = {}
    for side, force in forces.items():
        feet = [f for f in measured.feet if f.side is side and not f.predicted]
        if feet:
            known = np.sum([f.force for f in feet], axis=0)
            errors[side.title] = force - _resample(clock, known, time)
    if len(errors) == len(Side):
        errors["both"] = errors["Right"] + errors["Left"]
    return [
        ForceError(
            side,
            np.sqrt((error**2).mean(axis=0)),
            _rms(error[~double, 2]),
            _rms(error[double, 2]),
        )
        for side, error in errors.items()
    ]


def center_of_mass_forces(
    motion: Motion, schedule: Sequence[FootContactPhase], time: np.ndarray
) -> dict[Side, np.ndarray]:
    """The plain estimate of ground forces: mass times acceleration of the center of mass plus g.

    In double support the whole force moves from the trailing to the leading foot as half a period
    of a cosine. A foot trails that has been on the ground for longer.

    Args:
        motion: The recorded movement, in axes with Z up.
        schedule: The contact schedule.
        time: (samples,), s.

    Returns:
        By side, (samples, 3), N.
    """
    model = motion.model
    speed = np.asarray(center_of_mass_velocity(model, motion.q, motion.v))
    gravity = np.asarray(model.gravity, dtype=float)
    total = model.mass * (np.gradient(speed, motion.time, axis=0) - gravity)
    whole = _resample(motion.time, total, time)
    share = np.array([_right_share(schedule, t) for t in time])[:, None]
    return {Side.RIGHT: share * whole, Side.LEFT: (1 - share) * whole}


def _right_share(schedule: Sequence[FootContactPhase], time: float) -> float:
    """Share of the right foot in the ground force."""
    k = int(np.searchsorted([phase.end for phase in schedule[:-1]], time))
    phase = schedule[k]
    if not phase.double_support:
        return float(phase.right is not FootContact.SWING)
    first = last = k
    while first > 0 and schedule[first - 1].double_support:
        first -= 1
    while last + 1 < len(schedule) and schedule[last + 1].double_support:
        last += 1
    begin, end = schedule[first].begin, schedule[last].end
    passed = (1 - np.cos(np.pi * (time - begin) / (end - begin))) / 2
    if first > 0:
        leading = schedule[first - 1].right is FootContact.SWING
    elif last + 1 < len(schedule):
        leading = schedule[last + 1].right is not FootContact.SWING
    else:
        return 0.5
    return float(passed if leading else 1 - passed)


def _resample(known: np.ndarray, values: np.ndarray, time: np.ndarray) -> np.ndarray:
    return np.column_stack([np.interp(time, known, column) for column in values.T])


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt((values**2).mean())) if values.size else float("nan")
