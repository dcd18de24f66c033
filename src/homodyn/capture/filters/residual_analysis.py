"""Which cutoff a signal asks for: Winter's residual analysis."""

from __future__ import annotations

import numpy as np

from homodyn.capture.filters.butterworth_filter import lowpass
from homodyn.errors import CaptureError

_CUTOFF_CANDIDATES = 80
"""Cutoffs tried; the answer lies between two of them."""


def suggest_cutoff(
    values: np.ndarray, rate: float, *, order: int = 4, min_cutoff: float = 0.5
) -> np.ndarray | float:
    """Cutoff frequency at which a low-pass distorts the signal as much as it passes noise.

    Residual analysis (Winter, Biomechanics and Motor Control, 4th ed., section 3.4.4.3): R(f), the
    rms of what a filter with cutoff f removes, falls steeply while f cuts into the signal and then
    along a straight line that is noise alone. The line, extrapolated to f = 0, gives the noise
    level; the result is the frequency at which R(f) equals it.

    Args:
        values: Samples along axis 0.
        rate: Sampling rate, Hz.
        order: Order of the filter.
        min_cutoff: Smallest cutoff that is tried, Hz.

    Returns:
        One frequency (Hz) per column, a float for a single signal; NaN for columns that are
        constant or have fewer than 20 samples.

    Raises:
        CaptureError: ``values`` is a single number.
    """
    given = np.asarray(values, dtype=float)
    if given.ndim == 0:
        raise CaptureError("a single number is no signal; samples along axis 0 are expected")
    table = given.reshape(len(given), -1)
    tried = np.geomspace(min_cutoff, 0.45 * rate, _CUTOFF_CANDIDATES)
    residual = np.full((_CUTOFF_CANDIDATES, table.shape[1]), np.nan)
    counted = np.isfinite(table).sum(axis=0)
    enough = counted >= 20
    for step, cutoff in enumerate(tried):
        taken = table[:, enough] - lowpass(table[:, enough], rate, cutoff=cutoff, order=order)
        residual[step, enough] = np.sqrt(np.nansum(taken**2, axis=0) / counted[enough])
    found = np.array([_crossing_frequency(tried, column) for column in residual.T])
    return float(found[0]) if given.ndim == 1 else found.reshape(given.shape[1:])


def _crossing_frequency(tried: np.ndarray, residual: np.ndarray) -> float:
    if not np.isfinite(residual).all() or residual.max() <= 1e-9:
        return float("nan")
    intercept = _noise_intercept(tried, residual)
    below = np.flatnonzero(residual <= intercept)
    if not len(below):
        return float(tried[-1])
    first = int(below[0])
    if first == 0:
        return float(tried[0])
    high, low = residual[first - 1], residual[first]
    share = (high - intercept) / (high - low)
    return float(tried[first - 1] + share * (tried[first] - tried[first - 1]))


def _noise_intercept(tried: np.ndarray, residual: np.ndarray) -> float:
    """Where the straight part of the residual, at high cutoffs, meets the axis of f = 0.

    White noise leaves a residual of sqrt(1 − f / f_max): over the upper middle of the range it is
    close to a line. The stretch that starts lowest while staying straight is taken.
    """
    upper = tried <= 0.8 * tried[-1]
    best = 0.0
    for start in np.flatnonzero(upper & (tried >= 0.15 * tried[-1])):
        stretch = np.zeros_like(upper)
        stretch[start:] = upper[start:]
        if stretch.sum() < 5:
            break
        slope, height = np.polyfit(tried[stretch], residual[stretch], 1)
        line = slope * tried[stretch] + height
        bend = np.abs(line - residual[stretch]).max()
        best = max(float(height), 0.0)
        if bend <= 0.02 * best:
            return best
    return best
