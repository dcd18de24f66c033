"""Elevation angles of thigh, shank and foot, and the planarity of their covariation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.gait.events import motion_events
from homodyn.gait.gait_cycles import normalize_cycles, parse_side
from homodyn.gait.ground_kinematics import GroundKinematics, LegTrajectories, ground_kinematics
from homodyn.gait.heading import Heading, find_heading
from homodyn.model.side import Side
from homodyn.motion import Event
from homodyn.motion.motion import Motion

SEGMENTS = ("thigh", "shank", "foot")


@record
class Planarity(Record):
    """The plane near which the three elevation angles stay (planar covariation)."""

    share: float
    """Share of the variance explained by the first two principal components, 0 to 1."""
    shares: np.ndarray
    """(3,): share of the variance of each component, largest first."""
    normal: np.ndarray
    """(3,): unit normal of the plane over (thigh, shank, foot), its foot entry not negative."""


@record
class ElevationAngles(Record):
    """Angles (degrees) of thigh, shank and foot of both legs in the plane of progression."""

    time: np.ndarray
    """(frames,), s."""
    left: np.ndarray
    """(frames, 3): thigh, shank, foot."""
    right: np.ndarray
    """(frames, 3): thigh, shank, foot."""
    events: tuple[Event, ...]
    """Foot strikes and foot offs."""
    heading: Heading
    """Direction of progression."""

    def side(self, side: str) -> np.ndarray:
        """Angles of one side, (frames, 3), degrees.

        Args:
            side: ``"left"`` or ``"right"``.

        Returns:
            Thigh, shank and foot.

        Raises:
            CaptureError: The side is neither left nor right.
        """
        return self.left if parse_side(side) is Side.LEFT else self.right

    def planarity(self, side: str) -> Planarity:
        """Planarity over the mean stride of a side, or over all frames without a whole stride.

        Args:
            side: ``"left"`` or ``"right"``.

        Returns:
            The plane and the explained variance.

        Raises:
            CaptureError: The side is unknown, or the angles do not change.
        """
        over = normalize_cycles(self.time, self.side(side), self.events, side)
        return planarity(over.mean if over.complete.any() else self.side(side))


def elevation_angles(
    motion: Motion,
    *,
    events: Sequence[Event] | None = None,
    belt_speed: float | None = None,
) -> ElevationAngles:
    """Orientation of thigh, shank and foot in the sagittal plane of progression (degrees).

    Each is the angle of the segment from the vertical, seen from the right, positive when its
    distal end is ahead: ``atan2(forward, down)`` of hip to knee, knee to ankle and heel to toe
    (Borghese et al. 1996). A foot flat on the ground is near 90 degrees.

    Args:
        motion: Any movement of a model with two legs.
        events: Foot strikes and foot offs; detected when left out.
        belt_speed: Speed of a treadmill (m/s) where it is known; 0 is still ground; found in the
            stance feet by default.

    Returns:
        Angles of both legs.

    Raises:
        CaptureError: The motion is too short, has gaps, or its model has no two feet.
    """
    kinematics = ground_kinematics(motion, belt_speed)
    known = tuple(motion_events(motion)) if events is None else tuple(events)
    return elevation_from_kinematics(kinematics, known, find_heading(kinematics, known))


def elevation_from_kinematics(
    kinematics: GroundKinematics, events: tuple[Event, ...], heading: Heading
) -> ElevationAngles:
    """Elevation angles for known kinematics and heading."""
    forward = heading.at_times(kinematics.time)
    left, right = (_angles(kinematics.side(side), forward) for side in (Side.LEFT, Side.RIGHT))
    return ElevationAngles(kinematics.time, left, right, events, heading)


def planarity(angles: np.ndarray) -> Planarity:
    """Principal components of elevation angles about their mean.

    Args:
        angles: (frames, 3), degrees: thigh, shank, foot.

    Returns:
        The plane and the explained variance.

    Raises:
        CaptureError: The angles have another shape, are not finite, or do not change.
    """
    centered = np.asarray(angles, dtype=float)
    if centered.ndim != 2 or centered.shape[1] != 3 or not np.isfinite(centered).all():
        raise CaptureError(
            f"planarity needs finite angles of thigh, shank and foot, (frames, 3), got shape "
            f"{centered.shape}"
        )
    centered = centered - centered.mean(axis=0)
    variances, axes = np.linalg.eigh(centered.T @ centered)
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
    angles = [
        np.unwrap(np.arctan2((segment[:, :2] * forward).sum(axis=1), -segment[:, 2]))
        for segment in segments
    ]
    return np.rad2deg(np.stack(angles, axis=1))
