"""Where in a step of an event-driven run the first event lies."""

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
from homodyn.simulate.rigid.contact_state import ContactState

QUARTERS = (0.25, 0.5, 0.75, 1.0)
DUE_FRACTION = 0.05
"""Of its threshold: an event function below this is met; rounding may end a step before zero."""
TOLERANCE_FRACTION = 1e-2
"""Of its threshold: how far beyond zero an event function may be when it is met."""
MIN_BRACKET_S = 1e-16
"""Stretch (s) that is not cut any more."""


@dataclass(frozen=True, eq=False)
class StepInterval:
    """A step from ``y`` with its ``slope``, over ``h`` (s); ``split`` makes states of vectors."""

    state_at: Callable[[np.ndarray], ContactState]
    y: np.ndarray
    slope: np.ndarray
    step: EmbeddedStep
    h: float

    def at(self, share: float) -> ContactState:
        """The state at a share of the step, on the cubic through its ends."""
        reached = self.step
        return self.state_at(
            hermite_interpolation(share, self.h, self.y, self.slope, reached.y, reached.slope)
        )


class LocatedEvents(NamedTuple):
    """The share of a step at which events are met, and which they are."""

    share: float
    events: np.ndarray


def scaled_events(modes: ContactModes, state: ContactState) -> np.ndarray:
    """Event functions in units of their thresholds."""
    values = modes.events(state)
    touch = len(modes.closed)
    return np.concatenate([values[:touch] / CLOSING_DEPTH, values[touch:] / MAX_REST_SPEED])


def first_event(
    stretch: StepInterval, modes: ContactModes, end: ContactState
) -> LocatedEvents | None:
    """The share of a step at which the first event is just past, and which; None without one.

    The step is looked at in quarters; within one the distances of contacts are taken for
    cubics, so that a contact that dips below the surface and comes out again is seen.
    """
    before = stretch.state_at(stretch.y)
    low = 0.0
    armed = scaled_events(modes, before) > 0
    for share in QUARTERS:
        there = end if share == 1.0 else stretch.at(share)
        now = scaled_events(modes, there)
        crossed = armed & (now < 0)
        if crossed.any():
            return _locate(stretch, modes, low, share, crossed)
        dip = _deepest_fraction(modes, before, there, stretch.h * (share - low))
        if dip is not None:
            deep = low + dip * (share - low)
            crossed = armed & (scaled_events(modes, stretch.at(deep)) < 0)
            if crossed.any():
                return _locate(stretch, modes, low, deep, crossed)
        armed |= now > 0
        before, low = there, share
    return None


def flight_time(state: ContactState, slope: np.ndarray, modes: ContactModes) -> float:
    """The longest step (s) that contacts which just left allow: half of a small flight."""
    nq, nv = len(state.q), len(state.v)
    rows = modes.normal_rows()
    leaving = ~modes.closed & (state.gap < 1e-6) & (state.speed[rows] > 0)
    if not leaving.any():
        return float(np.inf)
    rate = (state.G @ slope[nq : nq + nv] + state.drift)[rows]
    back = leaving & (rate < 0)
    return float(np.min(-state.speed[rows][back] / rate[back], initial=np.inf))


def _deepest_fraction(
    modes: ContactModes, before: ContactState, after: ContactState, h: float
) -> float | None:
    """Where between two states an open contact is deepest, if that is below the surface."""
    rows = modes.normal_rows()
    a, b = before.gap, after.gap
    fall, rise = h * before.speed[rows], h * after.speed[rows]
    for k in np.nonzero(~modes.closed & (fall < 0) & (rise > 0) & (a > 0) & (b > 0))[0]:
        # c' = 0 of the cubic with these ends and slopes.
        u, w = fall[k] + rise[k] - 2 * (b[k] - a[k]), 3 * (b[k] - a[k]) - 2 * fall[k] - rise[k]
        for s in np.roots([3 * u, 2 * w, fall[k]]):
            if np.isreal(s) and 0 < s.real < 1:
                share = float(s.real)
                if a[k] + share * (fall[k] + share * (w + share * u)) < 0:
                    return share
    return None


def _locate(
    stretch: StepInterval, modes: ContactModes, low: float, high: float, crossed: np.ndarray
) -> LocatedEvents:
    """The share between two at which the first of the crossed events is just past, and which."""

    def value(share: float) -> float:
        return float(scaled_events(modes, stretch.at(share))[crossed].min())

    at_low, at_high = value(low), value(high)
    for tries in range(80):
        if is_located(-at_high, TOLERANCE_FRACTION, (high - low) * stretch.h, MIN_BRACKET_S):
            break
        share = (
            cut_fraction(secant_fraction(at_low, at_high - at_low), tries) if at_low > 0 else 0.5
        )
        middle = low + share * (high - low)
        at_middle = value(middle)
        if at_middle < 0:
            high, at_high = middle, at_middle
        else:
            low, at_low = middle, at_middle
    share = max(high, 1e-12)
    return LocatedEvents(share, crossed & (scaled_events(modes, stretch.at(share)) < DUE_FRACTION))
