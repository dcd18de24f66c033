"""Events of an attempt: which events fire, and whether the step is cut.

If an event with a tolerance overshot its zero by more than the tolerance, the step is cut at the
linear estimate of the zero (`homodyn.integrate`). Once a crossing was detected, reaching the
tolerance from below counts too; otherwise the rest of the step could cross repeatedly, with ever
shorter cuts. After many cuts the event is accepted as it is, so a run always makes progress.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from homodyn.integrate import cut_fraction, is_located
from homodyn.network.event_conditions import detect_crossing, is_true, is_within_tolerance
from homodyn.network.state_vector import StateParts
from homodyn.network.symbol_table import MonitoredEvent

SPENT_MARK = 2
"""Mark of an event that fired just before its zero and must not fire again at the zero."""
MAX_CUTS_PER_STEP = 200
"""Cuts and immediate events in one step after which an event is accepted as it is."""
MIN_CUT_STEP_FRACTION = 1e-9
"""Shortest cut, as a fraction of the time step."""


@dataclass(frozen=True)
class StepEvents:
    """The effect of events on an attempt."""

    fired: ca.SX
    """Per event, whether it fired."""
    cut_requests: ca.SX
    """Per event, whether it requires a cut."""
    cut: ca.SX
    """Whether the attempt is discarded and the step is cut."""
    fraction: ca.SX
    """Fraction of the attempt after which the step is cut."""


@dataclass(frozen=True)
class AttemptBeginning:
    """The situation in which an attempt begins."""

    starting: ca.SX
    """Whether it is the first attempt of the run."""
    event_before: ca.SX
    """Whether the run starts, or the previous attempt fired an event."""
    current: ca.SX
    """Zero functions now."""
    previous: ca.SX
    """Zero functions before events of the previous attempt."""
    jump: ca.SX
    """Whether events fire now, in an attempt without duration."""


def is_active(watched: MonitoredEvent, e: ca.SX) -> ca.SX:
    """Whether an event is active.

    Args:
        watched: The event.
        e: Event-states of all nodes.

    Returns:
        1 if the node is in an event-state in which the event is monitored, else 0.
    """
    if not watched.event.from_states:
        return ca.SX(1)
    here = ca.SX(0)
    for state in watched.event.from_states:
        here = ca.logic_or(here, ca.eq(e[watched.state_index], watched.node.states.index(state)))
    return here


def any_event_crosses(
    events: Sequence[MonitoredEvent], parts: StateParts, z0: ca.SX, z1: ca.SX
) -> ca.SX:
    """Whether the condition of any active event becomes true.

    Args:
        events: The events.
        parts: Entries of the column.
        z0: Zero functions before.
        z1: Zero functions after.

    Returns:
        1 or 0.
    """
    found = ca.SX(0)
    for number, watched in enumerate(events):
        able = ca.logic_and(is_active(watched, parts["e"]), parts["seen"][number] < SPENT_MARK)
        found = ca.logic_or(
            found, ca.logic_and(able, detect_crossing(watched.condition, z0, z1).crossed)
        )
    return found


def begin_attempt(
    events: Sequence[MonitoredEvent], parts: StateParts, current: ca.SX, *, autonomous: bool
) -> AttemptBeginning:
    """The situation in which an attempt begins.

    Args:
        events: The events.
        parts: Entries of the column.
        current: Zero functions now.
        autonomous: Whether zero functions change by integration and events only, so that those of
            the previous attempt are valid where no event fired.

    Returns:
        The situation.
    """
    starting = parts["k"] + parts["s"] + parts["cuts"] <= 0
    event_before = ca.logic_or(starting, ca.sum1(parts["fired"]) > 0)
    if autonomous:
        current = ca.if_else(event_before, current, parts["z"])
    previous = ca.if_else(starting, current, parts["z"])
    jump = any_event_crosses(events, parts, previous, current)
    jump = ca.logic_and(jump, parts["cuts"] < MAX_CUTS_PER_STEP)
    return AttemptBeginning(starting, event_before, current, previous, jump)


def resolve_events(
    events: Sequence[MonitoredEvent],
    parts: StateParts,
    z0: ca.SX,
    z1: ca.SX,
    jump: ca.SX,
    length: ca.SX,
    dt: ca.SX,
) -> StepEvents:
    """Evaluate the events of an attempt.

    Args:
        events: The events.
        parts: Entries of the column.
        z0: Zero functions at the beginning of the attempt.
        z1: Zero functions at its end.
        jump: Whether the attempt only executes events at the current time; it is never cut.
        length: Length of the attempt (s).
        dt: Time step (s).

    Returns:
        The fired events, and whether the step is cut.
    """
    cut, fraction = ca.SX(0), ca.SX(1)
    fired, cut_requests = [], []
    no_more_cuts = ca.logic_or(jump, parts["cuts"] > MAX_CUTS_PER_STEP)
    for number, watched in enumerate(events):
        seen = parts["seen"][number]
        able = ca.logic_and(is_active(watched, parts["e"]), seen < SPENT_MARK)
        found = detect_crossing(watched.condition, z0, z1)
        occurred, needs_cut = found.crossed, ca.SX(0)
        tolerance = watched.event.tolerance
        if tolerance is not None:
            close = is_within_tolerance(watched.condition, z1, tolerance)
            occurred = ca.logic_or(occurred, ca.logic_and(seen, close))
            accepted = is_located(found.overshoot, tolerance, length, MIN_CUT_STEP_FRACTION * dt)
            accepted = ca.logic_or(accepted, no_more_cuts)
            needs_cut = ca.logic_and(able, ca.logic_and(found.crossed, ca.logic_not(accepted)))
        cut = ca.logic_or(cut, needs_cut)
        fraction = ca.if_else(needs_cut, ca.fmin(fraction, found.fraction), fraction)
        fired.append(ca.logic_and(able, occurred))
        cut_requests.append(needs_cut)
    fraction = cut_fraction(fraction, parts["cuts"])
    if not fired:
        return StepEvents(ca.SX(0), ca.SX(0), cut, fraction)
    return StepEvents(ca.vertcat(*fired), ca.vertcat(*cut_requests), cut, fraction)


def next_event_marks(
    events: Sequence[MonitoredEvent], seen: ca.SX, step_events: StepEvents, z: ca.SX, forget: ca.SX
) -> ca.SX:
    """Marks of events for the next attempt.

    An event that fired just before its zero must not fire again at the zero itself: it is spent
    until its condition is true or no longer within the tolerance.

    Args:
        events: The events.
        seen: Current marks.
        step_events: The events of the attempt.
        z: Zero functions at the end of the attempt.
        forget: Whether detected crossings are cleared.

    Returns:
        Per event 1 if a crossing was detected in this step, `SPENT_MARK` if it is spent, else 0.
    """
    keep = ca.logic_not(step_events.cut)
    result = []
    for number, watched in enumerate(events):
        before, needs_cut = seen[number], step_events.cut_requests[number]
        tolerance = watched.event.tolerance
        if tolerance is None:
            result.append(ca.SX(0))
            continue
        short = ca.logic_and(
            ca.logic_not(is_true(watched.condition, z)),
            is_within_tolerance(watched.condition, z, tolerance),
        )
        marked = ca.if_else(forget, 0, ca.logic_or(before, needs_cut))
        marked = ca.if_else(ca.logic_and(step_events.fired[number], short), SPENT_MARK, marked)
        spent = ca.if_else(ca.logic_and(keep, ca.logic_not(short)), 0, SPENT_MARK)
        open_next = ca.if_else(keep, marked, ca.logic_or(before, needs_cut))
        result.append(ca.if_else(before >= SPENT_MARK, spent, open_next))
    return ca.vertcat(*result) if result else ca.SX(0)
