"""A motion seen as walking: paths of the legs and the centre of mass over the ground, Z up.

On a treadmill the ground moves. Its velocity is that of the feet while they stand, and all
positions are told relative to the belt, as if the person had walked overground: step lengths,
direction and margins then need no second definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from homodyn.capture.filters.butterworth_filter import lowpass
from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import center_of_mass, center_of_mass_velocity, marker_positions
from homodyn.errors import CaptureError
from homodyn.gait.legs import Leg, SolePoint, find_legs
from homodyn.model import Marker, Model
from homodyn.motion.motion import FitStatus, Motion

MIN_FOOT_SPEED_M_S = 0.25
"""Feet that never move faster (m/s) do not walk."""
MIN_BELT_SPEED_M_S = 0.15
"""Standing feet that move faster (m/s) stand on a belt."""
MAX_FLAT_FOOT_SPEED_M_S = 0.1
"""A foot whose heel and toe differ by less (m/s) does not turn."""
VELOCITY_CUTOFF_HZ = 20.0
"""Cut-off (Hz) of the zero-lag filter in front of differentiation."""


@dataclass(frozen=True, eq=False)
class LegTrajectories:
    """Paths of one leg, each (frames, 3) in m, Z up, over the ground."""

    leg: Leg
    hip: np.ndarray
    knee: np.ndarray
    ankle: np.ndarray
    heel: np.ndarray
    toe: np.ndarray
    sole: np.ndarray
    """(frames, points, 3): the lowest place of each point of the sole."""


@dataclass(frozen=True, eq=False)
class GroundKinematics:
    """What gait analysis looks at, in axes with Z up, relative to the ground under the feet."""

    motion: Motion
    time: np.ndarray
    left: LegTrajectories
    right: LegTrajectories
    com: np.ndarray
    """(frames, 3), m: centre of mass."""
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
        """Strength of gravity (m/s2)."""
        return float(np.linalg.norm(self.motion.model.gravity))

    def side(self, side: str) -> LegTrajectories:
        """The leg of a side, ``"left"`` or ``"right"`` in any case of letters."""
        paths = {"left": self.left, "right": self.right}.get(str(side).lower())
        if paths is None:
            raise CaptureError(f"no side {side!r}; accepted: left, right")
        return paths

    def at(self, values: np.ndarray, time: float) -> np.ndarray:
        """Values of one instant (s), between frames by straight lines."""
        place = np.interp(time, self.time, np.arange(len(self.time)))
        low = min(int(place), len(self.time) - 2)
        return values[low] + (place - low) * (values[low + 1] - values[low])


def ground_kinematics(motion: Motion) -> GroundKinematics:
    """The paths of the legs and the centre of mass of a motion."""
    if len(motion.time) < 4:
        raise CaptureError(
            f"a motion of {len(motion.time)} frames is too short to see steps in; 4 are the least"
        )
    for name in ("q", "v"):
        bad = np.flatnonzero(~np.isfinite(getattr(motion, name)).all(axis=1))
        if bad.size:
            raise CaptureError(
                f"{name} of the motion is not finite in frame {bad[0]} and {bad.size - 1} more; "
                "fill the gaps of the markers, or cut those frames away, before measuring gait"
            )
    motion, notes = _visible_frames(motion)
    axes = world_axes(motion.model)
    left, right = find_legs(motion.model)
    points = [point for leg in (left, right) for point in _points(leg)]
    positions = _paths(motion.model, motion.q, points) @ axes.T
    cut = len(_points(left))
    com = center_of_mass(motion.model, motion.q) @ axes.T
    walk = GroundKinematics(
        motion=motion,
        time=np.asarray(motion.time, dtype=float),
        left=_leg_trajectories(left, positions[:, :cut]),
        right=_leg_trajectories(right, positions[:, cut:]),
        com=com,
        com_velocity=center_of_mass_velocity(motion.model, motion.q, motion.v) @ axes.T,
        belt=np.zeros(3),
        notes=notes,
    )
    return _relative_to_belt(walk)


def _visible_frames(motion: Motion) -> tuple[Motion, tuple[str, ...]]:
    """The motion without frames at its ends in which no marker was seen: nobody moved there."""
    seen = np.flatnonzero([status != FitStatus.UNSEEN for status in motion.status])
    frames = len(motion.time)
    if len(motion.status) != frames or len(seen) == frames:
        return motion, ()
    if len(seen) < 4:
        raise CaptureError(
            f"only {len(seen)} of {frames} frames of the motion show a marker; steps cannot be seen"
        )
    kept = slice(int(seen[0]), int(seen[-1]) + 1)
    cut = frames - (kept.stop - kept.start)
    shorter = replace(
        motion, time=motion.time[kept], q=motion.q[kept], v=motion.v[kept], a=motion.a[kept]
    )
    notes = (f"{cut} frames at the ends show no marker and are left out.",) if cut else ()
    return shorter, notes


def smooth_velocity(walk: GroundKinematics, path: np.ndarray) -> np.ndarray:
    """Velocity of a path (m/s): filtered without lag, then central differences."""
    rate = walk.motion.rate
    if rate > 2.5 * VELOCITY_CUTOFF_HZ:
        path = lowpass(path, rate, cutoff=VELOCITY_CUTOFF_HZ)
    return np.gradient(path, walk.time, axis=0)


def max_foot_speed(walk: GroundKinematics) -> float:
    """Peak speed of the ankles over the ground (m/s), the fastest 2 % left out."""
    speeds = [
        np.linalg.norm(smooth_velocity(walk, walk.side(side).ankle), axis=1)
        for side in ("left", "right")
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


def _relative_to_belt(walk: GroundKinematics) -> GroundKinematics:
    """The walk relative to what its feet stand on."""
    speeds = {side: _standing_velocity(walk, side) for side in ("left", "right")}
    belt = np.mean(list(speeds.values()), axis=0)
    belt[2] = 0.0
    pace = float(np.linalg.norm(belt))
    if max_foot_speed(walk) < MIN_FOOT_SPEED_M_S or pace < MIN_BELT_SPEED_M_S:
        return walk
    left, right = speeds["left"][:2], speeds["right"][:2]
    passed = np.linalg.norm((walk.com[-1] - walk.com[0])[:2]) / (walk.time[-1] - walk.time[0])
    if left @ right <= 0 or passed > 0.5 * pace:
        doubt = (
            f"The feet slide with {max(np.linalg.norm(left), np.linalg.norm(right)):.2f} m/s where "
            "they should stand: the fit of the feet is doubtful, and so are events and lengths."
        )
        return replace(walk, notes=(*walk.notes, doubt))
    notes = [
        *walk.notes,
        f"The standing feet move with {pace:.2f} m/s while the person stays "
        "in place: a treadmill. Lengths, direction and velocity are told relative to its belt.",
    ]
    apart = float(np.linalg.norm(left - right))
    if apart > MIN_BELT_SPEED_M_S:
        notes.append(
            f"The belts under the two feet differ by {apart:.2f} m/s; their mean is used, so "
            "lengths of a single side are off by half of that times their duration."
        )
    carried = np.outer(walk.time - walk.time[0], belt)
    moved = {side: _subtract_belt(walk.side(side), carried) for side in ("left", "right")}
    return replace(
        walk,
        left=moved["left"],
        right=moved["right"],
        com=walk.com - carried,
        com_velocity=walk.com_velocity - belt,
        belt=belt,
        notes=tuple(notes),
    )


def _standing_velocity(walk: GroundKinematics, side: str) -> np.ndarray:
    """Median velocity of a foot (m/s) while it is flat: low, and heel and toe move alike."""
    paths = walk.side(side)
    low = np.ones(len(walk.time), dtype=bool)
    for path in (paths.heel, paths.toe):
        bottom, top = path[:, 2].min(), path[:, 2].max()
        low &= path[:, 2] <= bottom + max(0.01, 0.3 * (top - bottom))
    if not low.any():
        return np.zeros(3)
    heel, toe = (smooth_velocity(walk, path)[low] for path in (paths.heel, paths.toe))
    turning = np.linalg.norm(heel - toe, axis=1)
    flat = turning <= max(MAX_FLAT_FOOT_SPEED_M_S, float(turning.min()))
    return np.asarray(np.median((heel[flat] + toe[flat]) / 2, axis=0))


def _subtract_belt(paths: LegTrajectories, carried: np.ndarray) -> LegTrajectories:
    return LegTrajectories(
        leg=paths.leg,
        hip=paths.hip - carried,
        knee=paths.knee - carried,
        ankle=paths.ankle - carried,
        heel=paths.heel - carried,
        toe=paths.toe - carried,
        sole=paths.sole - carried[:, None],
    )
