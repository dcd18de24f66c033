"""The friction that ground forces need, and where a recording needs more than the ground has."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.motion import Loads, Side

MIN_LOADED_SHARE = 0.05
"""Vertical force of a foot in body weights, below which its ratio of forces means nothing."""


@record
class FrictionExcess(Record):
    """A time span in which the forces of a foot need more friction than there is."""

    side: str
    """``"right"`` or ``"left"``."""
    begin: float
    """s."""
    end: float
    """s."""
    required: float
    """Largest ratio of tangential to normal force."""
    beyond: float
    """Largest tangential force beyond that of the ground, in body weights."""

    def headline(self) -> str:
        """Foot, time and required friction."""
        return f"FrictionExcess: {self}"

    def __str__(self) -> str:
        span = f"at {self.begin:.3f} s"
        if self.end > self.begin:
            span = f"from {self.begin:.3f} to {self.end:.3f} s"
        return f"{self.required:.2f} under the {self.side} foot {span}"


def required_friction(force: np.ndarray, weight: float) -> float:
    """The largest ratio of tangential to normal force of a foot that bears load.

    Args:
        force: (samples, 3), N, in axes with Z up.
        weight: Weight of the person (N).

    Returns:
        The ratio; 0 for a foot that never bears 5 % of the weight.
    """
    loaded = force[:, 2] > MIN_LOADED_SHARE * weight
    ratio = np.hypot(force[loaded, 0], force[loaded, 1]) / force[loaded, 2]
    return float(ratio.max(initial=0.0))


def friction_excesses(
    time: np.ndarray, forces: Mapping[Side, np.ndarray], friction: float, weight: float
) -> tuple[FrictionExcess, ...]:
    """Where ground forces need more friction than the ground has.

    Args:
        time: (samples,), s.
        forces: By side, (samples, 3), N, in axes with Z up.
        friction: Coefficient of friction of the ground.
        weight: Weight of the person (N).

    Returns:
        One record per time span and foot, in the order of time.
    """
    found = []
    for side, force in forces.items():
        tangential, normal = np.hypot(force[:, 0], force[:, 1]), force[:, 2]
        loaded = normal > MIN_LOADED_SHARE * weight
        frames = np.flatnonzero(loaded & (tangential > friction * normal))
        for run in np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1):
            if len(run):
                ratio = float((tangential[run] / normal[run]).max())
                beyond = float((tangential[run] - friction * normal[run]).max()) / weight
                begin, end = float(time[run[0]]), float(time[run[-1]])
                found.append(FrictionExcess(str(side), begin, end, ratio, beyond))
    return tuple(sorted(found, key=lambda excess: excess.begin))


def plate_forces(
    measured: Loads | None, begin: float, end: float
) -> tuple[np.ndarray, dict[Side, np.ndarray]]:
    """Measured forces of both feet in a time span, in the frames that plates cover.

    Args:
        measured: Loads under measured forces, in axes with Z up.
        begin: s.
        end: s.

    Returns:
        Times (s), and by side the forces (N).
    """
    if measured is None:
        return np.zeros(0), {}
    time = measured.motion.time
    inside = (time >= begin) & (time <= end) & measured.covered
    forces = {}
    for side in Side:
        feet = [f.force for f in measured.feet if f.side is side and not f.predicted]
        if feet:
            forces[side] = np.sum(feet, axis=0)[inside]
    return time[inside], forces
