"""Location of the first event in a step of an event-driven run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from homodyn.integrate import cut_fraction, is_located, secant_fraction
from homodyn.simulate.rigid.contact_modes import CLOSING_DEPTH, MAX_REST_SPEED, ContactModes
from homodyn.simulate.rigid.contact_state import ContactMotion, ContactState

SAMPLE_FRACTIONS = (0.0, 0.25, 0.5, 0.75, 1.0)
DUE_FRACTION = 0.05
"""Fraction of its threshold below which an event occurs; rounding may end a step before zero."""
TOLERANCE_FRACTION = 1e-2
"""Fraction of its threshold by which an event function may be beyond zero at a located event."""
MIN_BRACKET_S = 1e-16
"""Shortest interval that is divided."""
MAX_BISECTIONS = 80
MAX_LEAVING_GAP_M = 1e-6
"""Gap below which an open contact that moves away has just left."""


@dataclass(frozen=True, eq=False)
class StepInterval:
    """A step of an event-driven run."""

    motions_at: Callable[[np.ndarray], ContactMotion]
    """Evaluates state vectors, (n, entries)."""
    states: Callable[[np.ndarray], np.ndarray]
    """State vectors at fractions of the step (n,), by interpolation, (n, entries)."""
    h: float
    """Length (s)."""

    def at(self, *fractions: float) -> ContactMotion:
        """The motion at fractions of the step."""
        return self.motions_at(self.states(np.array(fractions)))


class LocatedEvents(NamedTuple):
    """The fraction of a step at which events occur, and a mask of the events."""

    fraction: float
    events: np.ndarray


def scaled_events(modes: ContactModes, state: ContactState | ContactMotion) -> np.ndarray:
    """Event functions in units of their thresholds, (..., events)."""
    return modes.events(state) / _thresholds(len(modes.closed), modes.contacts + len(modes.moving))


@lru_cache
def _thresholds(touch: int, speeds: int) -> np.ndarray:
    thresholds = np.concatenate([np.full(touch, CLOSING_DEPTH), np.full(speeds, MAX_REST_SPEED)])
    thresholds.setflags(write=False)
    return thresholds


def motion_events(modes: ContactModes) -> np.ndarray:
    """A mask of the events of open contacts and limits that close, and of slip that ends."""
    return np.concatenate([~modes.closed, modes.sliding, np.zeros(len(modes.moving), bool)])


def first_event(
    interval: StepInterval, modes: ContactModes, considered: np.ndarray | None = None
) -> tuple[LocatedEvents | None, ContactMotion]:
    """The fraction of a step just past the first event, and the events; None without one.

    The step is sampled in quarters. Within one the distances of contacts are interpolated by
    cubics, so that a contact that penetrates the surface and leaves it again is detected.

    Args:
        interval: The step.
        modes: The modes at its start.
        considered: A mask of the events to locate; all by default.

    Returns:
        The events, and the motion at the end of the step.
    """
    samples = interval.at(*SAMPLE_FRACTIONS)
    values = scaled_events(modes, samples)
    if considered is not None:
        values[:, ~considered] = 1.0
    positive = np.logical_or.accumulate(values > 0)[:-1]
    crossed = positive & (values[1:] < 0)
    dips = _deepest_fractions(modes, samples, interval.h)
    for k in sorted({*np.nonzero(crossed.any(1))[0].tolist(), *dips}):
        low, high = SAMPLE_FRACTIONS[k : k + 2]
        if crossed[k].any():
            return _locate(interval, modes, low, high, crossed[k]), samples[-1]
        deepest = low + dips[k] * (high - low)
        at_deepest = scaled_events(modes, interval.at(deepest))[0] < 0
        if considered is not None:
            at_deepest &= considered
        if (positive[k] & at_deepest).any():
            return _locate(interval, modes, low, deepest, positive[k] & at_deepest), samples[-1]
    return None, samples[-1]


def flight_time(state: ContactState, slope: np.ndarray, modes: ContactModes) -> float:
    """Maximum step (s) after contacts have just opened: half of their flight time."""
    nq, nv = len(state.q), len(state.v)
    rows = modes.normal_rows()
    leaving = ~modes.closed & (state.gap < MAX_LEAVING_GAP_M) & (state.speed[rows] > 0)
    if not leaving.any():
        return float(np.inf)
    rate = (state.G @ slope[nq : nq + nv] + state.drift)[rows]
    returning = leaving & (rate < 0)
    return float(np.min(-state.speed[rows][returning] / rate[returning], initial=np.inf))


def _deepest_fractions(
    modes: ContactModes, samples: ContactMotion, length: float
) -> dict[int, float]:
    """Fractions between samples at which an open contact is deepest, where it penetrates."""
    rows = modes.normal_rows()
    h = length * np.diff(SAMPLE_FRACTIONS)[:, None]
    before, after = samples.gap[:-1], samples.gap[1:]
    fall, rise = h * samples.speed[:-1, rows], h * samples.speed[1:, rows]
    dips = ~modes.closed & (fall < 0) & (rise > 0) & (before > 0) & (after > 0)
    found: dict[int, float] = {}
    for i, k in zip(*np.nonzero(dips), strict=True):
        if i in found:
            continue
        # Zero slope of the cubic with these ends and slopes.
        a, b, down, up = before[i, k], after[i, k], fall[i, k], rise[i, k]
        u, w = down + up - 2 * (b - a), 3 * (b - a) - 2 * down - up
        for s in np.roots([3 * u, 2 * w, down]):
            fraction = float(s.real)
            inside = np.isreal(s) and 0 < fraction < 1
            if inside and a + fraction * (down + fraction * (w + fraction * u)) < 0:
                found[int(i)] = fraction
    return found


def _locate(
    interval: StepInterval, modes: ContactModes, low: float, high: float, crossed: np.ndarray
) -> LocatedEvents:
    """The fraction between two just past the first of the crossed events, and the events there."""

    def value(fraction: float) -> float:
        return float(scaled_events(modes, interval.at(fraction))[0, crossed].min())

    at_low, at_high = value(low), value(high)
    for tries in range(MAX_BISECTIONS):
        if is_located(-at_high, TOLERANCE_FRACTION, (high - low) * interval.h, MIN_BRACKET_S):
            break
        cut = cut_fraction(secant_fraction(at_low, at_high - at_low), tries) if at_low > 0 else 0.5
        middle = low + cut * (high - low)
        at_middle = value(middle)
        if at_middle < 0:
            high, at_high = middle, at_middle
        else:
            low, at_low = middle, at_middle
    fraction = max(high, 1e-12)
    due = scaled_events(modes, interval.at(fraction))[0] < DUE_FRACTION
    return LocatedEvents(fraction, crossed & due)
