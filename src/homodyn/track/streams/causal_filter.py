"""A causal filter with a stated delay, with velocities and accelerations.

A parabola is fitted to the last samples of each marker by least squares, and evaluated at a fixed
time before the newest sample: the delay. With half the window as delay it is the filter of Savitzky
and Golay (1964); with delay zero it extrapolates nothing, but passes more noise. Uneven times and
missing samples are part of the fit.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record

POLYNOMIAL_DEGREE = 2
MIN_SAMPLES = POLYNOMIAL_DEGREE + 1


@record
class FilteredMarkers(Record):
    """Markers at one instant, NaN where they are not known."""

    time: float
    """s, the newest sample minus the delay."""
    positions: np.ndarray
    """(markers, 3), m."""
    velocities: np.ndarray
    """(markers, 3), m/s."""
    accelerations: np.ndarray
    """(markers, 3), m/s^2."""


class CausalFilter:
    """Parabolas through the last samples of markers.

    Args:
        window_s: Length of the window (s); at least three samples are used. 0: positions pass
            unchanged, derivatives are those of the last three samples.
        delay_s: Delay (s) of the result; half the window by default.

    Raises:
        CaptureError: A time is negative, or the delay exceeds the window.
    """

    def __init__(self, window_s: float = 0.05, delay_s: float | None = None) -> None:
        chosen = 0.5 * window_s if delay_s is None else delay_s
        if not 0.0 <= chosen <= window_s < 10.0:
            raise CaptureError(
                f"a filter with a window of {window_s} s and a delay of {chosen} s is not possible;"
                " the delay is between 0 and the window, which is below 10 s"
            )
        self.window_s, self.delay_s = window_s, chosen
        self._samples: deque[tuple[float, np.ndarray]] = deque()

    def reset(self) -> None:
        """Forget all samples."""
        self._samples.clear()

    def add(self, time_s: float, positions: np.ndarray) -> FilteredMarkers:
        """Add a sample and evaluate the parabolas.

        Args:
            time_s: Time (s), later than that of the sample before.
            positions: (markers, 3), m; NaN where a marker is not seen.

        Returns:
            Positions and derivatives at ``time_s - delay_s``. A marker is known there if it has
            three samples in the window, or one at the newest time.
        """
        self._samples.append((time_s, np.array(positions, dtype=float)))
        first = time_s - self.window_s - 1e-9
        while len(self._samples) > MIN_SAMPLES and self._samples[0][0] < first:
            self._samples.popleft()
        # At the beginning the window is shorter, and so is the possible delay.
        delay_s = min(self.delay_s, time_s - self._samples[0][0])
        times = np.array([time for time, _ in self._samples]) - (time_s - delay_s)
        values = np.stack([sample for _, sample in self._samples])
        seen = np.isfinite(values).all(-1)
        terms = _fit_parabolas(times, values, seen)
        newest = values[-1]
        known = seen.sum(0) >= MIN_SAMPLES
        if self.window_s == 0.0:
            positions_now = newest
        else:
            positions_now = np.where(known[:, None], terms[0], newest)
        slopes = np.where(known[:, None], terms[1], np.nan)
        bends = np.where(known[:, None], 2.0 * terms[2], np.nan)
        # A marker that disappeared is not extrapolated beyond its last sample.
        gone = ~np.where(seen, times[:, None] >= -1e-9, False).any(0)
        for rows in (positions_now, slopes, bends):
            rows[gone] = np.nan
        return FilteredMarkers(time_s - delay_s, positions_now, slopes, bends)


def _fit_parabolas(times: np.ndarray, values: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Coefficients (3, markers, 3) of least-squares parabolas through the seen samples.

    ``times`` (samples,) are scaled, so that the normal equations are well conditioned.
    """
    scale = max(float(np.abs(times).max()), 1e-6)
    powers = (times / scale)[:, None] ** np.arange(POLYNOMIAL_DEGREE + 1)
    weights = seen.astype(float)
    normal = np.einsum("ti,tm,tj->mij", powers, weights, powers)
    normal += 1e-12 * np.eye(POLYNOMIAL_DEGREE + 1)
    right = np.einsum("ti,tm,tmx->mix", powers, weights, np.nan_to_num(values))
    solved = np.linalg.solve(normal, right)
    return np.moveaxis(solved, 1, 0) / scale ** np.arange(POLYNOMIAL_DEGREE + 1)[:, None, None]
