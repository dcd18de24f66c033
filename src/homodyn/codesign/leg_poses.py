"""Poses of a leg that a device must follow: normative hip and knee angles, and offsets."""

from __future__ import annotations

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.gait.norms import normative_curve
from homodyn.model import Model
from homodyn.model.side import Side
from homodyn.motion.clinical import resolve_coordinate

NORM_SOURCE, NORM_GROUP = "pinzone2014", "center 1"
"""Origin of the angles; those of Winter (2009), which the published study used, are not printed."""
POSES_PER_CYCLE = 20
OFFSET_RAD = np.deg2rad(5.0)
"""Offset of hip and knee to both sides; the published one is not stated."""


@record
class LegPoses(Record):
    """Hip and knee coordinates of one leg along a gait cycle."""

    coordinates: tuple[str, str]
    """Coordinates of hip and knee."""
    cycle: np.ndarray
    """(poses, 2), rad."""
    offsets: np.ndarray
    """(offsets, 2), rad: what is added to each pose; the first is zero."""


def normative_poses(
    model: Model,
    side: Side = Side.LEFT,
    poses: int = POSES_PER_CYCLE,
    offset: float = OFFSET_RAD,
) -> LegPoses:
    """Poses of walking, with the trunk upright.

    The hip angle is relative to a pelvis that tilts forward; the mean tilt is subtracted.

    Args:
        model: The model, whose coordinates are recognized by name and axis.
        side: The leg.
        poses: Number of poses along the gait cycle.
        offset: Offset of hip and knee to both sides (rad).

    Returns:
        The poses, in the signs of the model.
    """
    percent = np.linspace(0.0, 100.0, poses, endpoint=False)
    tilt = normative_curve("pelvis tilt", source=NORM_SOURCE, group=NORM_GROUP)
    names, columns = [], []
    for quantity, zero in (("hip flexion", float(tilt.mean.mean())), ("knee flexion", 0.0)):
        curve = normative_curve(quantity, source=NORM_SOURCE, group=NORM_GROUP)
        found = resolve_coordinate(model, f"{side.value} {quantity}")
        names.append(found.coordinate)
        columns.append(found.sign * np.deg2rad(curve.at(percent) - zero))
    steps = offset * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])
    return LegPoses((names[0], names[1]), np.stack(columns, axis=-1), steps)
