"""Elevation angles of thigh, shank and foot, and how planar their course is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.errors import CaptureError
from homodyn.gait.events import find_events
from homodyn.gait.gait_cycles import cycles
from homodyn.gait.ground_kinematics import GroundKinematics, LegTrajectories, ground_kinematics
from homodyn.gait.heading import Heading, find_heading
from homodyn.motion import Event
from homodyn.motion.motion import Motion

SEGMENTS = ("thigh", "shank", "foot")


@dataclass(frozen=True, eq=False)
class Planarity:
    """The plane near which the three elevation angles stay (planar covariation)."""

    share: float
    """Variance that the first two principal components explain, 0 to 1."""
    shares: np.ndarray
    """(3,): variance of each component over the whole, largest first."""
    normal: np.ndarray
    """(3,): unit normal of the plane over (thigh, shank, foot), its foot entry not negative."""


@dataclass(frozen=True, eq=False)
class ElevationAngles:
    """Angles (degrees) of thigh, shank and foot of both legs in the plane of progression."""

    time: np.ndarray
    left: np.ndarray
    """(frames, 3): thigh, shank, foot."""
    right: np.ndarray
    events: tuple[Event, ...]
    heading: Heading

    def side(self, side: str) -> np.ndarray:
        """The angles of a side."""
        angles = {"left": self.left, "right": self.right}.get(side.lower())
        if angles is None:
            raise CaptureError(f"no side {side!r}; accepted: left, right")
        return angles

    def planarity(self, side: str) -> Planarity:
        """Over the mean stride of a side, or over all frames when there is no whole stride."""
        over = cycles(self.time, self.side(side), self.events, side)
        return planarity(over.mean if over.complete.any() else self.side(side))


def elevation_angles(motion: Motion, *, events: Sequence[Event] | None = None) -> ElevationAngles:
    """Orientation of thigh, shank and foot in the global sagittal plane of progression (degrees).

    Each is the angle of the segment from the vertical, seen from its right, positive when its far
    end is ahead: ``atan2(forward, down)`` of hip to knee, knee to ankle and heel to toe (Borghese
    et al. 1996). A foot flat on the ground is near 90 degrees. Forward is where the centre of mass
    goes. ``events`` are found from the motion when they are not given.
    """
    walk = ground_kinematics(motion)
    told = tuple(find_events(motion)) if events is None else tuple(events)
    return elevation_from_kinematics(walk, told, find_heading(walk, told))


def elevation_from_kinematics(
    walk: GroundKinematics, events: tuple[Event, ...], course: Heading
) -> ElevationAngles:
    """The same for a walk and a course that are known already."""
    forward = course.at_times(walk.time)
    left, right = (_angles(walk.side(side), forward) for side in ("left", "right"))
    return ElevationAngles(walk.time, left, right, events, course)


def planarity(angles: np.ndarray) -> Planarity:
    """Principal components of elevation angles, (frames, 3) in degrees, their mean taken away."""
    centred = np.asarray(angles, dtype=float)
    if centred.ndim != 2 or centred.shape[1] != 3 or not np.isfinite(centred).all():
        raise CaptureError(
            f"planarity needs finite angles of thigh, shank and foot, (frames, 3), got shape "
            f"{centred.shape}"
        )
    centred = centred - centred.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred)
    total = variances.sum()
    if total <= 1e-12:
        raise CaptureError("the elevation angles do not change, so they span no plane")
    shares = np.clip(variances[::-1] / total, 0.0, 1.0)
    normal = axes[:, 0] * (-1.0 if axes[2, 0] < 0 else 1.0)
    return Planarity(float(1.0 - shares[2]), shares, normal)


def _angles(paths: LegTrajectories, forward: np.ndarray) -> np.ndarray:
    segments = (
        paths.knee - paths.hip,
        paths.ankle - paths.knee,
        paths.toe - paths.heel,
    )
    turned = [
        np.unwrap(np.arctan2((segment[:, :2] * forward).sum(axis=1), -segment[:, 2]))
        for segment in segments
    ]
    return np.rad2deg(np.stack(turned, axis=1))
