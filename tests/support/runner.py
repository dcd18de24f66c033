"""A running HeiMan, computed: legs of a walker with flight, and a bounce with a foot impact.

The vertical force of each stance is a half sine with an impact transient in its first part, as
force plates show it under heel strikers; the height of the pelvis is its double integral.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.capture import Trial
from homodyn.motion import ForcePlate
from support import strolls
from support.walker import Walker

GRAVITY_M_S2 = 9.81
IMPACT_WEIGHTS, IMPACT_TIME_S, IMPACT_WIDTH_S = 0.8, 0.03, 0.012
PLATE_RATE_HZ = 1000.0
HALF_WIDTH_M = 0.083


@dataclass(frozen=True)
class Runner(Walker):
    """A run along X; stances of both feet never overlap."""

    speed: float = 3.0
    period: float = 0.66
    stance: float = 0.29
    first: float = 0.05
    duration: float = 2.0
    rate: float = 200.0
    roll: float = 0.07
    rise: float = 0.15
    hip_height: float = 0.80
    toe_up: float = 0.2
    toe_down: float = 0.7
    mass: float = strolls.MASS

    def stance_force(self, time: np.ndarray) -> np.ndarray:
        """(samples,): vertical force of the stance that contains each instant (N)."""
        half = self.period / 2
        since = np.mod(time - self.first, half)
        return self._one_step(since) * self.mass * GRAVITY_M_S2 / self._mean_step()

    def _one_step(self, since: np.ndarray) -> np.ndarray:
        length = self.stance * self.period
        push = np.where(since < length, np.sin(np.pi * np.minimum(since, length) / length), 0.0)
        impact = np.exp(-(((since - IMPACT_TIME_S) / IMPACT_WIDTH_S) ** 2))
        return 2.2 * push + IMPACT_WEIGHTS * impact * (since < length)

    def _mean_step(self) -> float:
        return float(self._one_step(np.linspace(0, self.period / 2, 4000, endpoint=False)).mean())

    def hip_heights(self, time: np.ndarray) -> np.ndarray:
        """(frames,), m: the double integral of the force, about the mean height."""
        half = self.period / 2
        grid = np.linspace(0.0, half, 2048, endpoint=False)
        acceleration = self.stance_force(self.first + grid) / self.mass - GRAVITY_M_S2
        rates = 2 * np.pi * np.fft.rfftfreq(len(grid), grid[1])
        spectrum = np.fft.rfft(acceleration)
        spectrum[0] = 0.0
        spectrum[1:] /= -(rates[1:] ** 2)
        height = np.fft.irfft(spectrum, len(grid))
        return self.hip_height + np.interp(
            np.mod(time - self.first, half), grid, height, period=half
        )

    def plates(self) -> tuple[ForcePlate, ...]:
        """A long plate under each foot."""
        time = self.start + np.arange(round(self.duration * PLATE_RATE_HZ)) / PLATE_RATE_HZ
        step = np.floor((time - self.first) / (self.period / 2)).astype(int)
        force = self.stance_force(time)
        found = []
        for k, side in enumerate(("right", "left")):
            own = np.where(step % 2 == k, force, 0.0)
            strike = self.first + step * self.period / 2
            forward = self.speed * (strike - self.first) + 0.33 + 0.0 * time
            lateral = np.full_like(time, -HALF_WIDTH_M if side == "right" else HALF_WIDTH_M)
            point = np.column_stack([forward, lateral, 0.0 * time])
            zeros = 0.0 * time
            found.append(
                ForcePlate(
                    f"plate {k + 1}",
                    PLATE_RATE_HZ,
                    np.column_stack([zeros, zeros, own]),
                    point,
                    np.zeros((len(time), 3)),
                )
            )
        return tuple(found)

    def recording(self) -> Trial:
        """What cameras and plates record of the run."""
        motion = strolls.fitted(self)
        return Trial("run", motion.markers, motion.measured, motion.rate, plates=self.plates())
