"""Foot strikes and foot offs, from measured forces where available and otherwise from kinematics.

By kinematics a foot is in stance while its heel or its toe moves slowly over the ground: stance
begins when the speed of a point falls below 0.55 of the walking speed and ends when it exceeds 0.7
of it. Compared with the times at which the vertical force crosses 20 N, in three recordings of
walking at 1.1 to 1.25 m/s (24 events), the error is 2 +- 6 ms for foot strikes (largest 14 ms) and
-1 +- 2 ms for foot offs (largest 4 ms). On the same steps the coordinate method of Zeni et al. 2008
(heel farthest ahead, toe farthest behind) is 25 +- 5 ms early and 16 +- 5 ms late; peaks of the
vertical foot velocity (O'Connor et al. 2007) give foot off with an error of -4 +- 8 ms.

The criterion uses speed alone and needs neither direction nor level ground nor marker heights. It
is therefore valid for backward walking, treadmills, turns, stairs and forefoot landings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from homodyn.foundation.text import count_of
from homodyn.gait.event_sources import (
    EVENT_MATCH_WINDOW_S,
    compare_sources,
    mixed_source_note,
)
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
from homodyn.model.side import Side
from homodyn.motion import (
    FOOT_OFF,
    FOOT_STRIKE,
    STANCE_THRESHOLD,
    Event,
    ForcePlate,
    Loads,
    Motion,
)

__all__ = ["GaitEvents", "find_events", "motion_events"]

STANCE_SPEED_RATIO = 0.55
"""Stance begins below this share of the walking speed."""
SWING_SPEED_RATIO = 0.7
"""Stance ends above this share of the walking speed."""
ANKLE_SWING_SPEED_RATIO = 3.25
"""Peak speed of the swinging ankle divided by walking speed: 3.2 to 3.3 in three recordings."""
UNCERTAIN_END_FRAMES = 2
"""Frames at either end of a recording whose speeds cannot be confirmed by further frames."""

MAX_EVENT_LINES = 8
"""Lines of the printed events, with the line of their number."""


class GaitEvents(tuple[Event, ...]):
    """Events in order of time, with notes on how they were detected."""

    notes: tuple[str, ...]
    """Sentences on sources, conflicts and doubts."""

    def __new__(cls, events: Iterable[Event], notes: Sequence[str] = ()) -> GaitEvents:
        """Sort the events by time."""
        instance = super().__new__(cls, sorted(events, key=lambda event: event.time))
        instance.notes = tuple(dict.fromkeys(notes))
        return instance

    def __repr__(self) -> str:
        """The number of events, one line per event and the first note, in ten lines at most."""
        lines = [f"GaitEvents: {count_of(len(self), 'event')}"]
        lines += [
            f"  {event.time:8.3f} s  {event.context} {event.label}"
            + (f" ({event.description})" if event.description else "")
            for event in self
        ]
        if len(lines) > MAX_EVENT_LINES:
            rest = count_of(len(lines) - MAX_EVENT_LINES, "more event")
            lines = [*lines[:MAX_EVENT_LINES], f"  ... and {rest}"]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes[:1])])


def find_events(
    motion: Motion,
    forces: Sequence[ForcePlate] | Loads = (),
    *,
    recorded: Sequence[Event] = (),
    force_threshold: float | None = None,
    belt_speed: float | None = None,
) -> GaitEvents:
    """Detect foot strikes and foot offs of both feet.

    Where forces show a single foot, events are the crossings of the threshold. Elsewhere recorded
    events are used, and otherwise kinematics, shifted by its systematic difference from the forces
    of other steps of the same recording (two steps or more, all within 10 ms). A note states the
    difference. A person who stands still has no events.

    Args:
        motion: Any movement of a model with two legs.
        forces: Force plates (world axes, Z up) or loads; by default the contact forces of the
            motion, where it has them.
        recorded: Events of the recording; they are compared with the detected ones.
        force_threshold: Vertical force (N) at which contact begins and ends; by default that of
            `StanceThreshold` for the weight of the model (20 N for people).
        belt_speed: Speed of a treadmill (m/s) where it is known; 0 is still ground; found in the
            stance feet by default.

    Returns:
        Events in order of time, each with its source in ``description``, and notes.

    Raises:
        CaptureError: The motion is too short or has gaps, or its model has no two feet.
    """
    kinematics = ground_kinematics(motion, belt_speed)
    moving = contacts_from_kinematics(kinematics)
    sources = forces if isinstance(forces, Loads) or len(forces) else motion
    weight = motion.model.mass * kinematics.gravity
    threshold = STANCE_THRESHOLD.for_weight(weight).contact_n
    threshold = threshold if force_threshold is None else force_threshold
    loaded, notes = contacts_from_forces(kinematics, sources, threshold=threshold)
    notes = [*kinematics.notes, *notes]
    if max_foot_speed(kinematics) < MIN_FOOT_SPEED_M_S:
        notes.append(
            f"The feet never move faster than {MIN_FOOT_SPEED_M_S} m/s: the person stands "
            "and there are no steps."
        )
    found: list[Event] = []
    for label in (FOOT_STRIKE, FOOT_OFF):
        found += _events_of_label(kinematics, (loaded, moving), recorded, label, notes)
    events = GaitEvents(found, notes)
    if not events and max_foot_speed(kinematics) >= MIN_FOOT_SPEED_M_S:
        notes.append("The feet move, but no contact begins or ends during the recording.")
    return GaitEvents(events, [*notes, *_flight_notes(kinematics, moving)])


def _events_of_label(
    kinematics: GroundKinematics,
    contacts: tuple[dict[Side, list[ContactInterval]], dict[Side, list[ContactInterval]]],
    recorded: Sequence[Event],
    label: str,
    notes: list[str],
) -> list[Event]:
    """Events of one kind of both feet: by forces, else recorded, else by kinematics.

    ``contacts`` are those by forces and by kinematics. Kinematic events are shifted by their
    systematic difference from the forces of other steps.
    """
    loaded, moving = contacts
    stated = {side: _recorded_events(recorded, side, label) for side in Side}
    seen = {side: _events_of_contacts(moving[side], side, label) for side in Side}
    force = {}
    for side in Side:
        by_force = _events_of_contacts(loaded[side], side, label)
        others = [*seen[side], *stated[side]]
        force[side] = _confirmed_events(kinematics, by_force, others, notes)
    difference = compare_sources(list(force.values()), list(seen.values()))
    first, last = kinematics.time[0], kinematics.time[-1]
    found: list[Event] = []
    for side in Side:
        source = "forces" if force[side] else "kinematics"
        notes += _comparison_notes(stated[side], force[side] or seen[side], source)
        chosen = [*force[side]]
        chosen += [e for e in stated[side] if not _is_near(e, chosen)]
        rest = [e for e in seen[side] if not _is_near(e, chosen)]
        found += [*chosen, *(e for e in difference.shift(rest) if first <= e.time <= last)]
    if mixed := mixed_source_note(label, found, difference):
        notes.append(mixed)
    return found


def motion_events(motion: Motion, loads: Loads | None = None) -> GaitEvents:
    """Events of a motion: those it carries, otherwise detected from forces or kinematics.

    Args:
        motion: Any movement of a model with two legs.
        loads: Loads with measured ground forces, where available.

    Returns:
        Foot strikes and foot offs in order of time, with notes.

    Raises:
        CaptureError: Events must be detected, and the motion is too short or has gaps.
    """
    carried = [event for event in motion.events if _side_and_label(event) is not None]
    if not carried:
        return find_events(motion, () if loads is None else loads)
    standard = [
        event
        for side in (Side.LEFT, Side.RIGHT)
        for label in (FOOT_STRIKE, FOOT_OFF)
        for event in _recorded_events(carried, side, label)
    ]
    return GaitEvents(standard)


def contacts_from_kinematics(kinematics: GroundKinematics) -> dict[Side, list[ContactInterval]]:
    """Intervals in which the heel or toe of each foot moves slowly over the ground."""
    fastest = max_foot_speed(kinematics)
    if fastest < MIN_FOOT_SPEED_M_S:
        return {Side.LEFT: [], Side.RIGHT: []}
    pace = fastest / ANKLE_SWING_SPEED_RATIO
    found = {}
    for side in (Side.LEFT, Side.RIGHT):
        paths = kinematics.side(side)
        speeds = [
            np.linalg.norm(smooth_velocity(kinematics, path), axis=1)
            for path in (paths.heel, paths.toe)
        ]
        found[side] = _merge_slow_intervals(kinematics.time, speeds, pace)
    return found


def _merge_slow_intervals(
    time: np.ndarray, speeds: Sequence[np.ndarray], pace: float
) -> list[ContactInterval]:
    """Intervals in which at least one of the points is slow."""
    slow = [
        (-np.inf if c.start is None else c.start, np.inf if c.end is None else c.end)
        for speed in speeds
        for c in threshold_intervals(
            time,
            -speed,
            on=-STANCE_SPEED_RATIO * pace,
            off=-SWING_SPEED_RATIO * pace,
            min_duration=0.0,
            min_gap=0.0,
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


def _events_of_contacts(contacts: Sequence[ContactInterval], side: Side, label: str) -> list[Event]:
    times = [(c.start if label == FOOT_STRIKE else c.end, c.source) for c in contacts]
    return [
        Event(time, label, side.title, description=source)
        for time, source in times
        if time is not None
    ]


def _recorded_events(known: Sequence[Event], side: Side, label: str) -> list[Event]:
    """Events of the recording with standard labels."""
    return [
        replace(
            event,
            label=label,
            context=side.title,
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
    """Side and label of an event: "Foot Strike" of "Left", "Left Foot Off", "RHS" and similar."""
    word = "".join(filter(str.isalpha, event.label.lower()))
    side = event.context.lower()
    for name, start in (("left", "left"), ("right", "right"), ("left", "l"), ("right", "r")):
        rest = word.removeprefix(start)
        if rest != word and rest in (*_STRIKES, *_OFFS):
            word, side = rest, name
            break
    kind = FOOT_STRIKE if word in _STRIKES else FOOT_OFF if word in _OFFS else ""
    return (side, kind) if kind and side in (Side.LEFT, Side.RIGHT) else None


def _confirmed_events(
    kinematics: GroundKinematics, force: Sequence[Event], others: Sequence[Event], notes: list[str]
) -> list[Event]:
    """Force events that the foot motion confirms; a foot partly off the plate loads it late."""
    first, last = kinematics.time[0], kinematics.time[-1]
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
                f"{event.context} {event.label.lower()} at {event.time:.2f} s by force is not "
                "confirmed by the motion of the foot, which may have been partly off the plate; "
                "it is left out."
            )
    return kept


def _is_near(event: Event, others: Sequence[Event]) -> bool:
    return any(abs(event.time - other.time) <= EVENT_MATCH_WINDOW_S for other in others)


def _comparison_notes(stated: Sequence[Event], found: Sequence[Event], source: str) -> list[str]:
    if not stated:
        return []
    gaps = [min(((e.time - f.time) for f in found), key=abs, default=np.inf) for e in stated]
    close = [gap for gap in gaps if abs(gap) <= EVENT_MATCH_WINDOW_S]
    name = f"{stated[0].context.lower()} {stated[0].label.lower()}"
    sentences = []
    if close:
        sentences.append(
            f"{count_of(len(close), f'recorded {name}')}: median difference from {source} "
            f"{1000 * float(np.median(close)):.0f} ms."
        )
    if len(close) < len(stated):
        sentences.append(
            f"{count_of(len(stated) - len(close), f'recorded {name}')} without a match in "
            f"{source}; kept as recorded."
        )
    return sentences


def _flight_notes(
    kinematics: GroundKinematics, contacts: dict[Side, list[ContactInterval]]
) -> list[str]:
    """A note when both feet are off the ground at the same time."""
    touching = np.zeros(len(kinematics.time), dtype=bool)
    for intervals in contacts.values():
        for contact in intervals:
            low = -np.inf if contact.start is None else contact.start
            high = np.inf if contact.end is None else contact.end
            touching |= (kinematics.time >= low) & (kinematics.time <= high)
    ends = [
        t for side in contacts.values() for c in side for t in (c.start, c.end) if t is not None
    ]
    if not ends:
        return []
    # Before the first and after the last event the state of the feet is unknown.
    between = (kinematics.time >= min(ends)) & (kinematics.time <= max(ends))
    share = 1.0 - float(touching[between].mean()) if between.any() else 0.0
    if share < 0.03:
        return []
    return [f"Both feet are off the ground for {100 * share:.0f} % of the time: a run or jumps."]
