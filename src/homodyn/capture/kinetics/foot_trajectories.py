"""Trajectories of the soles: clearance, speed over the ground, and stance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from homodyn.capture.kinetics.feet import Foot
from homodyn.capture.world_frame import world_axes
from homodyn.motion.motion import Motion

MAX_STANCE_CLEARANCE_M = 0.03
"""Height (m) above its ground level at which a point is off the ground."""
MAX_STANCE_SPEED_M_S = 0.6
"""Speed (m/s) over the ground above which a point is not in stance."""
MAX_REST_SPEED_M_S = 0.2
"""Speed (m/s) below which a point marks the level of the ground."""
MIN_TILT_SPREAD_M = 0.25
"""Standard deviation (m) of positions along a direction that a tilt estimate needs."""
MAX_GROUND_SLOPE = 0.05
"""Slope (m/m) above which the ground is a ramp or stairs, not a tilted floor."""
MIN_BELT_SPEED_M_S = 0.15
"""Speed (m/s) of feet in stance above which they are on a treadmill."""


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
        """(frames, 3), m: mean of the points, weighted by their nearness to the ground.

        The heel at foot strike, the middle of the sole in stance, the toes at foot off.
        """
        near = np.exp(-np.clip(self.clearance, 0.0, 0.2) / 0.01)
        near /= near.sum(-1, keepdims=True)
        return np.asarray((near[..., None] * self.points).sum(-2))


def foot_trajectories(motion: Motion, feet: Sequence[Foot]) -> tuple[SoleTrajectory, ...]:
    """Trajectories of the soles of a motion.

    Markers and contact points are at different heights above the sole, so the ground level of each
    is the 5th percentile of its height, over a floor that may be slightly tilted in the axes of the
    laboratory (`ground_tilt`). The velocity of the ground is the median velocity of low points,
    zero unless it is that of a treadmill.
    """
    positions = [foot.positions(motion.model, motion.q) for foot in feet]
    return trajectories_of_points(feet, positions, motion.time, world_axes(motion.model)[2])


def trajectories_of_points(
    feet: Sequence[Foot], positions: Sequence[np.ndarray], time: np.ndarray, up: np.ndarray
) -> tuple[SoleTrajectory, ...]:
    """Trajectories of the soles from the positions (frames, points, 3), m, of their points."""
    velocities = [np.gradient(points, time, axis=0) for points in positions]
    tilt = ground_tilt(positions, velocities, up)
    heights = [points @ (up - tilt) for points in positions]
    clearances = [height - np.percentile(height, 5, axis=0) for height in heights]
    belt = ground_velocity(velocities, clearances, up)
    return tuple(
        SoleTrajectory(foot, points, clearance, np.linalg.norm(velocity - belt, axis=-1))
        for foot, points, velocity, clearance in zip(
            feet, positions, velocities, clearances, strict=True
        )
    )


def ground_tilt(
    positions: Sequence[np.ndarray], velocities: Sequence[np.ndarray], up: np.ndarray
) -> np.ndarray:
    """(3,), horizontal: slope of the ground (m/m); zero where it cannot be estimated.

    A plane is fitted to all points at rest, each with its own height offset, provided that they
    spread over more than half a meter and the slope is below ``MAX_GROUND_SLOPE``. If the vertical
    axis of a laboratory is wrong by one degree, feet appear to rise by 4 cm over 2.5 m of walking,
    more than ``MAX_STANCE_CLEARANCE_M``.
    """
    level = np.eye(3) - np.outer(up, up)
    across, height = [], []
    for points, velocity in zip(positions, velocities, strict=True):
        at_rest = np.linalg.norm(velocity, axis=-1) < MAX_REST_SPEED_M_S
        for k in np.flatnonzero(at_rest.sum(axis=0) > 2):
            still = points[at_rest[:, k], k]
            across.append(still @ level - np.median(still @ level, axis=0))
            height.append(still @ up - np.median(still @ up))
    tilt = np.zeros(3)
    if not across:
        return tilt
    x, h = np.concatenate(across), np.concatenate(height)
    kept = np.ones(len(h), dtype=bool)
    for _ in range(5):
        shift, mean = x[kept].mean(axis=0), h[kept].mean()
        variance, axes = np.linalg.eigh((x[kept] - shift).T @ (x[kept] - shift) / kept.sum())
        wide = axes[:, variance > MIN_TILT_SPREAD_M**2]
        rise = np.linalg.lstsq((x[kept] - shift) @ wide, h[kept] - mean, rcond=None)[0]
        tilt = wide @ rise
        # A toe at rest while the heel is up is not at its ground level.
        kept = np.abs(h - mean - (x - shift) @ tilt) < MAX_STANCE_CLEARANCE_M / 2
        if kept.sum() < 10:
            return np.zeros(3)
    return tilt if np.linalg.norm(tilt) < MAX_GROUND_SLOPE else np.zeros(3)


def ground_velocity(
    velocities: Sequence[np.ndarray], clearances: Sequence[np.ndarray], up: np.ndarray
) -> np.ndarray:
    """(3,), m/s: velocity of the ground under the feet, zero unless it is that of a treadmill."""
    low = np.concatenate(
        [v[c < MAX_STANCE_CLEARANCE_M / 3] for v, c in zip(velocities, clearances, strict=True)],
        axis=0,
    )
    belt = np.median(low, axis=0) if len(low) else np.zeros(3)
    belt = belt - (belt @ up) * up
    return np.zeros(3) if np.linalg.norm(belt) < MIN_BELT_SPEED_M_S else belt
