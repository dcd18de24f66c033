"""Choice of a cutoff frequency by Winter's residual analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from homodyn.capture.filters.butterworth_filter import lowpass
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record

_CUTOFF_CANDIDATES = 80
"""Number of cutoffs that are evaluated; the result is interpolated between two of them."""
AUTO_CUTOFF_RANGE_HZ = (4.0, 20.0)
"""Cutoffs (Hz) that are chosen for a whole movement. Lower ones distort walking; higher ones pass
the vibration of soft tissue, which residual analysis takes for signal (engineering bounds)."""
_MAX_FRAMES_ANALYZED = 1000
"""Samples that a choice for a whole recording uses: those with the fastest movement."""


@record(eq=True)
class CutoffChoice(Record):
    """A cutoff frequency for all markers of a recording, by residual analysis."""

    cutoff: float
    """Hz: the median over all signals, within `AUTO_CUTOFF_RANGE_HZ`."""
    low: float
    """Hz: 10 % of the signals suggest less."""
    high: float
    """Hz: 10 % of the signals suggest more."""
    by_name: Mapping[str, float]
    """By marker, the median (Hz) of its directions; markers that do not move are left out."""
    median: float
    """Hz: the median over all signals, without bounds."""

    @property
    def limited(self) -> bool:
        """Whether a bound decided: the data have little noise, or were filtered before."""
        return self.cutoff != self.median

    @property
    def sentence(self) -> str:
        """The choice and its reason, in words."""
        text = (
            f"cutoff {self.cutoff:.3g} Hz by residual analysis (Winter): 80 % of the marker "
            f"coordinates suggest {self.low:.3g} to {self.high:.3g} Hz"
        )
        if self.limited and self.cutoff < self.median:
            return (
                f"{text}; more than {self.cutoff:g} Hz is not used: the markers have little noise, "
                "or were filtered before"
            )
        return f"{text}; less than {self.cutoff:g} Hz is not used" if self.limited else text


def choose_cutoff(values: np.ndarray, rate: float, names: Sequence[str] = ()) -> CutoffChoice:
    """One cutoff for all signals of a recording: the median of their residual analyses.

    The filter of inverse dynamics must be the same for all segments and for the forces, since
    different ones would turn impacts into torques (Kristianslund et al. 2012, J. Biomech. 45:666).

    Args:
        values: (frames, markers, 3) or (frames, columns).
        rate: Sampling rate, Hz.
        names: Names of the markers or columns.

    Returns:
        The choice, with the suggestions by marker.

    Raises:
        CaptureError: No signal moves, or all are shorter than 20 samples.
    """
    given = np.asarray(values, dtype=float)
    found = np.atleast_1d(suggest_cutoff(given[_fastest_frames(given)], rate))
    each = [row[np.isfinite(row)] for row in found.reshape(len(found), -1)]
    known = np.concatenate(each)
    if not known.size:
        raise CaptureError(
            "no cutoff can be chosen: no signal has 20 samples or more and moves; pass a frequency"
        )
    low, median, high = (float(x) for x in np.percentile(known, [10, 50, 90]))
    bounds = (AUTO_CUTOFF_RANGE_HZ[0], min(AUTO_CUTOFF_RANGE_HZ[1], 0.4 * rate))
    labels = tuple(names) or tuple(str(k) for k in range(len(each)))
    return CutoffChoice(
        cutoff=float(np.clip(median, *bounds)),
        low=low,
        high=high,
        by_name={n: float(np.median(row)) for n, row in zip(labels, each, strict=True) if row.size},
        median=median,
    )


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


def _fastest_frames(values: np.ndarray) -> slice:
    """The run of `_MAX_FRAMES_ANALYZED` samples with the largest sum of squared steps."""
    count = _MAX_FRAMES_ANALYZED
    if len(values) <= count:
        return slice(None)
    steps = np.nansum(np.diff(values.reshape(len(values), -1), axis=0) ** 2, axis=1)
    total = np.concatenate([[0.0], np.cumsum(steps)])
    first = int(np.argmax(total[count - 1 :] - total[: len(total) - count + 1]))
    return slice(first, first + count)


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
