"""Contact intervals of the feet from measured or computed ground forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.gait.ground_kinematics import GroundKinematics
from homodyn.model.side import Side
from homodyn.motion import ForcePlate
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.loads import Loads
from homodyn.motion.motion import Motion
from homodyn.motion.stance_threshold import STANCE_THRESHOLD

MIN_CONTACT_S = 0.1
"""Shorter contacts (s) are not steps."""
MIN_CONTACT_GAP_S = 0.05
"""Shorter gaps (s) do not end a contact."""
MAX_FOOT_DISTANCE_M = 0.15
"""A center of pressure farther than this (m) from the line from heel to toe is not this foot's."""
MIN_UNLOADED_SHARE = 0.15
"""Share of a recording in which a plate must be unloaded to determine its offset."""
MIN_PLATE_OFFSET_N = 5.0
"""Smaller offsets (N) are not removed."""
MIN_NEAREST_SHARE = 0.8
"""Share of a contact during which the center of pressure must be nearest to one foot."""


@dataclass(frozen=True)
class ContactInterval:
    """Start and end (s) of a contact; None where it was not observed."""

    start: float | None
    end: float | None
    source: str = ""


def threshold_intervals(
    time: np.ndarray,
    signal: np.ndarray,
    *,
    on: float,
    off: float,
    min_duration: float = MIN_CONTACT_S,
    min_gap: float = MIN_CONTACT_GAP_S,
) -> list[ContactInterval]:
    """Intervals from where a signal reaches ``on`` to where it falls below ``off``.

    Crossings are interpolated linearly between samples. Gaps shorter than ``min_gap`` (s) are
    closed first; intervals shorter than ``min_duration`` (s) are then dropped.
    """
    active = _schmitt_trigger(signal, on, off)
    edges = np.flatnonzero(np.diff(active.astype(np.int8)))
    starts = [_crossing(time, signal, k, on) for k in map(int, edges) if active[k + 1]]
    ends = [_crossing(time, signal, k, off) for k in map(int, edges) if active[k]]
    if active.size and active[0]:
        starts = [-np.inf, *starts]
    if active.size and active[-1]:
        ends = [*ends, np.inf]
    joined: list[list[float]] = []
    for start, end in zip(starts, ends, strict=True):
        if joined and start - joined[-1][1] < min_gap:
            joined[-1][1] = end
        else:
            joined.append([start, end])
    return [
        ContactInterval(start if np.isfinite(start) else None, end if np.isfinite(end) else None)
        for start, end in joined
        if end - start >= min_duration
    ]


def contacts_from_forces(
    kinematics: GroundKinematics, forces: Sequence[ForcePlate] | Loads | Motion, *, threshold: float
) -> tuple[dict[Side, list[ContactInterval]], list[str]]:
    """Contacts of each side from forces, and notes on forces that could not be used.

    A contact begins where the vertical force rises above ``threshold`` (N) and ends where it falls
    below it, provided it reached twice the threshold in between. Of a motion the contact forces
    that it carries are used.
    """
    if isinstance(forces, Loads):
        return _contacts_from_bodies(forces.motion, forces.feet, threshold)
    if isinstance(forces, Motion):
        return _contacts_from_bodies(forces, forces.contact_forces, threshold)
    found: dict[Side, list[ContactInterval]] = {Side.LEFT: [], Side.RIGHT: []}
    notes: list[str] = []
    for plate in forces:
        force, offset = _remove_offset(np.nan_to_num(plate.force[:, 2]))
        if offset:
            notes.append(
                f"Plate {plate.name!r} reads {offset:.0f} N while unloaded; this offset is removed "
                "before events are detected."
            )
        for contact in _loaded_intervals(plate.time, force, threshold):
            side, reason = _side_on_plate(kinematics, plate, force, contact, threshold)
            if side:
                source = f"forces: plate {plate.name!r} at {threshold:g} N"
                found[side].append(ContactInterval(contact.start, contact.end, source))
            elif reason:
                notes.append(reason)
    return {side: _merge_intervals(contacts) for side, contacts in found.items()}, notes


def _remove_offset(force: np.ndarray) -> tuple[np.ndarray, float]:
    """A vertical force without the offset of the unloaded plate, and that offset (N)."""
    quiet = force[np.abs(force) < STANCE_THRESHOLD.baseline_n]
    if len(quiet) < MIN_UNLOADED_SHARE * len(force):
        return force, 0.0
    offset = float(np.median(quiet))
    return (force - offset, offset) if abs(offset) > MIN_PLATE_OFFSET_N else (force, 0.0)


def _contacts_from_bodies(
    motion: Motion, forces: Sequence[ContactForce], threshold: float
) -> tuple[dict[Side, list[ContactInterval]], list[str]]:
    up = world_axes(motion.model)[2]
    found: dict[Side, list[ContactInterval]] = {Side.LEFT: [], Side.RIGHT: []}
    notes: list[str] = []
    total: dict[Side, np.ndarray] = {}
    for foot in forces:
        if foot.predicted:
            notes.append(
                f"Forces on {foot.body!r} were predicted from the motion and are not used to "
                "detect events."
            )
        elif foot.side is not None:
            total[foot.side] = total.get(foot.side, 0.0) + _upward(foot, up)
    for side, force in total.items():
        found[side] = [
            ContactInterval(c.start, c.end, f"forces: load of the {side} foot at {threshold:g} N")
            for c in _loaded_intervals(np.asarray(motion.time), force, threshold)
        ]
    return found, notes


def _upward(foot: ContactForce, up: np.ndarray) -> np.ndarray:
    return np.asarray(np.nan_to_num(foot.force @ up))


def _loaded_intervals(
    time: np.ndarray, force: np.ndarray, threshold: float
) -> list[ContactInterval]:
    """Loaded intervals; an interval that never reaches twice the threshold is noise."""
    contacts = threshold_intervals(time, force, on=threshold, off=threshold)
    return [c for c in contacts if force[_within(time, c)].max(initial=0.0) >= 2 * threshold]


def _side_on_plate(
    kinematics: GroundKinematics,
    plate: ForcePlate,
    force: np.ndarray,
    contact: ContactInterval,
    threshold: float,
) -> tuple[Side | None, str]:
    """The side that loads a plate during a contact, or a sentence why it is unknown."""
    inside = _within(plate.time, contact) & (force >= threshold)
    inside &= (plate.time >= kinematics.time[0]) & (plate.time <= kinematics.time[-1])
    inside &= np.isfinite(plate.point).all(axis=1)
    when = plate.time[inside]
    if not when.size:
        return None, ""
    center = plate.point[inside][:, :2]
    belt = np.outer(when - kinematics.time[0], kinematics.belt)[:, :2]
    distance = {
        side: _distance_to_foot(
            center,
            _path_at(kinematics, kinematics.side(side).heel, when) + belt,
            _path_at(kinematics, kinematics.side(side).toe, when) + belt,
        )
        for side in (Side.LEFT, Side.RIGHT)
    }
    at = f"Plate {plate.name!r} is loaded from {when[0]:.2f} to {when[-1]:.2f} s"
    nearest = {
        side: float(np.mean(distance[side] < distance[side.other]))
        for side in (Side.LEFT, Side.RIGHT)
    }
    side = max(nearest, key=lambda s: nearest[s])
    if float(np.median(distance[side])) > MAX_FOOT_DISTANCE_M:
        away = float(np.median(distance[side]))
        return None, f"{at}, but the nearest foot is {away:.2f} m away; its events are left out."
    if nearest[side] < MIN_NEAREST_SHARE:
        return None, f"{at} by both feet; no events of a single foot follow from it."
    return side, ""


def _path_at(kinematics: GroundKinematics, path: np.ndarray, when: np.ndarray) -> np.ndarray:
    return np.stack([np.interp(when, kinematics.time, path[:, axis]) for axis in (0, 1)], axis=1)


def _distance_to_foot(points: np.ndarray, heel: np.ndarray, toe: np.ndarray) -> np.ndarray:
    """Horizontal distance (m) of points from the line between heel and toe."""
    along = toe - heel
    length = np.maximum((along**2).sum(axis=1), 1e-12)
    share = np.clip(((points - heel) * along).sum(axis=1) / length, 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - heel - share[:, None] * along, axis=1))


def _merge_intervals(contacts: Sequence[ContactInterval]) -> list[ContactInterval]:
    """Merge overlapping intervals: one foot may touch several plates in one step."""
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
    """Time between samples k and k+1 at which linear interpolation meets a level."""
    rise = signal[k + 1] - signal[k]
    share = 0.5 if rise == 0 else float(np.clip((level - signal[k]) / rise, 0.0, 1.0))
    return float(time[k] + share * (time[k + 1] - time[k]))
