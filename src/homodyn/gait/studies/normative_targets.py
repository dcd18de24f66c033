"""Normative joint angles as smooth functions of the phase of a gait, for any model."""

from __future__ import annotations

from functools import lru_cache

import casadi as ca
import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.gait.norms import normative_curve
from homodyn.model import Model
from homodyn.model.side import Side
from homodyn.motion.clinical import resolve_coordinate
from homodyn.spatial import Array

MAX_HARMONICS = 6
"""Harmonics of the stride; the rest of a normative angle is below half a degree."""
TRACKED_ANGLES = ("hip flexion", "knee flexion", "ankle dorsiflexion")


@record
class PeriodicAngle(Record):
    """A coordinate over the phase of its leg: a Fourier series."""

    coordinate: str
    """Name in the model."""
    side: Side
    mean: float
    """rad."""
    cosines: np.ndarray
    """(harmonics,), rad."""
    sines: np.ndarray
    """(harmonics,), rad."""

    def at(self, phase: Array) -> Array:
        """The angle at a phase.

        Args:
            phase: Cycles from foot strike; a number or a symbol.

        Returns:
            rad, in the sign of the model.
        """
        value = self.mean + 0.0 * phase
        for k in range(len(self.cosines)):
            turn = 2 * np.pi * (k + 1) * phase
            value = value + self.cosines[k] * ca.cos(turn) + self.sines[k] * ca.sin(turn)
        return value

    def rate(self, phase: float) -> float:
        """Derivative by the phase.

        Args:
            phase: Cycles from foot strike.

        Returns:
            rad per cycle.
        """
        turns = 2 * np.pi * np.arange(1, len(self.cosines) + 1)
        angles = turns * phase
        slopes = turns * (self.sines * np.cos(angles) - self.cosines * np.sin(angles))
        return float(slopes.sum())


@lru_cache(maxsize=16)
def normative_targets(
    model: Model, group: str = "free", source: str = "schwartz2008"
) -> tuple[PeriodicAngle, ...]:
    """Hip, knee and ankle of both legs over the phase of their leg.

    The trunk of the model is taken as upright, so the mean tilt of the pelvis is subtracted from
    the normative hip flexion, which is relative to the pelvis.

    Args:
        model: A model with these coordinates.
        group: Group of the normative curves.
        source: Their study.

    Returns:
        Six angles, right leg first.

    Raises:
        HomodynError: The model lacks a coordinate.
    """
    tilt = float(normative_curve("pelvis tilt", group=group, source=source).mean.mean())
    found = []
    for side in Side:
        for name in TRACKED_ANGLES:
            known = resolve_coordinate(model, f"{side.value} {name}")
            curve = normative_curve(name, group=group, source=source)
            degrees = curve.mean[:-1] - (tilt if name == "hip flexion" else 0.0)
            spectrum = np.fft.rfft(known.sign * np.deg2rad(degrees)) / len(degrees)
            if abs(curve.percent[0]) > 0 or len(degrees) < 2 * MAX_HARMONICS + 1:
                raise HomodynError(f"normative curve {name!r} does not begin at foot strike")
            found.append(
                PeriodicAngle(
                    known.coordinate,
                    side,
                    float(spectrum[0].real),
                    2 * spectrum[1 : MAX_HARMONICS + 1].real,
                    -2 * spectrum[1 : MAX_HARMONICS + 1].imag,
                )
            )
    return tuple(found)


def foot_strike_pose(model: Model, frequency: float) -> tuple[np.ndarray, np.ndarray]:
    """The pose of normative gait at the right foot strike, with the velocities of the joints.

    Args:
        model: A model with hips, knees and ankles.
        frequency: Strides per second.

    Returns:
        Positions (nq,) and velocities (nv,); zero for all other coordinates.
    """
    q, v = model.neutral(), np.zeros(model.nv)
    for target in normative_targets(model):
        k = model.coordinate_index(target.coordinate)
        place = model.position_index[k]
        phase = 0.0 if target.side is Side.RIGHT else 0.5
        if place is not None:
            q[place] = float(target.at(phase))
            v[k] = frequency * target.rate(phase)
    return q, v
