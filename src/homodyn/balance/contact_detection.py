"""Detection of contact phases in a motion or a trial: from feet at rest, or from force plates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import TypedDict, Unpack

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from homodyn.balance.contact_phases import SupportPhase
from homodyn.balance.sole_contacts import (
    GroundLevel,
    Sole,
    feet_on_ground,
    find_soles,
    ground_level,
    loaded_feet,
)
from homodyn.balance.stance import Stance
from homodyn.balance.support_areas import GroundAxes
from homodyn.capture import (
    Trial,
    inverse_dynamics,
)
from homodyn.capture.kinetics import (
    Foot,
    find_feet,
)
from homodyn.capture.kinetics.foot_trajectories import (
    MAX_STANCE_CLEARANCE_M,
    SoleTrajectory,
    ground_velocity,
    trajectories_of_points,
)
from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import position
from homodyn.errors import CaptureError
from homodyn.foundation.options import change_options
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model.side import side_of
from homodyn.motion import (
    ForcePlate,
    Motion,
)
from homodyn.motion.supports import ContactPatch, Grasp, Support

MIN_CONTACT_DURATION_S = 0.04
"""Contacts, and gaps between contacts, that are shorter are noise."""
MIN_REST_DURATION_S = 0.1
"""A hand that rests for a shorter time does not grasp."""
MAX_RESTING_SPEED_M_PER_S = 0.05
"""A hand that is slower than this is at rest."""
MIN_OUTLINE_POINTS = 3
"""Points of contact shapes that the outline of a sole needs."""
FLAT_FRAMES_PERCENTILE = 20.0
"""Frames of a contact, in percent, in which its sole counts as flat in any case."""


@record(eq=True)
class ContactDetectionOptions(Record):
    """Friction, limits and thresholds of `detect_contacts`."""

    friction: float = 0.7
    """Friction coefficient of all feet."""
    limit: float = np.inf
    """Maximum sum of the normal forces of all contacts, N."""
    sole_margin: float = 0.0
    """Half width (m) of a square added around every point of the sole outline."""
    max_hand_speed: float = MAX_RESTING_SPEED_M_PER_S
    """Speed (m/s) below which a hand is at rest."""
    ground: float | None = None
    """Height (m) of the ground under a motion; None to estimate it, see `detect_contacts`."""


class ContactDetectionKeywords(TypedDict, total=False):
    """The fields of `ContactDetectionOptions` as keywords of `detect_contacts`."""

    friction: float
    limit: float
    sole_margin: float
    max_hand_speed: float
    ground: float | None


@dataclass(frozen=True, eq=False)
class _SoleTrack:
    """The points of one sole over time, and whether it is in contact."""

    name: str
    body: str
    points: np.ndarray
    clearance: np.ndarray
    in_contact: np.ndarray


@dataclass(frozen=True, eq=False)
class _Ground:
    """Vertical direction, and velocity (m/s) of the ground: zero unless it is a treadmill."""

    up: np.ndarray
    velocity: np.ndarray


def is_resting(
    places: np.ndarray,
    time: np.ndarray,
    *,
    max_speed: float = MAX_RESTING_SPEED_M_PER_S,
    min_duration: float = MIN_REST_DURATION_S,
) -> np.ndarray:
    """Find the frames in which a point is at rest.

    Args:
        places: Positions of the point, (frames, 3), m.
        time: Time of each frame, (frames,), s.
        max_speed: Speed (m/s) below which the point is at rest.
        min_duration: Minimum duration (s); shorter rests do not count.

    Returns:
        (frames,): True where the point is at rest.
    """
    speed = np.linalg.norm(np.gradient(np.asarray(places, dtype=float), time, axis=0), axis=1)
    return remove_short_runs(speed < max_speed, time, min_duration, gaps=False)


def remove_short_runs(
    flags: np.ndarray, time: np.ndarray, min_duration: float, *, gaps: bool = True
) -> np.ndarray:
    """Flags without runs shorter than ``min_duration`` (s): of False first, then of True."""
    flags = np.array(flags, dtype=bool)
    step = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    for value in (False, True) if gaps else (True,):
        for start, end in _runs(flags == value):
            inner = start > 0 and end < len(flags)
            if (end - start) * step < min_duration - 1e-9 and (inner or value):
                flags[start:end] = not value
    return flags


def detect_contacts(
    recording: Motion | Trial,
    *,
    plates: Sequence[ForcePlate] = (),
    feet: Mapping[str, Sequence[str]] | Sequence[str] = (),
    hands: Mapping[str, float] | None = None,
    options: ContactDetectionOptions | None = None,
    **changes: Unpack[ContactDetectionKeywords],
) -> tuple[SupportPhase, ...]:
    """Detect the stances of a motion or a trial.

    A foot is in contact while it is loaded: by ``plates``, else by the contact forces of the motion
    where it has any. Where no force is known, a foot is in contact while some point of its sole is
    low and at rest on the ground and the body does not fall freely. Feet that step show the ground:
    it is the lowest level of all soles, and a foot that never comes within 3 cm of it is in the
    air. Feet that stay at one height do not show it: the ground of a computed motion is then the
    plane through the origin, or ``ground``, and soles within 1 cm of it are in contact.

    The contact of a foot is a horizontal polygon around the sole at the frames where the sole is
    flattest. On a treadmill the polygon moves with the belt.

    Args:
        recording: Motion, or marker trial with Z up.
        plates: Force plates in Z-up axes; motions only.
        feet: For a motion, names of the foot bodies; found automatically when empty. For a trial,
            the markers of the sole by name of the foot; required.
        hands: Maximum grasp force (N) along each world axis, by body name (motion) or marker name
            (trial). A hand grasps while it is at rest for 0.1 s or longer.
        options: Friction, limits and thresholds; the defaults when left out.
        changes: Fields of `ContactDetectionOptions` to change, such as ``friction=0.5``.

    Returns:
        Consecutive phases, one per set of supports; the stance is None in flight.

    Raises:
        CaptureError: Feet or markers are unknown, markers of a foot have gaps, ``feet`` is missing
            for a trial, or plates are given with a trial.
    """
    chosen = change_options("detect_contacts", options or ContactDetectionOptions(), changes)
    if isinstance(recording, Motion):
        tracks, ground = _motion_tracks(recording, plates, feet, chosen.ground)
    elif plates:
        raise CaptureError("plates are assigned to feet through a model: fit the trial first")
    else:
        tracks, ground = _trial_tracks(recording, feet)
    time = recording.time
    paths = {name: _hand_path(recording, name) for name in hands or {}}
    grasping = [
        is_resting(path, time, max_speed=chosen.max_hand_speed) & ~np.isnan(path).any(axis=1)
        for path in paths.values()
    ]
    standing = [
        remove_short_runs(track.in_contact, time, MIN_CONTACT_DURATION_S) for track in tracks
    ]
    grasps = [(name, paths[name], bound) for name, bound in (hands or {}).items()]
    return _phases(time, tracks, grasps, np.array(standing + grasping), chosen, ground)


def _motion_tracks(
    motion: Motion,
    plates: Sequence[ForcePlate],
    feet: Mapping[str, Sequence[str]] | Sequence[str],
    height: float | None,
) -> tuple[list[_SoleTrack], _Ground]:
    found = find_feet(motion.model, tuple(feet))
    places = [foot.positions(motion.model, motion.q) for foot in found]
    paths, ground = _sole_paths(found, places, motion.time, world_axes(motion.model)[2])
    soles = find_soles(motion, found, ground.up)
    level = ground_level(motion, soles, height)
    weight = float(motion.model.nominal_value(motion.model.mass)) * float(
        np.linalg.norm(motion.model.gravity)
    )
    forces = inverse_dynamics(motion, plates).feet if plates else motion.contact_forces
    loaded = loaded_feet(forces, found, weight)
    if motion.contact_forces and not plates:
        unloaded = np.zeros(motion.frames, dtype=bool)
        flags = [loaded.get(foot.body, unloaded) for foot in found]
    else:
        by_height = feet_on_ground(motion, paths, soles, level, ground.up)
        flags = [loaded.get(f.body, flag) for f, flag in zip(found, by_height, strict=True)]
    tracks = []
    for path, sole, in_contact in zip(paths, soles, flags, strict=True):
        points, clearance = _support_points(path, sole, level)
        name = path.foot.side or path.foot.body
        tracks.append(_SoleTrack(name, path.foot.body, points, clearance, in_contact))
    return tracks, ground


def _support_points(
    path: SoleTrajectory, sole: Sole, level: GroundLevel
) -> tuple[np.ndarray, np.ndarray]:
    """Points (frames, points, 3) around the support of a foot, and their clearance, m.

    Where the ground is known, they are the points on it: the toes alone where the heel is up.
    """
    if level.estimated or not sole.exact or sole.points.shape[1] < MIN_OUTLINE_POINTS:
        return path.points, path.clearance
    clearance = sole.height - level.height
    touching = np.median(clearance, axis=0) <= level.max_height(sole)
    if not touching.any():
        return path.points, path.clearance
    return sole.points[:, touching], clearance[:, touching]


def _trial_tracks(
    trial: Trial, feet: Mapping[str, Sequence[str]] | Sequence[str]
) -> tuple[list[_SoleTrack], _Ground]:
    if not isinstance(feet, Mapping) or not feet:
        raise CaptureError(
            "a trial does not say which markers are on its feet: give feet= such as "
            "{'left': ['LHEE', 'LTOE', 'LMT5']}"
        )
    found = [Foot(name, side_of(name), (name,), ()) for name in feet]
    places = []
    for name, markers in feet.items():
        for marker in markers:
            if marker not in trial.markers:
                message = unknown_name("marker", marker, trial.markers)
                raise CaptureError(f"feet={name!r}: the trial has {message}")
        columns = [trial.markers.index(marker) for marker in markers]
        points = trial.positions[:, columns]
        if np.isnan(points).any():
            raise CaptureError(f"markers of foot {name!r} have gaps: fill them first")
        places.append(points)
    paths, ground = _sole_paths(found, places, trial.time, np.array([0.0, 0.0, 1.0]))
    tracks = [_SoleTrack(p.foot.body, "", p.points, p.clearance, p.in_stance) for p in paths]
    return tracks, ground


def _sole_paths(
    feet: Sequence[Foot], places: Sequence[np.ndarray], time: np.ndarray, up: np.ndarray
) -> tuple[tuple[SoleTrajectory, ...], _Ground]:
    paths = trajectories_of_points(feet, places, time, up)
    velocities = [np.gradient(points, time, axis=0) for points in places]
    belt = ground_velocity(velocities, [path.clearance for path in paths], up)
    return paths, _Ground(up, belt)


def _hand_path(recording: Motion | Trial, name: str) -> np.ndarray:
    if isinstance(recording, Motion):
        return np.asarray(position(recording.model, recording.q, name))
    if name not in recording.markers:
        message = unknown_name("marker", name, recording.markers)
        raise CaptureError(f"hands={name!r}: the trial has {message}")
    return recording.positions[:, recording.markers.index(name)]


def _phases(
    time: np.ndarray,
    tracks: Sequence[_SoleTrack],
    grasps: Sequence[tuple[str, np.ndarray, float]],
    flags: np.ndarray,
    options: ContactDetectionOptions,
    ground: _Ground,
) -> tuple[SupportPhase, ...]:
    """Phases of constant ``flags`` (supports, frames), first of the soles, then of the grasps.

    A grasp is the name of a hand, its positions (frames, 3; m) and its largest force (N).
    """
    step = float(np.median(np.diff(time)))
    changes = np.flatnonzero(np.any(np.diff(flags, axis=1), axis=0)) + 1
    borders = [0, *changes.tolist(), len(time)]
    belt = ground.velocity
    soles = {
        (k, start): _sole_outline(track, (start, end), time, options.sole_margin, ground)
        for k, track in enumerate(tracks)
        for start, end in _runs(flags[k])
    }
    phases = []
    for start, end in pairwise(borders):
        supports: list[Support] = []
        for k, track in enumerate(tracks):
            if not flags[k, start]:
                continue
            first = max(s for (n, s) in soles if n == k and s <= start)
            corners = soles[k, first] + (time[start] - time[first]) * belt
            supports.append(
                ContactPatch(track.name, corners, ground.up, options.friction, body=track.body)
            )
        for n, (name, path, bound) in enumerate(grasps, start=len(tracks)):
            if flags[n, start]:
                place = np.median(path[start:end], axis=0)
                supports.append(Grasp(name, place, np.full(3, bound), body=name))
        last = time[end] if end < len(time) else time[-1] + step
        stance = Stance(tuple(supports), options.limit) if supports else None
        title = " + ".join(s.name for s in supports) or "flight"
        velocity = belt if belt.any() else None
        phases.append(SupportPhase(stance, float(time[start]), float(last), title, velocity))
    return tuple(phases)


def _sole_outline(
    track: _SoleTrack, span: tuple[int, int], time: np.ndarray, margin: float, ground: _Ground
) -> np.ndarray:
    """(corners, 3), m: outline of a sole where it is flattest, shifted to the first frame."""
    start, end = span
    clearance = track.clearance[start:end].max(axis=1)
    threshold = float(np.percentile(clearance, FLAT_FRAMES_PERCENTILE))
    frames = start + np.flatnonzero(clearance <= max(MAX_STANCE_CLEARANCE_M, threshold))
    displacement = (time[frames] - time[start])[:, None, None] * ground.velocity
    points = np.median(track.points[frames] - displacement, axis=0)
    level = GroundAxes.of(-ground.up)
    height = float(np.min(points @ ground.up - np.median(track.clearance[frames], axis=0)))
    outline = level.flat(points)
    # Collinear points have no hull; they are the support themselves.
    with suppress(QhullError, ValueError):
        outline = outline[ConvexHull(outline).vertices]
    outline = _offset_outline(outline, margin)
    return outline[:, :1] * level.first + outline[:, 1:] * level.second + height * ground.up


def _offset_outline(outline: np.ndarray, margin: float) -> np.ndarray:
    """An outline with a square of half width ``margin`` around every point."""
    if not margin:
        return outline
    square = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * margin
    points = (outline[:, None] + square).reshape(-1, 2)
    return np.asarray(points[ConvexHull(points).vertices])


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.r_[0, flags.astype(int), 0]))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
