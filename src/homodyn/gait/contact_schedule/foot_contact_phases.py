"""The contact schedule of a recorded walk: which parts of the feet are on the ground, and when.

During stance a foot rolls over its heel, is flat, and rotates about its toes (Felis 2015, section
4.7). Events give the beginning and the end of stance; the heights of heel and toes separate its
phases.
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
from homodyn.gait.events import find_events
from homodyn.model import Model
from homodyn.motion import FOOT_OFF, FOOT_STRIKE, Event, Motion, Side

FOOT_POINTS = ("Heel", "Hallux", "Meta5")
LIFT_HEIGHT_M = 0.005
"""A heel or toe that is higher than this above its lowest position has left the ground."""
REST_SPEED_M_S = 0.02
"""Vertical speed below which a heel or toe is at rest on the ground."""
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
    lift_height: float = LIFT_HEIGHT_M,
) -> list[FootContactPhase]:
    """The contact schedule of both feet over a part of a walk.

    Args:
        motion: The movement of a model with contacts at heel, hallux and fifth metatarsal.
        span: Time span (s); by default one step, from the first foot off to the next foot off of
            the other foot.
        events: Foot strikes and foot offs; found in the motion when left out.
        lift_height: Height of a heel or toe above its lowest position in the stance (m) above which
            it has left the ground.

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
    states = {side: _states(motion, side, events, lift_height) for side in Side}
    changes = sorted({begin, end, *(t for s in Side for t, _ in states[s] if begin < t < end)})
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
        right, left = (_state_at(states[side], middle) for side in Side)
        if phases and (phases[-1].right, phases[-1].left) == (right, left):
            phases[-1] = FootContactPhase(phases[-1].begin, last, right, left)
        else:
            phases.append(FootContactPhase(first, last, right, left))
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


def _states(
    motion: Motion, side: Side, events: Sequence[Event], lift_height: float
) -> list[tuple[float, FootContact]]:
    """When the contact of one foot changes, in the order of time."""
    model, time = motion.model, motion.time
    radius = {c.name: float(c.radius) for c in model.contacts}
    heights = {
        point: np.asarray(position(model, motion.q, f"{point}{side.title}"))[:, 2]
        - radius[f"{point}{side.title}"]
        for point in FOOT_POINTS
    }
    heel, toes = heights["Heel"], (heights["Hallux"] + heights["Meta5"]) / 2
    own = sorted((e for e in events if e.side is side), key=lambda e: e.time)
    if not own:
        raise CaptureError(f"no events of the {side} foot; give events=")
    changes: list[tuple[float, FootContact]] = []
    first = own[0].label == FOOT_OFF
    strikes = ([float(time[0])] if first else []) + [e.time for e in own if e.label == FOOT_STRIKE]
    offs = [e.time for e in own if e.label == FOOT_OFF]
    changes.append((-np.inf, FootContact.SWING))
    for strike in strikes:
        off = next((t for t in offs if t > strike), float(time[-1]))
        inside = np.flatnonzero((time >= strike) & (time <= off))
        if len(inside) < 3:
            continue
        down = _crossing(time[inside], toes[inside], lift_height, falling=True)
        up = _crossing(time[inside], heel[inside], lift_height, falling=False)
        changes.append((strike, FootContact.HEEL))
        if down is not None:
            changes.append((down, FootContact.FLAT))
        if up is not None:
            changes.append((max(up, down or strike), FootContact.FOREFOOT))
        if off < time[-1]:
            changes.append((off, FootContact.SWING))
    return changes


def _crossing(time: np.ndarray, height: np.ndarray, level: float, *, falling: bool) -> float | None:
    """When a point comes to rest on the ground, or when it leaves it.

    The height of a leaving point grows with a high power of time, so it exceeds a level above the
    noise late. From there the vertical speed is followed back to rest.
    """
    if not falling:
        # Leaving the ground is touching down in reversed time.
        reversed_time = _crossing(-time[::-1], height[::-1], level, falling=True)
        return None if reversed_time is None else -reversed_time
    low = height - height.min() < level
    speed = np.abs(np.gradient(height, time))
    first = int(np.argmax(low))
    resting = np.flatnonzero(speed[first:] < REST_SPEED_M_S)
    if not low.any() or not len(resting) or first == 0:
        return float(time[0]) if first == 0 and low.all() else None
    k = first + int(resting[0])
    if k == 0 or speed[k - 1] <= speed[k]:
        return float(time[k])
    part = (REST_SPEED_M_S - speed[k]) / (speed[k - 1] - speed[k])
    return float(time[k] + part * (time[k - 1] - time[k]))


def _state_at(changes: list[tuple[float, FootContact]], time: float) -> FootContact:
    return [state for begin, state in changes if begin <= time][-1]


def _check(model: Model) -> None:
    known = {contact.name for contact in model.contacts}
    needed = [f"{point}{side.title}" for side in Side for point in FOOT_POINTS]
    absent = [name for name in needed if name not in known]
    if absent:
        raise ModelError(
            f"model {model.name!r} has no contacts {', '.join(absent)}: phases are found for feet "
            "with a heel and two toes, as those of hd.catalog.heiman; write FootContactPhase "
            "records for others"
        )
