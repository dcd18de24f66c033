"""Foot strikes and foot offs: by force where it was measured, else by how the feet move.

By kinematics a foot stands while its heel or its toe is slow over the ground. A point begins to
stand when its speed falls below 0.55 of the walking speed and ceases to when it exceeds 0.7 of it.
Against the instants at which the vertical force crosses 20 N, in three recordings of walking at
1.1 to 1.25 m/s (24 events), foot strike is told with an error of 2 +- 6 ms (largest 14 ms) and foot
off of -1 +- 2 ms (largest 4 ms). The coordinate method of Zeni et al. 2008 (heel farthest ahead,
toe farthest behind) comes 25 +- 5 ms too early and 16 +- 5 ms too late on the same steps; peaks of
the vertical speed of the foot (O'Connor et al. 2007) tell foot off with -4 +- 8 ms.

The rule looks at speed alone: it needs no direction, no level ground and no height of the markers,
so it holds for walking backward, on a belt, in a turn, on stairs and for landing on the toes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from homodyn.gait.foot_contacts import (
    MIN_CONTACT_GAP_S,
    MIN_CONTACT_S,
    ContactInterval,
    contacts_from_forces,
    threshold_intervals,
)
from homodyn.gait.ground_kinematics import (
    MIN_FOOT_SPEED_M_S,
    GroundKinematics,
    ground_kinematics,
    max_foot_speed,
    smooth_velocity,
)
from homodyn.motion import (
    Event,
    ForcePlate,
)
from homodyn.motion.loads import Loads
from homodyn.motion.motion import Motion

FOOT_STRIKE = "Foot Strike"
FOOT_OFF = "Foot Off"

STANCE_SPEED_RATIO = 0.55
"""A point stands once it is slower than this share of the walking speed."""
SWING_SPEED_RATIO = 0.7
"""It has left once it is faster than this share."""
ANKLE_SWING_SPEED_RATIO = 3.25
"""Peak speed of a swinging ankle over walking speed: 3.2 to 3.3 in three recordings."""
UNCERTAIN_END_FRAMES = 2
"""Frames at either end of a recording whose speeds no frame beyond confirms."""
EVENT_MATCH_WINDOW_S = 0.12
"""Two sources that tell an event within this time (s) tell the same one."""


class GaitEvents(tuple[Event, ...]):
    """Events in the order of time, and sentences about how they were found."""

    notes: tuple[str, ...]

    def __new__(cls, events: Iterable[Event], notes: Sequence[str] = ()) -> GaitEvents:
        """Sort the events by time."""
        made = super().__new__(cls, sorted(events, key=lambda event: event.time))
        made.notes = tuple(dict.fromkeys(notes))
        return made


def find_events(
    motion: Motion,
    forces: Sequence[ForcePlate] | Loads = (),
    *,
    recorded: Sequence[Event] = (),
    force_threshold: float = 20.0,
) -> GaitEvents:
    """Foot strikes and foot offs of both feet, each with its source in ``description``.

    ``forces`` are plates (our axes, Z up) or loads; where they show a foot alone, crossings of
    ``threshold`` (N) of the vertical force are taken. Events that the recording holds already are
    given as ``known``: they stand where there is no force, and are compared with what is found.
    Elsewhere kinematics tell. A person who stands still has no events; ``notes`` say so.
    """
    walk = ground_kinematics(motion)
    moving = contacts_from_kinematics(walk)
    loaded, notes = contacts_from_forces(walk, forces, threshold=force_threshold)
    notes = [*walk.notes, *notes]
    if max_foot_speed(walk) < MIN_FOOT_SPEED_M_S:
        notes.append(
            f"The feet never move faster than {MIN_FOOT_SPEED_M_S} m/s: the person stands "
            "and there are no steps."
        )
    found: list[Event] = []
    for side in ("left", "right"):
        for label in (FOOT_STRIKE, FOOT_OFF):
            told = _recorded_events(recorded, side, label)
            seen = _events_of_contacts(moving[side], side, label)
            force = _confirmed_events(
                walk, _events_of_contacts(loaded[side], side, label), [*seen, *told], notes
            )
            notes += _comparison_notes(told, force or seen, "forces" if force else "kinematics")
            chosen = force
            for other in (told, seen):
                chosen = [*chosen, *(e for e in other if not _is_near(e, chosen))]
            found += chosen
    events = GaitEvents(found, notes)
    if not events and max_foot_speed(walk) >= MIN_FOOT_SPEED_M_S:
        notes.append("The feet move, but no contact begins or ends within the recording.")
    return GaitEvents(events, [*notes, *_flight_notes(walk, moving)])


def contacts_from_kinematics(walk: GroundKinematics) -> dict[str, list[ContactInterval]]:
    """Spans in which heel or toe of each foot is slow over the ground."""
    fastest = max_foot_speed(walk)
    if fastest < MIN_FOOT_SPEED_M_S:
        return {"left": [], "right": []}
    pace = fastest / ANKLE_SWING_SPEED_RATIO
    found = {}
    for side in ("left", "right"):
        paths = walk.side(side)
        speeds = [
            np.linalg.norm(smooth_velocity(walk, path), axis=1) for path in (paths.heel, paths.toe)
        ]
        found[side] = _merge_slow_intervals(walk.time, speeds, pace)
    return found


def _merge_slow_intervals(
    time: np.ndarray, speeds: Sequence[np.ndarray], pace: float
) -> list[ContactInterval]:
    """Spans in which at least one of the points stands."""
    slow = [
        (-np.inf if c.start is None else c.start, np.inf if c.end is None else c.end)
        for speed in speeds
        for c in threshold_intervals(
            time,
            -speed,
            on=-STANCE_SPEED_RATIO * pace,
            off=-SWING_SPEED_RATIO * pace,
            shortest=0.0,
            gap=0.0,
        )
    ]
    merged: list[tuple[float, float]] = []
    for start, end in sorted(slow):
        if merged and start - merged[-1][1] < MIN_CONTACT_GAP_S:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    source = "kinematics: speed of heel and toe over the ground"
    first, last = time[UNCERTAIN_END_FRAMES], time[-1 - UNCERTAIN_END_FRAMES]
    return [
        ContactInterval(start if start > first else None, end if end < last else None, source)
        for start, end in merged
        if end - start >= MIN_CONTACT_S
    ]


def _events_of_contacts(contacts: Sequence[ContactInterval], side: str, label: str) -> list[Event]:
    instants = [(c.start if label == FOOT_STRIKE else c.end, c.source) for c in contacts]
    return [
        Event(time, label, side.capitalize(), description=source)
        for time, source in instants
        if time is not None
    ]


def _recorded_events(known: Sequence[Event], side: str, label: str) -> list[Event]:
    """What the recording itself says, in our words."""
    return [
        replace(
            event,
            label=label,
            context=side.capitalize(),
            description=event.description
            if event.description.startswith(_SOURCES)
            else f"recorded: {event.description or event.label}",
        )
        for event in known
        if _side_and_label(event) == (side, label)
    ]


_SOURCES = ("forces:", "kinematics:", "recorded:")
_STRIKES = ("footstrike", "heelstrike", "initialcontact", "footcontact", "hs", "ic", "fs")
_OFFS = ("footoff", "toeoff", "to", "fo")


def _side_and_label(event: Event) -> tuple[str, str] | None:
    """Side and kind of an event: "Foot Strike" of "Left", "Left Foot Off", "RHS" and the like."""
    word = "".join(filter(str.isalpha, event.label.lower()))
    side = event.context.lower()
    for name, start in (("left", "left"), ("right", "right"), ("left", "l"), ("right", "r")):
        rest = word.removeprefix(start)
        if rest != word and rest in (*_STRIKES, *_OFFS):
            word, side = rest, name
            break
    kind = FOOT_STRIKE if word in _STRIKES else FOOT_OFF if word in _OFFS else ""
    return (side, kind) if kind and side in ("left", "right") else None


def _confirmed_events(
    walk: GroundKinematics, force: Sequence[Event], others: Sequence[Event], notes: list[str]
) -> list[Event]:
    """Events by force that the foot confirms; a foot half beside the plate loads it too late."""
    first, last = walk.time[0], walk.time[-1]
    kept = []
    for event in force:
        if not first <= event.time <= last:
            continue
        if (
            _is_near(event, others)
            or min(event.time - first, last - event.time) < EVENT_MATCH_WINDOW_S
        ):
            kept.append(event)
        else:
            notes.append(
                f"{event.context} {event.label.lower()} at {event.time:.2f} s by force has nothing "
                "of the kind in the movement of the foot: perhaps it stood half beside the plate; "
                "it is left out."
            )
    return kept


def _is_near(event: Event, others: Sequence[Event]) -> bool:
    return any(abs(event.time - other.time) <= EVENT_MATCH_WINDOW_S for other in others)


def _comparison_notes(told: Sequence[Event], found: Sequence[Event], source: str) -> list[str]:
    if not told:
        return []
    apart = [min(((e.time - f.time) for f in found), key=abs, default=np.inf) for e in told]
    close = [gap for gap in apart if abs(gap) <= EVENT_MATCH_WINDOW_S]
    name = f"{told[0].context.lower()} {told[0].label.lower()}"
    sentences = []
    if close:
        sentences.append(
            f"{len(close)} recorded events ({name}) differ from {source} by "
            f"{1000 * float(np.median(close)):.0f} ms in the median."
        )
    if len(close) < len(told):
        sentences.append(
            f"{len(told) - len(close)} recorded events ({name}) are not seen by {source}; "
            "they are kept as recorded."
        )
    return sentences


def _flight_notes(walk: GroundKinematics, contacts: dict[str, list[ContactInterval]]) -> list[str]:
    """A sentence when both feet are off the ground at once."""
    touching = np.zeros(len(walk.time), dtype=bool)
    for spans_of_side in contacts.values():
        for contact in spans_of_side:
            low = -np.inf if contact.start is None else contact.start
            high = np.inf if contact.end is None else contact.end
            touching |= (walk.time >= low) & (walk.time <= high)
    ends = [
        t for side in contacts.values() for c in side for t in (c.start, c.end) if t is not None
    ]
    if not ends:
        return []
    # Before the first and after the last event a foot may be in the air or out of sight.
    between = (walk.time >= min(ends)) & (walk.time <= max(ends))
    share = 1.0 - float(touching[between].mean()) if between.any() else 0.0
    if share < 0.03:
        return []
    return [f"Both feet are off the ground for {100 * share:.0f} % of the time: running."]
