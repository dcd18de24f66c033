"""Gait cycles: strides of a side, series brought to 0-100 % of them, and how alike two are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.interpolate import PchipInterpolator

from homodyn.errors import CaptureError
from homodyn.motion import Event

CYCLE_POINTS = 101
MAX_STRIDE_RATIO = 1.6
"""A stride longer than this many times the median has lost a foot strike."""


@dataclass(frozen=True)
class Stride:
    """From one strike of a foot to its next (s)."""

    side: str
    start: float
    end: float
    foot_off: float | None
    """When the foot left the ground in between; None when no event says."""

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.end - self.start


@dataclass(frozen=True, eq=False)
class GaitCycles:
    """A series over the strides of one side, each stretched to the same 101 instants."""

    side: str
    strides: tuple[Stride, ...]
    percent: np.ndarray
    """(points,), 0 to 100."""
    values: np.ndarray
    """(cycles, points, ...), in the unit of the series; NaN where it had a gap."""
    complete: np.ndarray
    """(cycles,): False where a cycle has gaps; it then counts neither in the mean nor in the sd."""
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
        """Where in each cycle the foot leaves the ground (%), of the cycles that tell."""
        told = [(s.foot_off - s.start) / s.duration for s in self.strides if s.foot_off is not None]
        return 100.0 * np.array(told)

    @cached_property
    def _complete_values(self) -> np.ndarray:
        if not self.complete.any():
            raise CaptureError(
                f"none of the {len(self.strides)} {self.side} cycles is without a gap, so there is "
                "no mean; fill the gaps of the series first, or look at `values`"
            )
        return self.values[self.complete]


def event_times(events: Iterable[Event], side: str, label: str) -> list[float]:
    """Instants (s) of one kind of event of one side, in the order of time."""
    wanted = side.lower()
    if wanted not in ("left", "right"):
        raise CaptureError(f"no side {side!r}; accepted: left, right")
    return sorted(e.time for e in events if e.label == label and e.context.lower() == wanted)


def strides(events: Sequence[Event], side: str) -> list[Stride]:
    """The strides of a side: pairs of strikes that follow each other.

    Pairs much longer than the median are left out: between them a strike was not seen.
    """
    strikes = event_times(events, side, "Foot Strike")
    offs = event_times(events, side, "Foot Off")
    found = [
        Stride(side.lower(), a, b, next((t for t in offs if a < t < b), None))
        for a, b in pairwise(strikes)
    ]
    usual = float(np.median([s.duration for s in found])) if found else 0.0
    return [s for s in found if s.duration <= MAX_STRIDE_RATIO * usual]


def cycles(
    time: np.ndarray,
    values: np.ndarray,
    events: Sequence[Event],
    side: str,
    *,
    points: int = CYCLE_POINTS,
) -> GaitCycles:
    """A series over time cut into the strides of a side and stretched to 0-100 % of each.

    ``values`` is (samples, ...): angles, torques, powers, forces, envelopes. Between samples run
    monotone cubics (PCHIP): smooth, and no overshoot beside the steps of a force. NaN are gaps:
    points of a cycle within one are NaN and the cycle is flagged in ``complete``.
    """
    time = np.asarray(time, dtype=float)
    values = np.asarray(values, dtype=float)
    if len(time) != len(values) or len(time) < 2:
        raise CaptureError(
            f"cycles needs one row of values for each instant, got {len(values)} rows for "
            f"{len(time)} instants"
        )
    if np.any(np.diff(time) <= 0):
        raise CaptureError("the instants of a series to cut into cycles must increase")
    sample = float(np.median(np.diff(time)))
    whole = strides(events, side)
    # An event between the last sample and half a sample later is still within the recording.
    kept = [s for s in whole if s.start >= time[0] - sample / 2 and s.end <= time[-1] + sample / 2]
    notes = []
    if not kept:
        reason = "no two strikes follow each other" if not whole else "none lies within the series"
        notes.append(f"There is no {side.lower()} cycle: {reason}.")
    elif len(kept) < len(whole):
        notes.append(f"{len(whole) - len(kept)} {side.lower()} cycles lie outside of the series.")
    percent = np.linspace(0.0, 100.0, points)
    made = np.empty((len(kept), points, *values.shape[1:]))
    for k, stride in enumerate(kept):
        when = np.clip(stride.start + percent / 100 * stride.duration, time[0], time[-1])
        made[k] = _resample(time, values, when)
    complete = np.array([np.isfinite(cycle).all() for cycle in made], dtype=bool)
    gaps = int((~complete).sum())
    if gaps:
        notes.append(f"{gaps} of {len(kept)} {side.lower()} cycles have gaps and are not averaged.")
    return GaitCycles(side.lower(), tuple(kept), percent, made, complete, tuple(notes))


def _resample(time: np.ndarray, values: np.ndarray, when: np.ndarray) -> np.ndarray:
    """Values at other instants; NaN beside missing samples."""
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


@dataclass(frozen=True)
class Similarity:
    """How far a motion is from a reference; zero for the same."""

    posture: float
    """Mean squared difference of the coordinates (rad2, m2)."""
    duration: float
    """Squared difference of the durations (s2)."""

    @property
    def total(self) -> float:
        """Sum of both."""
        return self.posture + self.duration


def similarity(
    q: np.ndarray,
    reference: np.ndarray,
    *,
    durations: tuple[float, float],
    samples: int = 100,
) -> Similarity:
    """Distance of two steps by posture and by duration (Felis 2015, eq. 6.1, corrected).

    ``d = sum_i |q(t_i) - q_ref(t_i)|^2 / (m n) + (T - T_ref)^2`` over m equidistant instants from
    the first to the last of each, n coordinates. The printed halves are not in the printed numbers
    of table 6.5, and the printed grid ends behind the motion; neither is kept.
    ``q`` and ``reference`` are (frames, n) with frames spread evenly over the ``durations`` (s).
    """
    ours, theirs = np.atleast_2d(np.asarray(q, float)), np.atleast_2d(np.asarray(reference, float))
    if ours.shape[1:] != theirs.shape[1:]:
        raise CaptureError(
            f"motions of {ours.shape[1]} and {theirs.shape[1]} coordinates cannot be compared"
        )
    if not (np.isfinite(ours).all() and np.isfinite(theirs).all()):
        raise CaptureError("motions with gaps cannot be compared; choose complete cycles")
    apart = _resample_evenly(ours, samples) - _resample_evenly(theirs, samples)
    return Similarity(float(np.mean(apart**2)), float((durations[0] - durations[1]) ** 2))


def _resample_evenly(values: np.ndarray, samples: int) -> np.ndarray:
    if len(values) == samples:
        return values
    if len(values) < 2:
        raise CaptureError("a motion to compare needs two frames at least")
    grid = np.linspace(0.0, 1.0, len(values))
    return np.asarray(PchipInterpolator(grid, values)(np.linspace(0.0, 1.0, samples)))
