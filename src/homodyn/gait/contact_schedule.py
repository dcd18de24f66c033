"""Which parts of the feet stand on the ground, and when: the phases of a recorded walk.

A foot that walks rolls over its heel, stands flat, and turns about its toes (Felis 2015, section
4.7). Events tell when it stands at all; within that, the heights of heel and toes tell the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from homodyn.dynamics import (
    ConstraintSet,
    PointContact,
    RollingSphere,
    edge_contact,
    flat_foot,
    position,
)
from homodyn.errors import CaptureError, ModelError
from homodyn.gait.events import find_events
from homodyn.model import Model
from homodyn.motion import (
    Event,
    Motion,
)

SIDES = ("Right", "Left")
POINTS = ("Heel", "Hallux", "Meta5")
LIFTED = 0.005
"""m: a heel or toe that is higher than this above its lowest in the stance has left the ground."""
STILL = 0.02
"""m/s: it left, or came down, when its vertical speed was last, or first, below this."""
SHORTEST = 0.015
"""s: contacts that last less are not a phase of their own."""


class Standing(StrEnum):
    """How one foot stands."""

    SWING = "swing"
    HEEL = "heel"
    FLAT = "flat"
    FOREFOOT = "forefoot"


@dataclass(frozen=True)
class Footing:
    """Both feet over a stretch of time (s)."""

    begin: float
    end: float
    right: Standing
    left: Standing

    @property
    def name(self) -> str:
        """Both feet in words."""
        feet = (("right", self.right), ("left", self.left))
        standing = [f"{side} {how}" for side, how in feet if how is not Standing.SWING]
        return " and ".join(standing) or "flight"

    @property
    def contacts(self) -> ConstraintSet:
        """What the ground holds."""
        parts = [
            foot_contact(side, how)
            for side, how in zip(SIDES, (self.right, self.left), strict=True)
            if how is not Standing.SWING
        ]
        return ConstraintSet(tuple(parts))

    @property
    def points(self) -> tuple[str, ...]:
        """Contacts that push upwards."""
        names: list[str] = []
        for side, how in zip(SIDES, (self.right, self.left), strict=True):
            if how in (Standing.HEEL, Standing.FLAT):
                names.append(f"Heel{side}")
            if how in (Standing.FOREFOOT, Standing.FLAT):
                names += [f"Hallux{side}", f"Meta5{side}"]
        return tuple(names)

    def clear(self) -> tuple[str, ...]:
        """Contacts of the feet that are in the air."""
        names = [f"{point}{side}" for side in SIDES for point in POINTS]
        return tuple(name for name in names if name not in self.points)


def foot_contact(side: str, how: Standing) -> ConstraintSet:
    """The constraints of one foot that stands."""
    heel = RollingSphere(f"Heel{side}")
    hallux, lateral = PointContact(f"Hallux{side}"), PointContact(f"Meta5{side}")
    if how is Standing.HEEL:
        return ConstraintSet((heel,))
    if how is Standing.FLAT:
        return flat_foot(heel, hallux, lateral)
    return edge_contact(hallux, lateral)


def footings(
    motion: Motion,
    *,
    span: tuple[float, float] | None = None,
    events: Sequence[Event] | None = None,
    lifted: float = LIFTED,
) -> list[Footing]:
    """How both feet stand over a stretch of a walk, one entry for each set of contacts.

    ``span`` (s) is by default one step: from the first foot off to the next one of the other foot.
    """
    _check(motion.model)
    events = find_events(motion) if events is None else events
    begin, end = one_step(events) if span is None else span
    if not motion.time[0] <= begin < end <= motion.time[-1]:
        raise CaptureError(
            f"the motion lasts from {motion.time[0]:.3f} to {motion.time[-1]:.3f} s and does not "
            f"hold {begin:.3f} to {end:.3f} s"
        )
    states = {side: _states(motion, side, events, lifted) for side in SIDES}
    cuts = sorted({begin, end, *(t for s in SIDES for t, _ in states[s] if begin < t < end)})
    kept = [cuts[0]]
    for cut in cuts[1:]:
        # Two cuts that nearly coincide are one; the end always stands.
        if cut - kept[-1] >= SHORTEST:
            kept.append(cut)
        elif cut == end:
            kept[-1] = cut
    found: list[Footing] = []
    for first, last in pairwise(kept):
        middle = (first + last) / 2
        right, left = (_state_at(states[side], middle) for side in SIDES)
        if found and (found[-1].right, found[-1].left) == (right, left):
            found[-1] = Footing(found[-1].begin, last, right, left)
        else:
            found.append(Footing(first, last, right, left))
    return found


def one_step(events: Sequence[Event]) -> tuple[float, float]:
    """From a foot off to the next of the other foot (s): the first that is whole."""
    found = whole_steps(events)
    if not found:
        raise CaptureError(
            "no whole step in the motion: it takes a foot off, the strike of that foot and the "
            "foot off of the other; record longer, or tell span=(begin, end)"
        )
    return found[0]


def whole_steps(events: Sequence[Event]) -> list[tuple[float, float]]:
    """All steps (s) with a foot off, the strike of that foot and the foot off of the other."""
    offs = sorted((e for e in events if e.label == "Foot Off"), key=lambda e: e.time)
    found = []
    for one, two in pairwise(offs):
        strikes = [e for e in events if e.label == "Foot Strike" and one.time < e.time < two.time]
        if one.context != two.context and any(e.context == one.context for e in strikes):
            found.append((one.time, two.time))
    return found


def _states(
    motion: Motion, side: str, events: Sequence[Event], lifted: float
) -> list[tuple[float, Standing]]:
    """When one foot begins to stand in some way, in the order of time."""
    model, time = motion.model, motion.time
    radius = {c.name: float(c.radius) for c in model.contacts}
    heights = {
        point: np.asarray(position(model, motion.q, f"{point}{side}"))[:, 2]
        - radius[f"{point}{side}"]
        for point in POINTS
    }
    heel, toes = heights["Heel"], (heights["Hallux"] + heights["Meta5"]) / 2
    own = sorted((e for e in events if e.context == side), key=lambda e: e.time)
    if not own:
        raise CaptureError(f"no events of the {side.lower()} foot; give events=")
    changes: list[tuple[float, Standing]] = []
    first = own[0].label == "Foot Off"
    strikes = ([float(time[0])] if first else []) + [
        e.time for e in own if e.label == "Foot Strike"
    ]
    offs = [e.time for e in own if e.label == "Foot Off"]
    changes.append((-np.inf, Standing.SWING))
    for strike in strikes:
        off = next((t for t in offs if t > strike), float(time[-1]))
        inside = np.flatnonzero((time >= strike) & (time <= off))
        if len(inside) < 3:
            continue
        down = _crossing(time[inside], toes[inside], lifted, falling=True)
        up = _crossing(time[inside], heel[inside], lifted, falling=False)
        changes.append((strike, Standing.HEEL))
        if down is not None:
            changes.append((down, Standing.FLAT))
        if up is not None:
            changes.append((max(up, down or strike), Standing.FOREFOOT))
        if off < time[-1]:
            changes.append((off, Standing.SWING))
    return changes


def _crossing(time: np.ndarray, height: np.ndarray, level: float, *, falling: bool) -> float | None:
    """When a point comes to rest on the ground, or when it leaves it.

    Heights rise with a high power of time, so the instant at which one passes a level that noise
    does not reach is late; from there on the vertical speed is followed back to rest.
    """
    if not falling:
        # Leaving is coming down in a film that runs backwards.
        mirrored = _crossing(-time[::-1], height[::-1], level, falling=True)
        return None if mirrored is None else -mirrored
    low = height - height.min() < level
    speed = np.abs(np.gradient(height, time))
    first = int(np.argmax(low))
    still = np.flatnonzero(speed[first:] < STILL)
    if not low.any() or not len(still) or first == 0:
        return float(time[0]) if first == 0 and low.all() else None
    k = first + int(still[0])
    if k == 0 or speed[k - 1] <= speed[k]:
        return float(time[k])
    part = (STILL - speed[k]) / (speed[k - 1] - speed[k])
    return float(time[k] + part * (time[k - 1] - time[k]))


def _state_at(changes: list[tuple[float, Standing]], time: float) -> Standing:
    return [state for begin, state in changes if begin <= time][-1]


def _check(model: Model) -> None:
    known = {contact.name for contact in model.contacts}
    needed = [f"{point}{side}" for side in SIDES for point in POINTS]
    absent = [name for name in needed if name not in known]
    if absent:
        raise ModelError(
            f"model {model.name!r} has no contacts {', '.join(absent)}: phases are found for feet "
            "with a heel and two toes, as those of hd.catalog.heiman; write Phases for others"
        )
