"""How feet move over the ground: how high, how fast, and when they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from homodyn.capture.kinetics.feet import Foot
from homodyn.capture.world_frame import world_axes
from homodyn.motion.motion import Motion

MAX_STANCE_CLEARANCE_M = 0.03
"""m: a point this far above its lowest is off the ground."""
MAX_STANCE_SPEED_M_S = 0.6
"""m/s: a point faster than this over the ground does not stand."""
MAX_REST_SPEED_M_S = 0.2
"""m/s: a point slower than this shows where the ground is."""
MIN_TILT_SPREAD_M = 0.25
"""m: standard deviation of places along a direction from which a tilt of the ground is told."""
MAX_GROUND_SLOPE = 0.05
"""m/m: what rises more is a ramp or stairs, not a floor."""
MIN_BELT_SPEED_M_S = 0.15
"""m/s: standing feet that all move faster than this stand on a treadmill."""


@dataclass(frozen=True, eq=False)
class SoleTrajectory:
    """The points around one sole over time."""

    foot: Foot
    points: np.ndarray
    """(frames, points, 3), m, world."""
    clearance: np.ndarray
    """(frames, points), m: height of each point above its own ground level."""
    speed: np.ndarray
    """(frames, points), m/s, over the ground or the belt."""

    @cached_property
    def in_stance(self) -> np.ndarray:
        """(frames,): True where some point is low and at rest on the ground."""
        return np.any(
            (self.clearance < MAX_STANCE_CLEARANCE_M) & (self.speed < MAX_STANCE_SPEED_M_S), axis=-1
        )

    @cached_property
    def contact_center(self) -> np.ndarray:
        """(frames, 3), m: mean of the points, those near the ground counting most.

        The heel at foot strike, the middle of the sole in stance, the toes at foot off.
        """
        near = np.exp(-np.clip(self.clearance, 0.0, 0.2) / 0.01)
        near /= near.sum(-1, keepdims=True)
        return np.asarray((near[..., None] * self.points).sum(-2))


def foot_trajectories(motion: Motion, feet: Sequence[Foot]) -> tuple[SoleTrajectory, ...]:
    """The feet over time.

    Markers and contact points sit at different heights above the sole, so the ground level of
    each is its own near-lowest height (5th percentile), over a floor that may be slightly tilted in
    the axes of the laboratory (``ground_tilt``). The velocity of the ground is the median
    of that of low points, zero unless it is that of a belt.
    """
    places = [foot.positions(motion.model, motion.q) for foot in feet]
    return trajectories_of_points(feet, places, motion.time, world_axes(motion.model)[2])


def trajectories_of_points(
    feet: Sequence[Foot], places: Sequence[np.ndarray], time: np.ndarray, up: np.ndarray
) -> tuple[SoleTrajectory, ...]:
    """The same for points (frames, points, 3) that are known already, markers of a trial say."""
    velocities = [np.gradient(points, time, axis=0) for points in places]
    tilt = ground_tilt(places, velocities, up)
    heights = [points @ (up - tilt) for points in places]
    clearances = [height - np.percentile(height, 5, axis=0) for height in heights]
    belt = ground_velocity(velocities, clearances, up)
    return tuple(
        SoleTrajectory(foot, points, clearance, np.linalg.norm(velocity - belt, axis=-1))
        for foot, points, velocity, clearance in zip(
            feet, places, velocities, clearances, strict=True
        )
    )


def ground_tilt(
    places: Sequence[np.ndarray], velocities: Sequence[np.ndarray], up: np.ndarray
) -> np.ndarray:
    """(3,), across ``up``: how much the ground rises along the way, in m/m; zero where unsure.

    A plane is fitted to all points at rest, each with its own height offset, provided that they
    spread over more than half a metre and the slope is below ``MAX_GROUND_SLOPE``. If the vertical
    axis of a laboratory is wrong by one degree, feet appear to rise by 4 cm over 2.5 m of walking,
    more than ``MAX_STANCE_CLEARANCE_M``.
    """
    level = np.eye(3) - np.outer(up, up)
    across, height = [], []
    for points, velocity in zip(places, velocities, strict=True):
        rests = np.linalg.norm(velocity, axis=-1) < MAX_REST_SPEED_M_S
        for k in np.flatnonzero(rests.sum(axis=0) > 2):
            at = points[rests[:, k], k]
            across.append(at @ level - np.median(at @ level, axis=0))
            height.append(at @ up - np.median(at @ up))
    tilt = np.zeros(3)
    if not across:
        return tilt
    x, h = np.concatenate(across), np.concatenate(height)
    kept = np.ones(len(h), dtype=bool)
    for _ in range(5):
        shift, mean = x[kept].mean(axis=0), h[kept].mean()
        spread, ways = np.linalg.eigh((x[kept] - shift).T @ (x[kept] - shift) / kept.sum())
        wide = ways[:, spread > MIN_TILT_SPREAD_M**2]
        rise = np.linalg.lstsq((x[kept] - shift) @ wide, h[kept] - mean, rcond=None)[0]
        tilt = wide @ rise
        # A toe that rests while its heel is up is no sign of the ground.
        kept = np.abs(h - mean - (x - shift) @ tilt) < MAX_STANCE_CLEARANCE_M / 2
        if kept.sum() < 10:
            return np.zeros(3)
    return tilt if np.linalg.norm(tilt) < MAX_GROUND_SLOPE else np.zeros(3)


def ground_velocity(
    velocities: Sequence[np.ndarray], clearances: Sequence[np.ndarray], up: np.ndarray
) -> np.ndarray:
    """(3,), m/s: velocity of what the feet stand on, zero unless it is that of a belt."""
    low = np.concatenate(
        [v[c < MAX_STANCE_CLEARANCE_M / 3] for v, c in zip(velocities, clearances, strict=True)],
        axis=0,
    )
    belt = np.median(low, axis=0) if len(low) else np.zeros(3)
    belt = belt - (belt @ up) * up
    return np.zeros(3) if np.linalg.norm(belt) < MIN_BELT_SPEED_M_S else belt
