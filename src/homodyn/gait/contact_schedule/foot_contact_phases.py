"""The contact schedule of a recorded walk: which parts of the feet are on the ground, and when.

During stance a foot rolls over its heel, is flat, and rotates about its toes (Felis 2015, section
4.7). Events give the beginning and the end of stance; the roll of the foot separates its phases.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

import numpy as np

from homodyn.dynamics import ConstraintSet, PointContact, RollingSphere, position
from homodyn.dynamics.contacts import edge_contact, flat_foot
from homodyn.errors import CaptureError, ModelError
from homodyn.foundation.record import Record, record
from homodyn.gait.contact_schedule.foot_roll import (
    find_foot_roll,
    flat_level,
    stance_frames,
)
from homodyn.gait.events import find_events
from homodyn.model import Model
from homodyn.motion import FOOT_OFF, FOOT_STRIKE, Event, Motion, Side

FOOT_POINTS = ("Heel", "Hallux", "Meta5")
MIN_PHASE_DURATION_S = 0.015
"""Contacts that last less are not a phase of their own."""


class FootContact(StrEnum):
    """The part of one foot that is on the ground."""

    SWING = "swing"
    """None: the foot is in the air."""
    HEEL = "heel"
    """The heel."""
    FLAT = "flat"
    """The whole sole."""
    FOREFOOT = "forefoot"
    """The toes."""


@record(eq=True)
class FootContactPhase(Record):
    """A time span with constant contacts of both feet."""

    begin: float
    """s."""
    end: float
    """s."""
    right: FootContact
    """Contact of the right foot."""
    left: FootContact
    """Contact of the left foot."""
    confidence: float = 1.0
    """0 to 1: how clearly heel, sole and toes were distinguished; that of the less certain foot."""

    def headline(self) -> str:
        """Time span and contacts."""
        return f"FootContactPhase {self.begin:.3f} to {self.end:.3f} s: {self.name}"

    @property
    def name(self) -> str:
        """Contacts of both feet in words, such as ``"right flat and left heel"``."""
        parts = [
            f"{side} {contact}"
            for side, contact in self.feet.items()
            if contact is not FootContact.SWING
        ]
        return " and ".join(parts) or "flight"

    @property
    def feet(self) -> dict[Side, FootContact]:
        """The contact of each foot, the right one first."""
        return {Side.RIGHT: self.right, Side.LEFT: self.left}

    @property
    def double_support(self) -> bool:
        """Whether both feet are on the ground."""
        return FootContact.SWING not in self.feet.values()

    @property
    def duration(self) -> float:
        """Length of the time span (s)."""
        return self.end - self.begin

    @property
    def contacts(self) -> ConstraintSet:
        """The contact constraints of both feet."""
        parts = [
            foot_constraints(side, contact)
            for side, contact in self.feet.items()
            if contact is not FootContact.SWING
        ]
        return ConstraintSet(tuple(parts))

    @property
    def contact_points(self) -> tuple[str, ...]:
        """Names of the contacts that carry load."""
        names: list[str] = []
        for side, contact in self.feet.items():
            if contact in (FootContact.HEEL, FootContact.FLAT):
                names.append(f"Heel{side.title}")
            if contact in (FootContact.FOREFOOT, FootContact.FLAT):
                names += [f"Hallux{side.title}", f"Meta5{side.title}"]
        return tuple(names)

    @property
    def swing_points(self) -> tuple[str, ...]:
        """Names of the contacts that are in the air."""
        names = [f"{point}{side.title}" for side in Side for point in FOOT_POINTS]
        return tuple(name for name in names if name not in self.contact_points)


def foot_constraints(side: Side, contact: FootContact) -> ConstraintSet:
    """The contact constraints of one foot on the ground."""
    heel = RollingSphere(f"Heel{side.title}")
    hallux, lateral = PointContact(f"Hallux{side.title}"), PointContact(f"Meta5{side.title}")
    if contact is FootContact.HEEL:
        return ConstraintSet((heel,))
    if contact is FootContact.FLAT:
        return flat_foot(heel, hallux, lateral)
    return edge_contact(hallux, lateral)


def contact_phases(
    motion: Motion,
    *,
    span: tuple[float, float] | None = None,
    events: Sequence[Event] | None = None,
) -> list[FootContactPhase]:
    """The contact schedule of both feet over a part of a walk.

    Args:
        motion: The movement of a model with contacts at heel, hallux and fifth metatarsal.
        span: Time span (s); by default one step, from the first foot off to the next foot off of
            the other foot.
        events: Foot strikes and foot offs; found in the motion when left out.

    Returns:
        The phases in the order of time, each with constant contacts.

    Raises:
        CaptureError: There is no complete step, or the span exceeds the motion.
        ModelError: The feet of the model have no such contacts.
    """
    _check(motion.model)
    events = find_events(motion) if events is None else events
    begin, end = first_step(events) if span is None else span
    if not motion.time[0] <= begin < end <= motion.time[-1]:
        raise CaptureError(
            f"the motion lasts from {motion.time[0]:.3f} to {motion.time[-1]:.3f} s and does not "
            f"contain {begin:.3f} to {end:.3f} s"
        )
    states = {side: foot_states(motion, side, events) for side in Side}
    times = (c.time for side in Side for c in states[side])
    changes = sorted({begin, end, *(t for t in times if begin < t < end)})
    cuts = [changes[0]]
    for time in changes[1:]:
        # Changes that nearly coincide are one; the end is always kept.
        if time - cuts[-1] >= MIN_PHASE_DURATION_S:
            cuts.append(time)
        elif time == end:
            cuts[-1] = time
    phases: list[FootContactPhase] = []
    for first, last in pairwise(cuts):
        middle = (first + last) / 2
        feet = {side: state_at(states[side], middle) for side in Side}
        right, left = feet[Side.RIGHT].contact, feet[Side.LEFT].contact
        sure = min(state.confidence for state in feet.values())
        if phases and (phases[-1].right, phases[-1].left) == (right, left):
            sure = min(sure, phases[-1].confidence)
            phases[-1] = FootContactPhase(phases[-1].begin, last, right, left, sure)
        else:
            phases.append(FootContactPhase(first, last, right, left, sure))
    return phases


def first_step(events: Sequence[Event]) -> tuple[float, float]:
    """The first complete step (s): from a foot off to the next foot off of the other foot."""
    steps = complete_steps(events)
    if not steps:
        raise CaptureError(
            "there is no complete step in the motion: it takes a foot off, the strike of that foot "
            "and the foot off of the other; record longer, or give span=(begin, end)"
        )
    return steps[0]


def complete_steps(events: Sequence[Event]) -> list[tuple[float, float]]:
    """All complete steps: a foot off, the strike of that foot, the foot off of the other.

    Args:
        events: Foot strikes and foot offs.

    Returns:
        Begin and end of each step (s).
    """
    offs = sorted((e for e in events if e.label == FOOT_OFF), key=lambda e: e.time)
    steps = []
    for one, two in pairwise(offs):
        strikes = [e for e in events if e.label == FOOT_STRIKE and one.time < e.time < two.time]
        if one.context != two.context and any(e.context == one.context for e in strikes):
            steps.append((one.time, two.time))
    return steps


@record
class FootState(Record):
    """The contact of one foot from a time on."""

    time: float
    """s."""
    contact: FootContact
    """What is on the ground."""
    confidence: float = 1.0
    """0 to 1."""


def foot_states(motion: Motion, side: Side, events: Sequence[Event]) -> list[FootState]:
    """When the contact of one foot changes, in the order of time.

    Args:
        motion: The movement of a model with contacts at heel, hallux and fifth metatarsal.
        side: The foot.
        events: Foot strikes and foot offs.

    Returns:
        The states, the first one from minus infinity on.

    Raises:
        CaptureError: There are no events of the foot.
    """
    time = np.asarray(motion.time)
    points = {
        point: np.asarray(position(motion.model, motion.q, f"{point}{side.title}"))
        for point in FOOT_POINTS
    }
    own = sorted((e for e in events if e.side is side), key=lambda e: e.time)
    if not own:
        raise CaptureError(f"no events of the {side} foot; give events=")
    roll = points["Heel"][:, 2] - (points["Hallux"][:, 2] + points["Meta5"][:, 2]) / 2
    length = float(np.median(np.linalg.norm(points["Heel"] - points["Hallux"], axis=1)))
    starts = [float(time[0])] if own[0].label == FOOT_OFF else []
    starts += [e.time for e in own if e.label == FOOT_STRIKE]
    offs = [e.time for e in own if e.label == FOOT_OFF]
    spans = [(start, next((t for t in offs if t > start), float(time[-1]))) for start in starts]
    roll = roll - flat_level(time, roll, stance_frames(time, spans))
    states = [FootState(-np.inf, FootContact.SWING)]
    for start, off in spans:
        inside = (time >= start) & (time <= off)
        if inside.sum() < 3:
            continue
        found = find_foot_roll(time[inside], roll[inside], length)
        sure = found.confidence
        if found.flat is not None:
            states.append(FootState(start, FootContact.HEEL, sure))
        states.append(
            FootState(start if found.flat is None else found.flat, FootContact.FLAT, sure)
        )
        if found.rise is not None:
            states.append(FootState(found.rise, FootContact.FOREFOOT, sure))
        if off < time[-1]:
            states.append(FootState(off, FootContact.SWING))
    return states


def state_at(states: Sequence[FootState], time: float) -> FootState:
    """The state of a foot at one time (s)."""
    return [state for state in states if state.time <= time][-1]


def _check(model: Model) -> None:
    known = {contact.name for contact in model.contacts}
    needed = [f"{point}{side.title}" for side in Side for point in FOOT_POINTS]
    absent = [name for name in needed if name not in known]
    if absent:
        raise ModelError(
            f"model {model.name!r} has no contacts {', '.join(absent)}: phases are found for feet "
            "with a heel and two toes, as those of hd.catalog.heiman; "
            "homodyn.gait.foot_contact_points.with_foot_contacts adds them"
        )
