"""When feet are loaded, by what plates measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.gait.ground_kinematics import GroundKinematics
from homodyn.motion import ForcePlate
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.loads import Loads

MIN_CONTACT_S = 0.1
"""Contacts that last less (s) are no steps."""
MIN_CONTACT_GAP_S = 0.05
"""Gaps that last less (s) do not end a contact."""
MAX_FOOT_DISTANCE_M = 0.15
"""A centre of pressure farther (m) from the line of heel and toe is another foot's, or none's."""
MAX_UNLOADED_FORCE_N = 60.0
"""A plate that reads less (N) may be unloaded and badly zeroed."""
MIN_UNLOADED_SHARE = 0.15
"""Share of a recording a plate must be unloaded for its zero to be told."""
MIN_PLATE_OFFSET_N = 5.0
"""Zeros nearer to zero (N) are left as they are."""
MIN_NEAREST_SHARE = 0.8
"""Share of a contact during which its centre of pressure must be nearest to one foot."""


@dataclass(frozen=True)
class ContactInterval:
    """A span of time (s) in which something touches; None at an end that was not seen."""

    start: float | None
    end: float | None
    source: str = ""


def threshold_intervals(
    time: np.ndarray,
    signal: np.ndarray,
    *,
    on: float,
    off: float,
    shortest: float = MIN_CONTACT_S,
    gap: float = MIN_CONTACT_GAP_S,
) -> list[ContactInterval]:
    """Spans in which a signal is up: from where it reaches ``on`` to where it falls below ``off``.

    Instants lie between the samples, where the straight line crosses. Gaps shorter than ``gap`` (s)
    are closed first, spans shorter than ``shortest`` are dropped then.
    """
    raised = _schmitt_trigger(signal, on, off)
    edges = np.flatnonzero(np.diff(raised.astype(np.int8)))
    starts = [_crossing(time, signal, k, on) for k in map(int, edges) if raised[k + 1]]
    ends = [_crossing(time, signal, k, off) for k in map(int, edges) if raised[k]]
    if raised.size and raised[0]:
        starts = [-np.inf, *starts]
    if raised.size and raised[-1]:
        ends = [*ends, np.inf]
    joined: list[list[float]] = []
    for start, end in zip(starts, ends, strict=True):
        if joined and start - joined[-1][1] < gap:
            joined[-1][1] = end
        else:
            joined.append([start, end])
    return [
        ContactInterval(start if np.isfinite(start) else None, end if np.isfinite(end) else None)
        for start, end in joined
        if end - start >= shortest
    ]


def contacts_from_forces(
    walk: GroundKinematics, forces: Sequence[ForcePlate] | Loads, *, threshold: float
) -> tuple[dict[str, list[ContactInterval]], list[str]]:
    """Contacts of each side by force, and sentences about forces that could not be used.

    A contact begins where the vertical force rises above ``threshold`` (N) and ends where it falls
    below it again after having been at least twice as large.
    """
    if isinstance(forces, Loads):
        return _contacts_from_loads(walk, forces, threshold)
    found: dict[str, list[ContactInterval]] = {"left": [], "right": []}
    notes: list[str] = []
    for plate in forces:
        force, offset = _remove_offset(np.nan_to_num(plate.force[:, 2]))
        if offset:
            notes.append(
                f"Plate {plate.name!r} reads {offset:.0f} N while nobody stands on it; "
                "that is taken off before events are told."
            )
        for contact in _loaded_intervals(plate.time, force, threshold):
            side, reason = _side_on_plate(walk, plate, force, contact, threshold)
            if side:
                source = f"forces: plate {plate.name!r} at {threshold:g} N"
                found[side].append(ContactInterval(contact.start, contact.end, source))
            elif reason:
                notes.append(reason)
    return {side: _merge_intervals(contacts) for side, contacts in found.items()}, notes


def _remove_offset(force: np.ndarray) -> tuple[np.ndarray, float]:
    """A vertical force without what the plate reads unloaded, and how much that was (N)."""
    quiet = force[np.abs(force) < MAX_UNLOADED_FORCE_N]
    if len(quiet) < MIN_UNLOADED_SHARE * len(force):
        return force, 0.0
    offset = float(np.median(quiet))
    return (force - offset, offset) if abs(offset) > MIN_PLATE_OFFSET_N else (force, 0.0)


def _contacts_from_loads(
    walk: GroundKinematics, loads: Loads, threshold: float
) -> tuple[dict[str, list[ContactInterval]], list[str]]:
    up = world_axes(loads.motion.model)[2]
    found: dict[str, list[ContactInterval]] = {"left": [], "right": []}
    notes: list[str] = []
    total: dict[str, np.ndarray] = {}
    for foot in loads.feet:
        if foot.predicted:
            notes.append(
                f"Forces on {foot.body!r} were predicted from the motion, so they cannot tell "
                "events better than the motion itself; they are left aside."
            )
        elif foot.side in found:
            side = foot.side
            total[side] = total.get(side, 0.0) + _upward(foot, up)
    for each, force in total.items():
        found[each] = [
            ContactInterval(c.start, c.end, f"forces: load of the {each} foot at {threshold:g} N")
            for c in _loaded_intervals(np.asarray(loads.motion.time), force, threshold)
        ]
    return found, notes


def _upward(foot: ContactForce, up: np.ndarray) -> np.ndarray:
    return np.asarray(np.nan_to_num(foot.force @ up))


def _loaded_intervals(
    time: np.ndarray, force: np.ndarray, threshold: float
) -> list[ContactInterval]:
    """Loaded spans; hysteresis by size: what never doubles the threshold is noise."""
    contacts = threshold_intervals(time, force, on=threshold, off=threshold)
    return [c for c in contacts if force[_within(time, c)].max(initial=0.0) >= 2 * threshold]


def _side_on_plate(
    walk: GroundKinematics,
    plate: ForcePlate,
    force: np.ndarray,
    contact: ContactInterval,
    threshold: float,
) -> tuple[str, str]:
    """The side that stood on a plate during a contact, or a sentence why it is not known."""
    inside = _within(plate.time, contact) & (force >= threshold)
    inside &= (plate.time >= walk.time[0]) & (plate.time <= walk.time[-1])
    inside &= np.isfinite(plate.point).all(axis=1)
    when = plate.time[inside]
    if not when.size:
        return "", ""
    pressed = plate.point[inside][:, :2]
    carried = np.outer(when - walk.time[0], walk.belt)[:, :2]
    distance = {
        side: _distance_to_foot(
            pressed,
            _path_at(walk, walk.side(side).heel, when) + carried,
            _path_at(walk, walk.side(side).toe, when) + carried,
        )
        for side in ("left", "right")
    }
    at = f"Plate {plate.name!r} is loaded from {when[0]:.2f} to {when[-1]:.2f} s"
    nearest = {
        "left": float(np.mean(distance["left"] < distance["right"])),
        "right": float(np.mean(distance["right"] < distance["left"])),
    }
    side = max(nearest, key=lambda s: nearest[s])
    if float(np.median(distance[side])) > MAX_FOOT_DISTANCE_M:
        gone = float(np.median(distance[side]))
        return "", f"{at}, but the nearest foot is {gone:.2f} m away; its events are left out."
    if nearest[side] < MIN_NEAREST_SHARE:
        return "", f"{at} by both feet; it tells no events of one foot."
    return side, ""


def _path_at(walk: GroundKinematics, path: np.ndarray, when: np.ndarray) -> np.ndarray:
    return np.stack([np.interp(when, walk.time, path[:, axis]) for axis in (0, 1)], axis=1)


def _distance_to_foot(points: np.ndarray, heel: np.ndarray, toe: np.ndarray) -> np.ndarray:
    """Distance (m) of points from the lines between heel and toe, each in the plane."""
    along = toe - heel
    length = np.maximum((along**2).sum(axis=1), 1e-12)
    share = np.clip(((points - heel) * along).sum(axis=1) / length, 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - heel - share[:, None] * along, axis=1))


def _merge_intervals(contacts: Sequence[ContactInterval]) -> list[ContactInterval]:
    """One foot may touch several plates in one step: spans that overlap become one."""
    merged: list[ContactInterval] = []
    for contact in sorted(contacts, key=lambda c: -np.inf if c.start is None else c.start):
        last = merged[-1] if merged else None
        start = -np.inf if contact.start is None else contact.start
        if last is not None and (last.end is None or start <= last.end + MIN_CONTACT_GAP_S):
            later = last.end is not None and (contact.end is None or contact.end > last.end)
            merged[-1] = ContactInterval(
                last.start, contact.end if later else last.end, last.source
            )
        else:
            merged.append(contact)
    return merged


def _within(time: np.ndarray, contact: ContactInterval) -> np.ndarray:
    low = -np.inf if contact.start is None else contact.start
    high = np.inf if contact.end is None else contact.end
    return np.asarray((time >= low) & (time <= high))


def _schmitt_trigger(signal: np.ndarray, on: float, off: float) -> np.ndarray:
    """True from reaching ``on`` until falling below ``off``."""
    state = np.full(len(signal), -1, dtype=np.int8)
    state[signal >= on] = 1
    state[signal < off] = 0
    known = np.flatnonzero(state >= 0)
    if not known.size:
        return np.zeros(len(signal), dtype=bool)
    last = np.searchsorted(known, np.arange(len(signal)), side="right") - 1
    return np.asarray(state[known[np.maximum(last, 0)]] == 1) & (last >= 0)


def _crossing(time: np.ndarray, signal: np.ndarray, k: int, level: float) -> float:
    """The instant between samples k and k+1 at which the straight line meets a level."""
    rise = signal[k + 1] - signal[k]
    share = 0.5 if rise == 0 else float(np.clip((level - signal[k]) / rise, 0.0, 1.0))
    return float(time[k] + share * (time[k + 1] - time[k]))
