"""Choice of a cutoff frequency by Winter's residual analysis."""

from __future__ import annotations

import numpy as np

from homodyn.capture.filters.butterworth_filter import lowpass
from homodyn.errors import CaptureError

_CUTOFF_CANDIDATES = 80
"""Number of cutoffs that are evaluated; the result is interpolated between two of them."""


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
        raise CaptureError("got a single number; a signal with samples along axis 0 is expected")
    table = given.reshape(len(given), -1)
    cutoffs = np.geomspace(min_cutoff, 0.45 * rate, _CUTOFF_CANDIDATES)
    residual = np.full((_CUTOFF_CANDIDATES, table.shape[1]), np.nan)
    counted = np.isfinite(table).sum(axis=0)
    enough = counted >= 20
    for step, cutoff in enumerate(cutoffs):
        removed = table[:, enough] - lowpass(table[:, enough], rate, cutoff=cutoff, order=order)
        residual[step, enough] = np.sqrt(np.nansum(removed**2, axis=0) / counted[enough])
    found = np.array([_crossing_frequency(cutoffs, column) for column in residual.T])
    return float(found[0]) if given.ndim == 1 else found.reshape(given.shape[1:])


def _crossing_frequency(cutoffs: np.ndarray, residual: np.ndarray) -> float:
    """Frequency (Hz) at which the residual equals the noise level."""
    if not np.isfinite(residual).all() or residual.max() <= 1e-9:
        return float("nan")
    intercept = _noise_intercept(cutoffs, residual)
    below = np.flatnonzero(residual <= intercept)
    if not len(below):
        return float(cutoffs[-1])
    first = int(below[0])
    if first == 0:
        return float(cutoffs[0])
    high, low = residual[first - 1], residual[first]
    share = (high - intercept) / (high - low)
    return float(cutoffs[first - 1] + share * (cutoffs[first] - cutoffs[first - 1]))


def _noise_intercept(cutoffs: np.ndarray, residual: np.ndarray) -> float:
    """Intercept at f = 0 of the line through the residuals at high cutoffs.

    White noise leaves a residual of sqrt(1 − f / f_max), which is nearly linear over the upper
    middle of the range. The line uses the widest range that is straight.
    """
    upper = cutoffs <= 0.8 * cutoffs[-1]
    best = 0.0
    for start in np.flatnonzero(upper & (cutoffs >= 0.15 * cutoffs[-1])):
        fitted = np.zeros_like(upper)
        fitted[start:] = upper[start:]
        if fitted.sum() < 5:
            break
        slope, height = np.polyfit(cutoffs[fitted], residual[fitted], 1)
        line = slope * cutoffs[fitted] + height
        deviation = np.abs(line - residual[fitted]).max()
        best = max(float(height), 0.0)
        if deviation <= 0.02 * best:
            return best
    return best
