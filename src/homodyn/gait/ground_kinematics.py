"""Trajectories of the legs and the center of mass of a motion over the ground, Z up.

On a treadmill the ground moves. Its velocity is that of the stance feet, and all positions are
relative to the belt, as if the person had walked overground: step lengths, heading and margins then
have one definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from homodyn.capture.filters.butterworth_filter import lowpass
from homodyn.capture.kinematics.segment_observability import require_seen
from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import center_of_mass, center_of_mass_velocity, marker_positions
from homodyn.errors import CaptureError
from homodyn.foundation.text import count_of
from homodyn.gait.gait_cycles import parse_side
from homodyn.gait.legs import Leg, SolePoint, find_legs
from homodyn.model import Marker, Model
from homodyn.model.side import Side
from homodyn.motion.motion import FitStatus, Motion

MIN_FOOT_SPEED_M_S = 0.25
"""Feet that never move faster (m/s) take no steps."""
MIN_BELT_SPEED_M_S = 0.15
"""Stance feet that move faster (m/s) are on a belt."""
MAX_PROGRESS_SHARE = 0.5
"""Speed of a person on a belt, as a share of that of the stance feet."""
MAX_SPEED_DEVIATION = 0.2
"""Largest difference of a given belt speed from that of the stance feet, as a fraction."""
MAX_FLAT_FOOT_SPEED_M_S = 0.1
"""A foot whose heel and toe velocities differ by less (m/s) is flat."""
VELOCITY_CUTOFF_HZ = 20.0
"""Cutoff (Hz) of the zero-lag filter before differentiation."""


@dataclass(frozen=True, eq=False)
class LegTrajectories:
    """Trajectories of one leg, each (frames, 3) in m, Z up, over the ground."""

    leg: Leg
    hip: np.ndarray
    knee: np.ndarray
    ankle: np.ndarray
    heel: np.ndarray
    toe: np.ndarray
    sole: np.ndarray
    """(frames, points, 3): lowest point of each sole shape."""


@dataclass(frozen=True, eq=False)
class GroundKinematics:
    """Trajectories used by gait analysis, Z up, relative to the ground under the feet."""

    motion: Motion
    time: np.ndarray
    left: LegTrajectories
    right: LegTrajectories
    com: np.ndarray
    """(frames, 3), m: center of mass."""
    com_velocity: np.ndarray
    """(frames, 3), m/s, over the ground."""
    belt: np.ndarray
    """(3,), m/s: velocity of the ground in the laboratory; zero overground."""
    notes: tuple[str, ...] = ()

    @property
    def treadmill(self) -> bool:
        """True when the ground moves under the feet."""
        return bool(np.any(self.belt))

    @property
    def gravity(self) -> float:
        """Magnitude of gravity (m/s2)."""
        return float(np.linalg.norm(self.motion.model.gravity))

    def side(self, side: str) -> LegTrajectories:
        """The leg of a side, ``"left"`` or ``"right"`` in any case of letters."""
        return self.left if parse_side(side) is Side.LEFT else self.right

    def at(self, values: np.ndarray, time: float) -> np.ndarray:
        """Values at one time (s), linear between frames."""
        frame = np.interp(time, self.time, np.arange(len(self.time)))
        low = min(int(frame), len(self.time) - 2)
        return values[low] + (frame - low) * (values[low + 1] - values[low])


def ground_kinematics(motion: Motion, belt_speed: float | None = None) -> GroundKinematics:
    """Trajectories of the legs and the center of mass of a motion.

    Events, gait measures, elevation angles and margins of stability begin here, so that none of
    them is computed for legs that no marker shows.

    Args:
        motion: Any movement of a model with two legs.
        belt_speed: Speed of a treadmill (m/s) where it is known; 0 is still ground; None finds it.

    Returns:
        The trajectories, relative to the ground under the feet.

    Raises:
        CaptureError: The motion is too short or has gaps, or the speed contradicts the feet.
    """
    if belt_speed is not None and not 0 <= belt_speed < np.inf:
        raise CaptureError(
            f"the speed of the belt is {belt_speed:g} m/s; expected a number of 0 or more"
        )
    if len(motion.time) < 4:
        raise CaptureError(
            f"a motion of {count_of(len(motion.time), 'frame')} is too short to contain steps; "
            "at least 4 are needed"
        )
    for name in ("q", "v"):
        bad = np.flatnonzero(~np.isfinite(getattr(motion, name)).all(axis=1))
        if bad.size:
            raise CaptureError(
                f"{name} of the motion is not finite in frame {bad[0]} and {bad.size - 1} more; "
                "fill the marker gaps or remove these frames before gait analysis"
            )
    motion, notes = _visible_frames(motion)
    if not motion.evenly_sampled:
        even = np.linspace(motion.time[0], motion.time[-1], motion.frames)
        motion = motion.resample(even)
        notes = (*notes, f"Unevenly spaced frames resampled at {motion.rate:.4g} Hz.")
    axes = world_axes(motion.model)
    left, right = find_legs(motion.model)
    bodies = tuple(b for leg in (left, right) for b in (leg.pelvis, leg.knee, leg.ankle))
    require_seen(motion, bodies, "gait events and measures")
    points = [point for leg in (left, right) for point in _points(leg)]
    positions = _paths(motion.model, motion.q, points) @ axes.T
    cut = len(_points(left))
    com = center_of_mass(motion.model, motion.q) @ axes.T
    kinematics = GroundKinematics(
        motion=motion,
        time=np.asarray(motion.time, dtype=float),
        left=_leg_trajectories(left, positions[:, :cut]),
        right=_leg_trajectories(right, positions[:, cut:]),
        com=com,
        com_velocity=center_of_mass_velocity(motion.model, motion.q, motion.v) @ axes.T,
        belt=np.zeros(3),
        notes=notes,
    )
    return _relative_to_belt(kinematics, belt_speed)


def _visible_frames(motion: Motion) -> tuple[Motion, tuple[str, ...]]:
    """The motion without frames at its ends in which no marker was seen."""
    seen = np.flatnonzero([status != FitStatus.UNSEEN for status in motion.status])
    frames = len(motion.time)
    if len(motion.status) != frames or len(seen) == frames:
        return motion, ()
    if len(seen) < 4:
        raise CaptureError(
            f"only {len(seen)} of {frames} frames show a marker; steps cannot be detected"
        )
    kept = slice(int(seen[0]), int(seen[-1]) + 1)
    cut = frames - (kept.stop - kept.start)
    shorter = motion.take(np.arange(kept.start, kept.stop))
    notes = (f"{count_of(cut, 'frame')} without markers at the ends left out.",) if cut else ()
    return shorter, notes


def smooth_velocity(kinematics: GroundKinematics, path: np.ndarray) -> np.ndarray:
    """Velocity of a trajectory (m/s): zero-lag filter, then central differences."""
    rate = kinematics.motion.rate
    if rate > 2.5 * VELOCITY_CUTOFF_HZ:
        path = lowpass(path, rate, cutoff=VELOCITY_CUTOFF_HZ)
    return np.gradient(path, kinematics.time, axis=0)


def max_foot_speed(kinematics: GroundKinematics) -> float:
    """Peak speed of the ankles over the ground (m/s), the fastest 2 % left out."""
    speeds = [
        np.linalg.norm(smooth_velocity(kinematics, kinematics.side(side).ankle), axis=1)
        for side in (Side.LEFT, Side.RIGHT)
    ]
    return float(np.percentile(np.concatenate(speeds), 98))


def _points(leg: Leg) -> list[SolePoint]:
    joints = [SolePoint(body, body, np.zeros(3)) for body in (leg.hip, leg.knee, leg.ankle)]
    return [*joints, leg.heel, leg.toe, *leg.sole]


def _paths(model: Model, q: np.ndarray, points: Sequence[SolePoint]) -> np.ndarray:
    markers = tuple(
        Marker(f"gait point {k}", point.body, point.point) for k, point in enumerate(points)
    )
    return np.asarray(marker_positions(replace(model, markers=markers), q))


def _leg_trajectories(leg: Leg, positions: np.ndarray) -> LegTrajectories:
    hip, knee, ankle, heel, toe = np.moveaxis(positions[:, :5], 1, 0)
    sole = positions[:, 5:].copy()
    sole[..., 2] -= [point.radius for point in leg.sole]
    return LegTrajectories(leg, hip, knee, ankle, heel, toe, sole)


def _relative_to_belt(kinematics: GroundKinematics, given: float | None) -> GroundKinematics:
    """The kinematics relative to the ground or belt under the feet."""
    speeds = {side: _standing_velocity(kinematics, side) for side in (Side.LEFT, Side.RIGHT)}
    belt = np.mean(list(speeds.values()), axis=0)
    belt[2] = 0.0
    pace = float(np.linalg.norm(belt))
    left, right = speeds[Side.LEFT][:2], speeds[Side.RIGHT][:2]
    progress = np.linalg.norm((kinematics.com[-1] - kinematics.com[0])[:2]) / (
        kinematics.time[-1] - kinematics.time[0]
    )
    moving = max_foot_speed(kinematics) >= MIN_FOOT_SPEED_M_S and pace >= MIN_BELT_SPEED_M_S
    in_place = bool(left @ right > 0) and progress <= MAX_PROGRESS_SHARE * pace
    if given == 0:
        if moving and in_place:
            _check_belt_speed(given, pace)
        return kinematics
    if given is not None:
        _check_belt_speed(given, pace)
        notes = [*kinematics.notes, f"The belt moves at {given:g} m/s, as given."]
        return _subtract_ground(kinematics, belt * given / pace, notes)
    if not moving:
        return kinematics
    if not in_place:
        warning = (
            f"The feet slide at {max(np.linalg.norm(left), np.linalg.norm(right)):.2f} m/s during "
            "stance: the fit of the feet is doubtful, and so are events and lengths."
        )
        return replace(kinematics, notes=(*kinematics.notes, warning))
    notes = [
        *kinematics.notes,
        f"The stance feet move at {pace:.2f} m/s while the person stays in place: a treadmill. "
        "Lengths, heading and velocity are relative to its belt.",
    ]
    difference = float(np.linalg.norm(left - right))
    if difference > MIN_BELT_SPEED_M_S:
        notes.append(
            f"The belt speeds under the two feet differ by {difference:.2f} m/s; their mean is "
            "used, so lengths of a single side have an error of half of that times their duration."
        )
    return _subtract_ground(kinematics, belt, notes)


def _check_belt_speed(given: float, pace: float) -> None:
    """Refuse a speed that the stance feet contradict."""
    if abs(pace - given) > MAX_SPEED_DEVIATION * given:
        feet = f"move at {pace:.2f} m/s" if pace > MIN_BELT_SPEED_M_S else "stand still"
        raise CaptureError(
            f"the speed of the belt is given as {given:g} m/s, but the stance feet {feet}; give "
            "the speed in m/s, 0 for still ground, or none to have it found"
        )


def _subtract_ground(
    kinematics: GroundKinematics, belt: np.ndarray, notes: Sequence[str]
) -> GroundKinematics:
    """The kinematics as seen from a belt of this velocity."""
    displacement = np.outer(kinematics.time - kinematics.time[0], belt)
    relative = {side: _subtract_belt(kinematics.side(side), displacement) for side in Side}
    return replace(
        kinematics,
        left=relative[Side.LEFT],
        right=relative[Side.RIGHT],
        com=kinematics.com - displacement,
        com_velocity=kinematics.com_velocity - belt,
        belt=belt,
        notes=tuple(notes),
    )


def _standing_velocity(kinematics: GroundKinematics, side: str) -> np.ndarray:
    """Median velocity (m/s) of a flat foot: near the ground, heel and toe moving together."""
    paths = kinematics.side(side)
    low = np.ones(len(kinematics.time), dtype=bool)
    for path in (paths.heel, paths.toe):
        bottom, top = path[:, 2].min(), path[:, 2].max()
        low &= path[:, 2] <= bottom + max(0.01, 0.3 * (top - bottom))
    if not low.any():
        return np.zeros(3)
    heel, toe = (smooth_velocity(kinematics, path)[low] for path in (paths.heel, paths.toe))
    turning = np.linalg.norm(heel - toe, axis=1)
    flat = turning <= max(MAX_FLAT_FOOT_SPEED_M_S, float(turning.min()))
    return np.asarray(np.median((heel[flat] + toe[flat]) / 2, axis=0))


def _subtract_belt(paths: LegTrajectories, displacement: np.ndarray) -> LegTrajectories:
    return LegTrajectories(
        leg=paths.leg,
        hip=paths.hip - displacement,
        knee=paths.knee - displacement,
        ankle=paths.ankle - displacement,
        heel=paths.heel - displacement,
        toe=paths.toe - displacement,
        sole=paths.sole - displacement[:, None],
    )
