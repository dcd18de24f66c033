"""Footsteps of steady walking: step length, width, cadence, stance and double support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.motion import Side
from homodyn.synthetic.fourier_series import smooth_step

STRIKE_PHASES = {Side.RIGHT: 0.0, Side.LEFT: 0.5}
"""Phase of the stride of the right foot at which each foot strikes."""


@dataclass(frozen=True)
class Footsteps:
    """Steps of steady straight walking along X; the right foot strikes at time zero.

    The phase u of a foot counts strides from its strike: the foot is in stance while u modulo 1 is
    below ``stance``. The left foot is half a stride behind.
    """

    step_length: float
    """Distance along X from the strike of one foot to that of the other (m)."""
    width: float
    """Lateral distance between the ankles (m)."""
    speed: float
    """m/s."""
    stance: float
    """Fraction of the stride in which a foot is on the ground, above one half."""
    toe_out: float
    """Angle of each foot from the direction of walking (rad)."""
    origin: float = 0.0
    """Position along X of the right ankle after its strike at time zero (m)."""

    @property
    def stride_length(self) -> float:
        """Distance from one strike of a foot to its next (m)."""
        return 2.0 * self.step_length

    @property
    def period(self) -> float:
        """Duration of one stride (s)."""
        return self.stride_length / self.speed

    @property
    def cadence(self) -> float:
        """Steps per minute."""
        return 120.0 / self.period

    @property
    def double_support(self) -> float:
        """Fraction of the stride from a strike to the foot off of the other foot."""
        return self.stance - 0.5

    def phase(self, side: Side, time: np.ndarray) -> np.ndarray:
        """Strides since a strike of that foot; integers at strikes."""
        return np.asarray(time) / self.period - STRIKE_PHASES[side]

    def in_stance(self, side: Side, time: np.ndarray) -> np.ndarray:
        """True where that foot is on the ground."""
        phase = self.phase(side, time)
        return phase - np.floor(phase) < self.stance

    def ankle(self, side: Side, strike: np.ndarray) -> np.ndarray:
        """Position of the ankle of the flat foot after its n-th strike, (..., 2), m."""
        strike = np.asarray(strike, float)
        x = self.origin + (strike + STRIKE_PHASES[side]) * self.stride_length
        return np.stack([x, np.full_like(x, side.sign * self.width / 2)], -1)

    def yaw(self, side: Side) -> float:
        """Rotation of that foot about the vertical (rad)."""
        return side.sign * self.toe_out

    def share(self, side: Side, time: np.ndarray) -> np.ndarray:
        """Fraction of the weight on that foot; the load is transferred during double support."""
        phase = self.phase(side, time)
        u = phase - np.floor(phase)
        loading = smooth_step(u / self.double_support)
        unloading = smooth_step((u - 0.5) / self.double_support)
        return loading - unloading

    def strikes(self, side: Side, first: float, last: float) -> np.ndarray:
        """Times of the foot strikes between two times (s)."""
        return self._event_times(STRIKE_PHASES[side], first, last)

    def offs(self, side: Side, first: float, last: float) -> np.ndarray:
        """Times of the foot offs between two times (s)."""
        return self._event_times(STRIKE_PHASES[side] + self.stance, first, last)

    def _event_times(self, phase: float, first: float, last: float) -> np.ndarray:
        begin = np.ceil(first / self.period - phase)
        end = np.floor(last / self.period - phase)
        return (np.arange(begin, end + 1) + phase) * self.period
