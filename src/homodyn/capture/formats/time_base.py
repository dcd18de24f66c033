"""Constant rate behind the times of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.errors import FormatError
from homodyn.foundation.text import count_of


@dataclass(frozen=True, eq=False)
class TimeBase:
    """Equally spaced times behind a column of times."""

    start: float
    """Time of the first sample (s)."""
    rate: float
    """Samples per second (Hz)."""
    sample_indices: np.ndarray
    """Index of the sample of each row; a step above 1 means that rows are missing."""
    notes: tuple[str, ...] = ()

    def expand_rows(self, values: np.ndarray) -> np.ndarray:
        """Rows at their samples, NaN where a row is missing."""
        if len(self.sample_indices) == self.sample_indices[-1] + 1:
            return values
        full = np.full((int(self.sample_indices[-1]) + 1, *values.shape[1:]), np.nan)
        full[self.sample_indices] = values
        return full


def fit_time_base(time: np.ndarray, path: str, *, stated_rate: float | None = None) -> TimeBase:
    """The time base of a column of times, which may be rounded and may lack rows.

    Args:
        time: (rows,), s.
        path: The file, for messages.
        stated_rate: The rate that the file states (Hz); it is used if the times agree with it.

    Raises:
        FormatError: The times are missing, not increasing or not equally spaced.
    """
    if not len(time):
        raise FormatError("the table has no rows; export it again", path)
    if not np.isfinite(time).all():
        row = int(np.flatnonzero(~np.isfinite(time))[0]) + 1
        raise FormatError("the time is missing; every row needs one", path, f"row {row}")
    if len(time) == 1:
        return TimeBase(float(time[0]), stated_rate or 1.0, np.zeros(1, dtype=int))
    steps = np.diff(time)
    if (steps <= 0.0).any():
        row = int(np.flatnonzero(steps <= 0.0)[0]) + 2
        raise FormatError(
            f"time goes from {time[row - 2]:g} s to {time[row - 1]:g} s; "
            "times must increase from row to row",
            path,
            f"row {row}",
        )
    notes = []
    rate = _simplest_rate(time, stated_rate, path)
    if stated_rate and abs(rate - stated_rate) > 1e-6 * stated_rate:
        notes.append(
            f"the file states {stated_rate:g} Hz, its times are at {rate:g} Hz; the times are used"
        )
    samples = np.rint((time - time[0]) * rate).astype(int)
    if gaps := int(samples[-1]) + 1 - len(samples):
        is_, they = ("is", "it is") if gaps == 1 else ("are", "they are")
        notes.append(f"{count_of(gaps, 'row')} {is_} missing; {they} read as not seen")
    return TimeBase(float(time[0]), rate, samples, tuple(notes))


def _simplest_rate(time: np.ndarray, stated: float | None, path: str) -> float:
    """The simplest rate (Hz) that fits the times nearly as well as the best one."""
    # With three decimals, steps are 16 and 17 ms: the whole span gives the rate more precisely.
    span = (len(time) - 1) / float(time[-1] - time[0])
    step = 1.0 / float(np.median(np.diff(time)))
    candidates = [
        stated or 0.0,
        round(span),
        round(step),
        round(span, 2),
        round(step, 2),
        span,
        step,
    ]
    misfits = [_rate_misfit(time, rate) for rate in candidates]
    best = min(misfits)
    if not np.isfinite(best):
        raise FormatError(
            "the times are not equally spaced; resample the table to a constant rate", path
        )
    chosen = next(
        rate for rate, misfit in zip(candidates, misfits, strict=True) if misfit <= best + 0.02
    )
    rounded = round(chosen, 3)
    return float(rounded if abs(chosen - rounded) < 1e-9 * rounded else chosen)


def _rate_misfit(time: np.ndarray, rate: float) -> float:
    """Mean distance of the times from the samples of a rate, in samples; infinite if it is wrong.

    Each time must have a nearest sample of its own, and most samples must be consecutive.
    """
    if rate <= 0.0:
        return np.inf
    exact = (time - time[0]) * rate
    samples = np.rint(exact)
    distance = np.abs(exact - samples)
    steps = np.diff(samples)
    if (
        distance.max() > 0.3
        or (steps < 1).any()
        or np.median(steps) > 1
        or samples[-1] >= 100 * len(time)
    ):
        return np.inf
    return float(distance.mean())
