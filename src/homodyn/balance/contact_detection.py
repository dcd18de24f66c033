"""Stances found in a recording: from feet and hands that rest, or from force plates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from homodyn.balance.contact_phases import SupportPhase
from homodyn.balance.contacts import ContactPatch, Grasp, Support
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
from homodyn.model.side import side_of
from homodyn.motion import (
    ForcePlate,
    Loads,
    Motion,
)

MIN_CONTACT_DURATION_S = 0.04
"""s: supports and gaps that last no longer are noise."""
MAX_RESTING_SPEED_M_PER_S = 0.05
"""m/s: a hand that is slower than this rests."""
MIN_LOADED_FORCE_N = 20.0
"""N: a foot that carries less stands on no plate."""


@dataclass(frozen=True, eq=False)
class _SoleTrack:
    """The points of one sole over time, and when it stands."""

    name: str
    body: str
    points: np.ndarray
    clearance: np.ndarray
    stands: np.ndarray


def is_resting(
    places: np.ndarray,
    time: np.ndarray,
    *,
    speed: float = MAX_RESTING_SPEED_M_PER_S,
    least: float = 0.1,
) -> np.ndarray:
    """Find the frames in which a point is at rest.

    Args:
        places: Positions of the point, (frames, 3), m.
        time: Time of each frame, (frames,), s.
        speed: Speed (m/s) below which the point is at rest.
        least: Minimum duration (s); shorter rests do not count.

    Returns:
        (frames,): True where the point is at rest.
    """
    moving = np.linalg.norm(np.gradient(np.asarray(places, dtype=float), time, axis=0), axis=1)
    return remove_short_runs(moving < speed, time, least, gaps=False)


def remove_short_runs(
    flags: np.ndarray, time: np.ndarray, least: float, *, gaps: bool = True
) -> np.ndarray:
    """Flags without runs shorter than ``least`` (s): of False first, then of True."""
    flags = np.array(flags, dtype=bool)
    step = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    for value in (False, True) if gaps else (True,):
        for start, end in _runs(flags == value):
            inner = start > 0 and end < len(flags)
            if (end - start) * step < least - 1e-9 and (inner or value):
                flags[start:end] = not value
    return flags


def detect_contacts(
    recording: Motion | Trial,
    *,
    plates: Sequence[ForcePlate] = (),
    feet: Mapping[str, Sequence[str]] | Sequence[str] = (),
    hands: Mapping[str, float] | None = None,
    friction: float = 0.7,
    limit: float = np.inf,
    grow: float = 0.0,
    hand_speed: float = MAX_RESTING_SPEED_M_PER_S,
) -> tuple[SupportPhase, ...]:
    """Detect the stances of a motion or a trial.

    A foot is in contact while some point of its sole is low and at rest on the ground or, with
    ``plates``, while it is loaded. Its contact is a horizontal polygon around the sole at the
    frames where the sole is flattest. On a treadmill the polygon moves with the belt.

    Args:
        recording: Motion, or marker trial with Z up.
        plates: Force plates in Z-up axes; motions only.
        feet: For a motion, names of the foot bodies; found automatically when empty. For a trial,
            the markers of the sole by name of the foot; required.
        hands: Maximum grasp force (N) along each world axis, by body name (motion) or marker name
            (trial). A hand grasps while it is at rest for 0.1 s or longer.
        friction: Friction coefficient of all feet.
        limit: Maximum sum of the normal forces of all contacts, N.
        grow: Half width (m) of a square added around every point of the sole outline.
        hand_speed: Speed (m/s) below which a hand is at rest.

    Returns:
        Consecutive phases, one per set of supports; the stance is None in flight.

    Raises:
        CaptureError: Feet or markers are unknown, markers of a foot have gaps, ``feet`` is missing
            for a trial, or plates are given with a trial.
    """
    if isinstance(recording, Motion):
        up = world_axes(recording.model)[2]
        tracks, belt = _of_motion(recording, plates, feet, up)
    else:
        up = np.array([0.0, 0.0, 1.0])
        tracks, belt = _of_trial(recording, feet, up)
        if plates:
            raise CaptureError("plates find their feet through a model: fit the trial first")
    time = recording.time
    held = {name: _hand_path(recording, name) for name in hands or {}}
    grips = {
        name: is_resting(path, time, speed=hand_speed) & ~np.isnan(path).any(axis=1)
        for name, path in held.items()
    }
    flags = [
        remove_short_runs(track.stands, time, MIN_CONTACT_DURATION_S) for track in tracks
    ] + list(grips.values())
    return _phases(
        time, tracks, held, np.array(flags), hands or {}, friction, limit, grow, up, belt
    )


def _of_motion(
    motion: Motion,
    plates: Sequence[ForcePlate],
    feet: Mapping[str, Sequence[str]] | Sequence[str],
    up: np.ndarray,
) -> tuple[list[_SoleTrack], np.ndarray]:
    found = find_feet(motion.model, tuple(feet))
    places = [foot.positions(motion.model, motion.q) for foot in found]
    paths, belt = _with_belt(found, places, motion.time, up)
    loaded = _loaded_feet(inverse_dynamics(motion, plates), found) if plates else {}
    return [
        _SoleTrack(
            path.foot.side or path.foot.body,
            path.foot.body,
            path.points,
            path.clearance,
            loaded.get(path.foot.body, path.in_stance),
        )
        for path in paths
    ], belt


def _of_trial(
    trial: Trial, feet: Mapping[str, Sequence[str]] | Sequence[str], up: np.ndarray
) -> tuple[list[_SoleTrack], np.ndarray]:
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
                raise CaptureError(
                    f"feet={name!r}: the trial has no marker {marker!r}; it has "
                    f"{', '.join(trial.markers)}"
                )
        columns = [trial.markers.index(marker) for marker in markers]
        points = trial.positions[:, columns]
        if np.isnan(points).any():
            raise CaptureError(f"markers of foot {name!r} have gaps: fill them first")
        places.append(points)
    paths, belt = _with_belt(found, places, trial.time, up)
    return [_SoleTrack(p.foot.body, "", p.points, p.clearance, p.in_stance) for p in paths], belt


def _with_belt(
    feet: Sequence[Foot], places: Sequence[np.ndarray], time: np.ndarray, up: np.ndarray
) -> tuple[tuple[SoleTrajectory, ...], np.ndarray]:
    paths = trajectories_of_points(feet, places, time, up)
    velocities = [np.gradient(points, time, axis=0) for points in places]
    return paths, ground_velocity(velocities, [path.clearance for path in paths], up)


def _loaded_feet(known: Loads, feet: Sequence[Foot]) -> dict[str, np.ndarray]:
    bodies = {foot.body for foot in feet}
    return {
        foot.body: np.linalg.norm(foot.force, axis=1) > MIN_LOADED_FORCE_N
        for foot in known.feet
        if foot.body in bodies
    }


def _hand_path(recording: Motion | Trial, name: str) -> np.ndarray:
    if isinstance(recording, Motion):
        return np.asarray(position(recording.model, recording.q, name))
    if name not in recording.markers:
        raise CaptureError(f"hands=: the trial has no marker {name!r}")
    return recording.positions[:, recording.markers.index(name)]


def _phases(
    time: np.ndarray,
    tracks: Sequence[_SoleTrack],
    held: Mapping[str, np.ndarray],
    flags: np.ndarray,
    hands: Mapping[str, float],
    friction: float,
    limit: float,
    grow: float,
    up: np.ndarray,
    belt: np.ndarray,
) -> tuple[SupportPhase, ...]:
    step = float(np.median(np.diff(time)))
    changes = np.flatnonzero(np.any(np.diff(flags, axis=1), axis=0)) + 1
    edges = [0, *changes.tolist(), len(time)]
    moving = bool(belt.any())
    soles = {
        (k, start): _sole(track, start, end, time, belt, grow, up)
        for k, track in enumerate(tracks)
        for start, end in _runs(flags[k])
    }
    phases = []
    for start, end in pairwise(edges):
        supports: list[Support] = []
        for k, track in enumerate(tracks):
            if not flags[k, start]:
                continue
            began = max(s for (n, s) in soles if n == k and s <= start)
            corners = soles[k, began] + (time[start] - time[began]) * belt
            supports.append(ContactPatch(track.name, corners, up, friction, body=track.body))
        for n, (name, bound) in enumerate(hands.items(), start=len(tracks)):
            if flags[n, start]:
                place = np.median(held[name][start:end], axis=0)
                supports.append(Grasp(name, place, np.full(3, bound), body=name))
        last = time[end] if end < len(time) else time[-1] + step
        stance = Stance(tuple(supports), limit) if supports else None
        title = " + ".join(s.name for s in supports) or "flight"
        drift = belt if moving else None
        phases.append(SupportPhase(stance, float(time[start]), float(last), title, drift))
    return tuple(phases)


def _sole(
    track: _SoleTrack,
    start: int,
    end: int,
    time: np.ndarray,
    belt: np.ndarray,
    grow: float,
    up: np.ndarray,
) -> np.ndarray:
    """(corners, 3), m: outline of a sole where it stood flattest, as it was at ``start``."""
    clearance = track.clearance[start:end].max(axis=1)
    flat = np.flatnonzero(
        clearance <= max(MAX_STANCE_CLEARANCE_M, float(np.percentile(clearance, 20)))
    )
    frames = start + flat
    carried = (time[frames] - time[start])[:, None, None] * belt
    points = np.median(track.points[frames] - carried, axis=0)
    level = GroundAxes.of(-up)
    ground = float(np.min(points @ up - np.median(track.clearance[frames], axis=0)))
    seen = level.flat(points)
    # Points in one line have no outline; they are the support themselves.
    with suppress(QhullError, ValueError):
        seen = seen[ConvexHull(seen).vertices]
    seen = _offset_outline(seen, grow)
    return seen[:, :1] * level.first + seen[:, 1:] * level.second + ground * up


def _offset_outline(outline: np.ndarray, grow: float) -> np.ndarray:
    """An outline with a square of half width ``grow`` around every point."""
    if not grow:
        return outline
    around = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * grow
    wide = (outline[:, None] + around).reshape(-1, 2)
    return np.asarray(wide[ConvexHull(wide).vertices])


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.r_[0, flags.astype(int), 0]))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
