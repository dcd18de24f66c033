"""Gait cycles: strides of a side, and time series normalized to 0-100 % of each stride."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.interpolate import PchipInterpolator

from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.model.side import Side
from homodyn.motion import Event

CYCLE_POINTS = 101
"""Points of a normalized cycle: one per percent."""
MAX_STRIDE_RATIO = 1.6
"""A stride longer than this multiple of the median contains an undetected foot strike."""


@record(eq=True)
class Stride(Record):
    """From one strike of a foot to its next (s)."""

    side: Side
    start: float
    end: float
    foot_off: float | None
    """Time of the foot off in between (s); None when there is no such event."""

    @property
    def duration(self) -> float:
        """Duration (s)."""
        return self.end - self.start

    def headline(self) -> str:
        """Side and times."""
        return f"{self.side} stride from {self.start:.3f} to {self.end:.3f} s"


@record
class GaitCycles(Record):
    """A time series over the strides of one side, each normalized to 101 points."""

    side: Side
    strides: tuple[Stride, ...]
    percent: np.ndarray
    """(points,), 0 to 100."""
    values: np.ndarray
    """(cycles, points, ...), in the unit of the series; NaN where it had a gap."""
    complete: np.ndarray
    """(cycles,): False where a cycle has gaps; such cycles are left out of mean and sd."""
    notes: tuple[str, ...] = ()

    @property
    def mean(self) -> np.ndarray:
        """Mean over the complete cycles, (points, ...)."""
        return np.asarray(self._complete_values.mean(axis=0))

    @property
    def sd(self) -> np.ndarray:
        """Standard deviation over the complete cycles (n - 1), zero for a single one."""
        whole = self._complete_values
        return whole.std(axis=0, ddof=1) if len(whole) > 1 else np.zeros(whole.shape[1:])

    @property
    def foot_off_percent(self) -> np.ndarray:
        """Foot off of each cycle (%), of the cycles that have that event."""
        shares = [
            (s.foot_off - s.start) / s.duration for s in self.strides if s.foot_off is not None
        ]
        return 100.0 * np.array(shares)

    def headline(self) -> str:
        """Side and number of cycles."""
        complete = int(self.complete.sum())
        return f"{count_of(len(self.strides), f'{self.side} cycle')}, {complete} complete"

    @cached_property
    def _complete_values(self) -> np.ndarray:
        if not self.complete.any():
            raise CaptureError(
                f"all {self.side} cycles have gaps, so there is no mean; "
                "fill the gaps of the series first, or use `values`"
            )
        return self.values[self.complete]


def event_times(events: Iterable[Event], side: str, label: str) -> list[float]:
    """Times (s) of one kind of event of one side, in increasing order."""
    wanted = parse_side(side)
    return sorted(e.time for e in events if e.label == label and e.context.lower() == wanted)


def parse_side(side: str) -> Side:
    """The side that a word states, in any case of letters."""
    try:
        return Side(side.lower())
    except ValueError:
        raise CaptureError(f"no side {side!r}; accepted: left, right") from None


def strides(events: Sequence[Event], side: str) -> list[Stride]:
    """The strides of a side: pairs of consecutive foot strikes.

    Pairs much longer than the median are left out: a strike between them was not detected.

    Args:
        events: Foot strikes and foot offs.
        side: ``"left"`` or ``"right"``.

    Returns:
        Strides in order of time.

    Raises:
        CaptureError: The side is neither left nor right.
    """
    strikes = event_times(events, side, "Foot Strike")
    offs = event_times(events, side, "Foot Off")
    found = [
        Stride(parse_side(side), a, b, next((t for t in offs if a < t < b), None))
        for a, b in pairwise(strikes)
    ]
    median = float(np.median([s.duration for s in found])) if found else 0.0
    return [s for s in found if s.duration <= MAX_STRIDE_RATIO * median]


def cycles(
    time: np.ndarray,
    values: np.ndarray,
    events: Sequence[Event],
    side: str,
    *,
    points: int = CYCLE_POINTS,
) -> GaitCycles:
    """Cut a time series into the strides of a side and normalize each to 0-100 %.

    Samples are interpolated by monotone cubics (PCHIP), which are smooth and do not overshoot at
    the steps of a force.

    Args:
        time: (samples,), s, increasing.
        values: (samples, ...): angles, torques, powers, forces or envelopes; NaN marks gaps.
        events: Foot strikes and foot offs.
        side: ``"left"`` or ``"right"``.
        points: Points per cycle.

    Returns:
        The cycles. Points inside a gap are NaN, and such a cycle is not ``complete``.

    Raises:
        CaptureError: Times and values do not match, times do not increase, or the side is unknown.
    """
    side = parse_side(side)
    time = np.asarray(time, dtype=float)
    values = np.asarray(values, dtype=float)
    if len(time) != len(values) or len(time) < 2:
        raise CaptureError(
            f"cycles needs one row of values per time, got {len(values)} rows for {len(time)} times"
        )
    if np.any(np.diff(time) <= 0):
        raise CaptureError("the times of a series to cut into cycles must increase")
    sample = float(np.median(np.diff(time)))
    whole = strides(events, side)
    # An event between the last sample and half a sample later is still within the recording.
    kept = [s for s in whole if s.start >= time[0] - sample / 2 and s.end <= time[-1] + sample / 2]
    notes = []
    if not kept:
        reason = "no two strikes follow each other" if not whole else "none lies within the series"
        notes.append(f"There is no {side} cycle: {reason}.")
    elif len(kept) < len(whole):
        outside = count_of(len(whole) - len(kept), f"{side} cycle")
        notes.append(f"{outside} outside the time range of the series.")
    percent = np.linspace(0.0, 100.0, points)
    resampled = np.empty((len(kept), points, *values.shape[1:]))
    for k, stride in enumerate(kept):
        when = np.clip(stride.start + percent / 100 * stride.duration, time[0], time[-1])
        resampled[k] = _resample(time, values, when)
    complete = np.array([np.isfinite(cycle).all() for cycle in resampled], dtype=bool)
    gaps = int((~complete).sum())
    if gaps:
        notes.append(
            f"{gaps} of {count_of(len(kept), f'{side} cycle')} not averaged because of gaps."
        )
    return GaitCycles(side, tuple(kept), percent, resampled, complete, tuple(notes))


def _resample(time: np.ndarray, values: np.ndarray, when: np.ndarray) -> np.ndarray:
    """Values at other times; NaN next to missing samples."""
    flat = values.reshape(len(time), -1)
    result = np.full((len(when), flat.shape[1]), np.nan)
    after = np.clip(np.searchsorted(time, when, side="left"), 1, len(time) - 1)
    finite = np.isfinite(flat)
    alike = finite.all(axis=1)
    if np.array_equal(finite.any(axis=1), alike) and alike.sum() > 1:
        groups: list[tuple[np.ndarray | slice, np.ndarray]] = [(slice(None), alike)]
    else:
        groups = [(np.array([c]), finite[:, c]) for c in range(flat.shape[1])]
    for columns, known in groups:
        if known.sum() < 2:
            continue
        filled = PchipInterpolator(time[known], flat[known][:, columns], extrapolate=False)(when)
        on_sample = np.isclose(time[after], when, rtol=0, atol=1e-9) & known[after]
        gap = ~(known[after - 1] & known[after]) & ~on_sample
        filled[gap] = np.nan
        result[:, columns] = filled
    return result.reshape(len(when), *values.shape[1:])
