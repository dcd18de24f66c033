"""What the events of a network make of an attempt: which fire, and whether the step is cut.

If an event with a tolerance passed its zero too far, the step is cut where a straight line puts it
(`homodyn.integrate`). Once a crossing has been seen, coming within the tolerance from before counts
too: else the rest of the step could cross again and again, cut ever shorter. After many cuts the
event is taken as it is, so a run always goes on.
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
MAX_CUTS_PER_STEP = 200
"""Cuts and instant events in one step before an event is taken as it is."""
MIN_CUT_STEP_FRACTION = 1e-9
"""Share of a step below which it is not cut."""


@dataclass(frozen=True)
class StepEvents:
    """Per event whether it ``fired`` and whether it ``wants`` a cut; what becomes of the step."""

    fired: ca.SX
    wants: ca.SX
    cut: ca.SX
    share: ca.SX
    """Of the attempt that is to be tried next, where there is a cut."""


def is_active(watched: MonitoredEvent, e: ca.SX) -> ca.SX:
    """Whether the node of an event is in a state that the event begins in."""
    if not watched.event.from_states:
        return ca.SX(1)
    here = ca.SX(0)
    for state in watched.event.from_states:
        here = ca.logic_or(here, ca.eq(e[watched.state_index], watched.node.states.index(state)))
    return here


def any_event_crosses(
    events: Sequence[MonitoredEvent], parts: StateParts, z0: ca.SX, z1: ca.SX
) -> ca.SX:
    """Whether any event comes true from one set of watched values to another."""
    found = ca.SX(0)
    for number, watched in enumerate(events):
        able = ca.logic_and(is_active(watched, parts["e"]), parts["seen"][number] < SPENT_MARK)
        found = ca.logic_or(
            found, ca.logic_and(able, detect_crossing(watched.condition, z0, z1).crossed)
        )
    return found


def resolve_events(
    events: Sequence[MonitoredEvent],
    parts: StateParts,
    z0: ca.SX,
    z1: ca.SX,
    jump: ca.SX,
    length: ca.SX,
    dt: ca.SX,
) -> StepEvents:
    """What events make of an attempt of some ``length`` (s); none is cut in a ``jump``."""
    some, share = ca.SX(0), ca.SX(1)
    fired, wants = [], []
    spent_all = ca.logic_or(jump, parts["cuts"] > MAX_CUTS_PER_STEP)
    for number, watched in enumerate(events):
        seen = parts["seen"][number]
        able = ca.logic_and(is_active(watched, parts["e"]), seen < SPENT_MARK)
        found = detect_crossing(watched.condition, z0, z1)
        happened, wanted = found.crossed, ca.SX(0)
        tolerance = watched.event.tolerance
        if tolerance is not None:
            close = is_within_tolerance(watched.condition, z1, tolerance)
            happened = ca.logic_or(happened, ca.logic_and(seen, close))
            enough = is_located(found.overshoot, tolerance, length, MIN_CUT_STEP_FRACTION * dt)
            enough = ca.logic_or(enough, spent_all)
            wanted = ca.logic_and(able, ca.logic_and(found.crossed, ca.logic_not(enough)))
        some = ca.logic_or(some, wanted)
        share = ca.if_else(wanted, ca.fmin(share, found.fraction), share)
        fired.append(ca.logic_and(able, happened))
        wants.append(wanted)
    share = cut_fraction(share, parts["cuts"])
    if not fired:
        return StepEvents(ca.SX(0), ca.SX(0), some, share)
    return StepEvents(ca.vertcat(*fired), ca.vertcat(*wants), some, share)


def next_event_marks(
    events: Sequence[MonitoredEvent], seen: ca.SX, verdict: StepEvents, z: ca.SX, forget: ca.SX
) -> ca.SX:
    """1 for events whose crossing was seen in this step, 2 for those that are spent.

    An event that fired just before its zero must not fire again at the zero itself: it is spent
    until its condition is true, or no longer near.
    """
    keep = ca.logic_not(verdict.cut)
    result = []
    for number, watched in enumerate(events):
        before, wanted = seen[number], verdict.wants[number]
        tolerance = watched.event.tolerance
        if tolerance is None:
            result.append(ca.SX(0))
            continue
        short = ca.logic_and(
            ca.logic_not(is_true(watched.condition, z)),
            is_within_tolerance(watched.condition, z, tolerance),
        )
        marked = ca.if_else(forget, 0, ca.logic_or(before, wanted))
        marked = ca.if_else(ca.logic_and(verdict.fired[number], short), SPENT_MARK, marked)
        spent = ca.if_else(ca.logic_and(keep, ca.logic_not(short)), 0, SPENT_MARK)
        open_next = ca.if_else(keep, marked, ca.logic_or(before, wanted))
        result.append(ca.if_else(before >= SPENT_MARK, spent, open_next))
    return ca.vertcat(*result) if result else ca.SX(0)
