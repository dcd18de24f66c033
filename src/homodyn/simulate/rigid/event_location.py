"""Location of the first event in a step of an event-driven run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from homodyn.integrate import (
    EmbeddedStep,
    cut_fraction,
    hermite_interpolation,
    is_located,
    secant_fraction,
)
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

    motions_at: Callable[[np.ndarray], list[ContactMotion]]
    """Evaluates state vectors, (n, entries)."""
    y: np.ndarray
    """State vector at the start."""
    slope: np.ndarray
    """Its rate."""
    step: EmbeddedStep
    h: float
    """Length (s)."""

    def at(self, *fractions: float) -> list[ContactMotion]:
        """The motion at fractions of the step, on the cubic through its ends."""
        end = self.step
        return self.motions_at(
            np.array(
                [
                    hermite_interpolation(fraction, self.h, self.y, self.slope, end.y, end.slope)
                    for fraction in fractions
                ]
            )
        )


class LocatedEvents(NamedTuple):
    """The fraction of a step at which events occur, and a mask of the events."""

    fraction: float
    events: np.ndarray


def scaled_events(modes: ContactModes, state: ContactState | ContactMotion) -> np.ndarray:
    """Event functions in units of their thresholds."""
    values = modes.events(state)
    touch = len(modes.closed)
    return np.concatenate([values[:touch] / CLOSING_DEPTH, values[touch:] / MAX_REST_SPEED])


def first_event(interval: StepInterval, modes: ContactModes) -> LocatedEvents | None:
    """The fraction of a step just past the first event, and the events; None without one.

    The step is sampled in quarters. Within one the distances of contacts are interpolated by
    cubics, so that a contact that penetrates the surface and leaves it again is detected.
    """
    before, *samples = interval.at(*SAMPLE_FRACTIONS)
    low = 0.0
    positive = scaled_events(modes, before) > 0
    for fraction, motion in zip(SAMPLE_FRACTIONS[1:], samples, strict=True):
        values = scaled_events(modes, motion)
        crossed = positive & (values < 0)
        if crossed.any():
            return _locate(interval, modes, low, fraction, crossed)
        dip = _deepest_fraction(modes, before, motion, interval.h * (fraction - low))
        if dip is not None:
            deepest = low + dip * (fraction - low)
            crossed = positive & (scaled_events(modes, interval.at(deepest)[0]) < 0)
            if crossed.any():
                return _locate(interval, modes, low, deepest, crossed)
        positive |= values > 0
        before, low = motion, fraction
    return None


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


def _deepest_fraction(
    modes: ContactModes, before: ContactMotion, after: ContactMotion, h: float
) -> float | None:
    """Fraction between two states at which an open contact is deepest, if it penetrates."""
    rows = modes.normal_rows()
    a, b = before.gap, after.gap
    fall, rise = h * before.speed[rows], h * after.speed[rows]
    for k in np.nonzero(~modes.closed & (fall < 0) & (rise > 0) & (a > 0) & (b > 0))[0]:
        # Zero slope of the cubic with these ends and slopes.
        u, w = fall[k] + rise[k] - 2 * (b[k] - a[k]), 3 * (b[k] - a[k]) - 2 * fall[k] - rise[k]
        for s in np.roots([3 * u, 2 * w, fall[k]]):
            if np.isreal(s) and 0 < s.real < 1:
                fraction = float(s.real)
                if a[k] + fraction * (fall[k] + fraction * (w + fraction * u)) < 0:
                    return fraction
    return None


def _locate(
    interval: StepInterval, modes: ContactModes, low: float, high: float, crossed: np.ndarray
) -> LocatedEvents:
    """The fraction between two just past the first of the crossed events, and the events there."""

    def value(fraction: float) -> float:
        return float(scaled_events(modes, interval.at(fraction)[0])[crossed].min())

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
    due = scaled_events(modes, interval.at(fraction)[0]) < DUE_FRACTION
    return LocatedEvents(fraction, crossed & due)
