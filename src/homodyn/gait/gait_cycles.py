"""Gait cycles: strides of a side, and time series normalized to 0-100 % of each stride."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.interpolate import PchipInterpolator

from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.foundation.time_series import new_axes, require_pandas
from homodyn.model.side import Side
from homodyn.motion import FOOT_OFF, FOOT_STRIKE, Event

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes as PlotAxes

CYCLE_POINTS = 101
"""Points of a normalized cycle: one per percent."""
MAX_JOINT_LANDING_S = 0.08
"""Both feet that strike, or leave the ground, within this time (s) do so together: in the fastest
sprints steps last longer than 0.2 s (Mero, Komi and Gregor 1992, Sports Med. 13)."""
MAX_STRIDE_RATIO = 1.6
"""A stride longer than this multiple of the median contains an undetected foot strike."""


@record(eq=True)
class Stride(Record):
    """From one strike of a foot to its next (s)."""

    side: Side
    """The foot."""
    start: float
    """Time of the first strike (s)."""
    end: float
    """Time of the next strike (s)."""
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
    """The side of the strides."""
    strides: tuple[Stride, ...]
    """The strides, one per cycle."""
    percent: np.ndarray
    """(points,), 0 to 100."""
    values: np.ndarray
    """(cycles, points, ...), in the unit of the series; NaN where it had a gap."""
    complete: np.ndarray
    """(cycles,): False where a cycle has gaps; such cycles are left out of mean and sd."""
    notes: tuple[str, ...] = ()
    """Strides that were left out, and why."""
    name: str = ""
    """Name of the quantity; empty where it is not known."""
    unit: str = ""
    """Unit of the values; empty where it is not known."""

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
        """Quantity, side and number of cycles."""
        complete = int(self.complete.sum())
        count = f"{count_of(len(self.strides), f'{self.side} cycle')}, {complete} complete"
        return f"{self._title}: {count}" if self.name else count

    def to_pandas(self) -> pd.DataFrame:
        """The cycles as a data frame over percent of the gait cycle.

        Returns:
            One column per cycle, then mean and standard deviation of the complete cycles (where
            there are any); a series with several components has these columns for each.

        Raises:
            HomodynError: pandas is not installed.
        """
        pandas = require_pandas()
        unit = f" ({self.unit})" if self.unit else ""
        rows = {f"cycle {k + 1}": values for k, values in enumerate(self.values)}
        if self.complete.any():
            rows |= {"mean": self.mean, "sd": self.sd}
        parts = {
            f"{label}{suffix}{unit}": values
            for label, cycle in rows.items()
            for suffix, values in _components(cycle)
        }
        return pandas.DataFrame(parts, index=pandas.Index(self.percent, name="gait cycle (%)"))

    def plot(self, ax: PlotAxes | None = None) -> PlotAxes:
        """Draw mean and standard deviation over the gait cycle, and each cycle as a thin line.

        The right side is red and the left side blue; a dashed vertical line is the mean foot off.
        A series with several components has one mean curve for each.

        Args:
            ax: Matplotlib axes to draw into; new ones when left out.

        Returns:
            The axes.

        Raises:
            CaptureError: There is no cycle, or all cycles have gaps.
        """
        mean, sd = self.mean, self.sd
        ax = ax or new_axes()
        label = self.name or f"{self.side} side"
        if mean.ndim == 1:
            color = self.side.color
            ax.plot(self.percent, self._complete_values.T, color=color, linewidth=0.6, alpha=0.5)
            ax.fill_between(self.percent, mean - sd, mean + sd, color=color, alpha=0.2, linewidth=0)
            ax.plot(self.percent, mean, color=color, linewidth=2, label=label)
        else:
            for suffix, values in _components(mean):
                ax.plot(self.percent, values, label=f"{label}{suffix}")
        if len(self.foot_off_percent):
            ax.axvline(float(self.foot_off_percent.mean()), color=self.side.color, linestyle="--")
        ax.set_xlim(0, 100)
        ax.set_xlabel("gait cycle (%)")
        ax.set_ylabel(self._title)
        ax.legend()
        return ax

    @property
    def _title(self) -> str:
        """Name and unit of the quantity."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @cached_property
    def _complete_values(self) -> np.ndarray:
        if not len(self.strides):
            raise CaptureError(f"there is no {self.side} cycle, so there is no mean")
        if not self.complete.any():
            raise CaptureError(
                f"all {self.side} cycles have gaps, so there is no mean; "
                "fill the gaps of the series first, or use `values`"
            )
        return self.values[self.complete]


def _components(values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Suffix and values of each component of a series (points, ...)."""
    if values.ndim == 1:
        return [("", values)]
    places = np.ndindex(values.shape[1:])
    return [(f" {' '.join(map(str, place))}", values[(slice(None), *place)]) for place in places]


def event_times(events: Iterable[Event], side: str, label: str) -> list[float]:
    """Times (s) of one kind of event of one side, in increasing order."""
    chosen = parse_side(side)
    return sorted(e.time for e in events if e.label == label and e.context.lower() == chosen)


def parse_side(side: str) -> Side:
    """The side that a word states, in any case of letters."""
    try:
        return Side(side.lower())
    except ValueError:
        raise CaptureError(f"no side {side!r}; accepted: left, right") from None


def joint_landings(events: Iterable[Event]) -> list[float]:
    """Times at which both feet land together, as after a jump.

    Args:
        events: Foot strikes and foot offs.

    Returns:
        Times (s) of the strikes of both sides, in increasing order.
    """
    return _simultaneous_times(tuple(events), FOOT_STRIKE)


def step_events(events: Iterable[Event]) -> tuple[Event, ...]:
    """The events of steps, without those of both feet together, which belong to jumps.

    Args:
        events: Foot strikes and foot offs.

    Returns:
        The events of steps, in their order.
    """
    listed = tuple(events)
    jumps = {label: _simultaneous_times(listed, label) for label in (FOOT_STRIKE, FOOT_OFF)}
    return tuple(event for event in listed if event.time not in jumps.get(event.label, ()))


def _simultaneous_times(events: Sequence[Event], label: str) -> list[float]:
    """Times of the events of one kind that both feet have together."""
    left, right = (np.array(event_times(events, side, label)) for side in (Side.LEFT, Side.RIGHT))
    together = np.abs(left[:, None] - right) <= MAX_JOINT_LANDING_S
    return sorted({*left[together.any(axis=1)].tolist(), *right[together.any(axis=0)].tolist()})


def strides(events: Sequence[Event], side: str) -> list[Stride]:
    """The strides of a side: pairs of consecutive foot strikes.

    Pairs much longer than the median are left out: a strike between them was not detected. So are
    pairs that begin or end with a landing of both feet together, which is part of a jump.

    Args:
        events: Foot strikes and foot offs.
        side: ``"left"`` or ``"right"``.

    Returns:
        Strides in order of time.

    Raises:
        CaptureError: The side is neither left nor right.
    """
    strikes = event_times(events, side, FOOT_STRIKE)
    offs = event_times(events, side, FOOT_OFF)
    landings = joint_landings(events)
    found = [
        Stride(parse_side(side), a, b, next((t for t in offs if a < t < b), None))
        for a, b in pairwise(strikes)
        if a not in landings and b not in landings
    ]
    median = float(np.median([s.duration for s in found])) if found else 0.0
    return [s for s in found if s.duration <= MAX_STRIDE_RATIO * median]


def normalize_cycles(
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
    all_strides = strides(events, side)
    # An event between the last sample and half a sample later is still within the recording.
    kept = [
        s for s in all_strides if s.start >= time[0] - sample / 2 and s.end <= time[-1] + sample / 2
    ]
    notes = []
    if not kept:
        reason = "none lies within the series"
        if not all_strides:
            reason = "no two strikes follow each other"
        notes.append(f"There is no {side} cycle: {reason}.")
    elif len(kept) < len(all_strides):
        outside = count_of(len(all_strides) - len(kept), f"{side} cycle")
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
    complete = finite.all(axis=1)
    if np.array_equal(finite.any(axis=1), complete) and complete.sum() > 1:
        groups: list[tuple[np.ndarray | slice, np.ndarray]] = [(slice(None), complete)]
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
