"""How feet move over the ground: how high, how fast, and when they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from homodyn.capture.kinetics.feet import Foot
from homodyn.capture.motion import Motion
from homodyn.capture.world import world_axes

LIFTED = 0.03
"""m: a point this far above its lowest is off the ground."""
SLIDING = 0.6
"""m/s: a point faster than this over the ground does not stand."""
BELT = 0.15
"""m/s: standing feet that all move faster than this stand on a treadmill."""


@dataclass(frozen=True, eq=False)
class FootPath:
    """The points around one sole over time."""

    foot: Foot
    points: np.ndarray
    """(frames, points, 3), m, world."""
    clearance: np.ndarray
    """(frames, points), m: height of each point above its own ground level."""
    speed: np.ndarray
    """(frames, points), m/s, over the ground or the belt."""

    @cached_property
    def stands(self) -> np.ndarray:
        """(frames,): True where some point is low and at rest on the ground."""
        return np.any((self.clearance < LIFTED) & (self.speed < SLIDING), axis=-1)

    @cached_property
    def middle(self) -> np.ndarray:
        """(frames, 3), m: mean of the points, those near the ground counting most.

        The heel at foot strike, the middle of the sole in stance, the toes at foot off.
        """
        near = np.exp(-np.clip(self.clearance, 0.0, 0.2) / 0.01)
        near /= near.sum(-1, keepdims=True)
        return np.asarray((near[..., None] * self.points).sum(-2))


def foot_paths(motion: Motion, feet: Sequence[Foot]) -> tuple[FootPath, ...]:
    """The feet over time.

    Markers and contact points sit at different heights above the sole, so the ground level of
    each is its own near-lowest height (5th percentile). The velocity of the ground is the median
    of that of low points, zero unless it is that of a belt.
    """
    up = world_axes(motion.model)[2]
    places = [foot.positions(motion.model, motion.q) for foot in feet]
    velocities = [np.gradient(points, motion.time, axis=0) for points in places]
    heights = [points @ up for points in places]
    clearances = [height - np.percentile(height, 5, axis=0) for height in heights]
    low = np.concatenate(
        [v[c < LIFTED / 3] for v, c in zip(velocities, clearances, strict=True)], axis=0
    )
    belt = np.median(low, axis=0) if len(low) else np.zeros(3)
    belt = belt - (belt @ up) * up
    if np.linalg.norm(belt) < BELT:
        belt = np.zeros(3)
    return tuple(
        FootPath(foot, points, clearance, np.linalg.norm(velocity - belt, axis=-1))
        for foot, points, velocity, clearance in zip(
            feet, places, velocities, clearances, strict=True
        )
    )
