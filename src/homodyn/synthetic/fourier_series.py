"""Periodic curves in continuous time: Fourier series with exact derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class FourierSeries:
    """Curves x(t) = drift t + Σ_k Re(c_k exp(i k ω t)) with ω = 2π/period."""

    period: float
    """s."""
    coefficients: np.ndarray
    """(harmonics + 1, curves), complex; the first row is the mean."""
    drift: np.ndarray
    """(curves,): constant rate of each curve (1/s)."""

    @classmethod
    def from_samples(
        cls, samples: np.ndarray, period: float, *, harmonics: int, drift: np.ndarray | None = None
    ) -> FourierSeries:
        """The first harmonics of curves sampled at t = j period / n, drift included."""
        count = len(samples)
        drift = np.zeros(samples.shape[1]) if drift is None else drift
        wave = samples - np.outer(np.arange(count) * (period / count), drift)
        coefficients = np.fft.rfft(wave, axis=0)[: harmonics + 1] * (2.0 / count)
        coefficients[0] /= 2.0
        return cls(period, coefficients, drift)

    def __call__(self, time: np.ndarray, derivative: int = 0) -> np.ndarray:
        """Values, or derivatives of some order: (times, curves)."""
        rates = 2j * np.pi / self.period * np.arange(len(self.coefficients))
        waves = np.exp(np.outer(time, rates))
        values = (waves @ (rates[:, None] ** derivative * self.coefficients)).real
        if derivative == 0:
            values = values + np.outer(time, self.drift)
        elif derivative == 1:
            values = values + self.drift
        return values


def smooth_step(x: np.ndarray) -> np.ndarray:
    """From 0 at x = 0 to 1 at x = 1, constant outside, with a continuous slope."""
    x = np.clip(x, 0.0, 1.0)
    return x**2 * (3.0 - 2.0 * x)
