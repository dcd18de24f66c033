"""Where and when the feet stand: step length, width, cadence, stance and double support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.synthetic.fourier_series import smooth_step

SIDES = ("Right", "Left")
_PHASE = {"Right": 0.0, "Left": 0.5}
_OUTWARDS = {"Right": -1.0, "Left": 1.0}


@dataclass(frozen=True)
class Footsteps:
    """Steps of steady straight walking along X; the right foot strikes at time zero.

    Phases u count strides of one foot from its strike: the foot stands while u modulo 1 is below
    ``stance``. The left foot is half a stride behind.
    """

    step_length: float
    """From one foot's strike to the other's, along X (m)."""
    width: float
    """Between the lines on which the ankles stand (m)."""
    speed: float
    """m/s."""
    stance: float
    """Part of the stride a foot is on the ground, above one half."""
    toe_out: float
    """Angle of each foot with the line of walking (rad)."""
    origin: float = 0.0
    """Where along X the right ankle stands after its strike at time zero (m)."""

    @property
    def stride_length(self) -> float:
        """From one strike of a foot to its next (m)."""
        return 2.0 * self.step_length

    @property
    def period(self) -> float:
        """Time of one stride (s)."""
        return self.stride_length / self.speed

    @property
    def cadence(self) -> float:
        """Steps per minute."""
        return 120.0 / self.period

    @property
    def double_support(self) -> float:
        """Part of the stride from a strike to the other foot's off."""
        return self.stance - 0.5

    def phase(self, side: str, time: np.ndarray) -> np.ndarray:
        """Strides since a strike of that foot, whole numbers at strikes."""
        return np.asarray(time) / self.period - _PHASE[side]

    def in_stance(self, side: str, time: np.ndarray) -> np.ndarray:
        """True where that foot is on the ground."""
        phase = self.phase(side, time)
        return phase - np.floor(phase) < self.stance

    def ankle(self, side: str, strike: np.ndarray) -> np.ndarray:
        """Where the ankle of the flat foot stands after its n-th strike, (..., 2), m."""
        strike = np.asarray(strike, float)
        x = self.origin + (strike + _PHASE[side]) * self.stride_length
        return np.stack([x, np.full_like(x, _OUTWARDS[side] * self.width / 2)], -1)

    def yaw(self, side: str) -> float:
        """Turn of that foot about the vertical (rad)."""
        return _OUTWARDS[side] * self.toe_out

    def share(self, side: str, time: np.ndarray) -> np.ndarray:
        """Part of the weight on that foot: it takes over, and gives back, in double support."""
        phase = self.phase(side, time)
        u = phase - np.floor(phase)
        taken = smooth_step(u / self.double_support)
        given = smooth_step((u - 0.5) / self.double_support)
        return taken - given

    def strikes(self, side: str, first: float, last: float) -> np.ndarray:
        """Instants between two (s) at which that foot comes to the ground."""
        return self._instants(_PHASE[side], first, last)

    def offs(self, side: str, first: float, last: float) -> np.ndarray:
        """Instants between two (s) at which that foot leaves the ground."""
        return self._instants(_PHASE[side] + self.stance, first, last)

    def _instants(self, phase: float, first: float, last: float) -> np.ndarray:
        begin = np.ceil(first / self.period - phase)
        end = np.floor(last / self.period - phase)
        return (np.arange(begin, end + 1) + phase) * self.period
