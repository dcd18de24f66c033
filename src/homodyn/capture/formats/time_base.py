"""Instants of a table turned into a steady rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.errors import FormatError


@dataclass(frozen=True, eq=False)
class TimeBase:
    """Equally spaced instants that a column of times stands for."""

    start: float
    """Time of the first sample (s)."""
    rate: float
    """Samples per second (Hz)."""
    sample_indices: np.ndarray
    """Number of the sample that each row is; a jump means that rows are missing."""
    notes: tuple[str, ...] = ()

    def expand_rows(self, values: np.ndarray) -> np.ndarray:
        """Rows put at their places, NaN where a row is missing."""
        if len(self.sample_indices) == self.sample_indices[-1] + 1:
            return values
        full = np.full((int(self.sample_indices[-1]) + 1, *values.shape[1:]), np.nan)
        full[self.sample_indices] = values
        return full


def fit_time_base(time: np.ndarray, path: str, *, said: float | None = None) -> TimeBase:
    """The clock behind a column of times, which may be rounded and may lack rows.

    ``said`` is the rate that the file states (Hz); it holds where the times agree with it.
    """
    if not len(time):
        raise FormatError("the table has no rows; export it again", path)
    if not np.isfinite(time).all():
        row = int(np.flatnonzero(~np.isfinite(time))[0]) + 1
        raise FormatError("the time is missing; every row needs one", path, f"row {row}")
    if len(time) == 1:
        return TimeBase(float(time[0]), said or 1.0, np.zeros(1, dtype=int))
    steps = np.diff(time)
    if (steps <= 0.0).any():
        row = int(np.flatnonzero(steps <= 0.0)[0]) + 2
        raise FormatError(
            f"time goes from {time[row - 2]:g} s to {time[row - 1]:g} s; "
            "rows must be in the order of time, each instant once",
            path,
            f"row {row}",
        )
    notes = []
    rate = _simplest_rate(time, said, path)
    if said and abs(rate - said) > 1e-6 * said:
        notes.append(f"the file says {said:g} Hz, its times {rate:g} Hz; the times hold")
    places = np.rint((time - time[0]) * rate).astype(int)
    if gaps := int(places[-1]) + 1 - len(places):
        notes.append(f"{gaps} rows are missing between the times given; they are read as not seen")
    return TimeBase(float(time[0]), rate, places, tuple(notes))


def _simplest_rate(time: np.ndarray, said: float | None, path: str) -> float:
    """The simplest rate that explains the times nearly as well as the best one does."""
    # Times of three decimals make steps of 16 and 17 ms: the whole span knows the rate better.
    span = (len(time) - 1) / float(time[-1] - time[0])
    step = 1.0 / float(np.median(np.diff(time)))
    guesses = [said or 0.0, round(span), round(step), round(span, 2), round(step, 2), span, step]
    misses = [_rate_misfit(time, guess) for guess in guesses]
    best = min(misses)
    if not np.isfinite(best):
        raise FormatError(
            "the times are not equally spaced; resample the table to a steady rate", path
        )
    chosen = next(guess for guess, miss in zip(guesses, misses, strict=True) if miss <= best + 0.02)
    tidy = round(chosen, 3)
    return float(tidy if abs(chosen - tidy) < 1e-9 * tidy else chosen)


def _rate_misfit(time: np.ndarray, rate: float) -> float:
    """Mean distance of the times from the samples of a rate, in samples; infinite if it is not one.

    Each instant must be nearest to a sample of its own, and most must follow the one before.
    """
    if rate <= 0.0:
        return np.inf
    exact = (time - time[0]) * rate
    places = np.rint(exact)
    off = np.abs(exact - places)
    steps = np.diff(places)
    if (
        off.max() > 0.3
        or (steps < 1).any()
        or np.median(steps) > 1
        or places[-1] >= 100 * len(time)
    ):
        return np.inf
    return float(off.mean())
