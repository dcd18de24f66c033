"""The leg of a person that a device is attached to: its segments, hinges and upright geometry."""

from __future__ import annotations

import numpy as np

from homodyn.dynamics import angular_jacobian, orientation, position
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.gait.legs import Leg, find_legs
from homodyn.model import Model
from homodyn.model.side import Side
from homodyn.simulate import place_on_ground
from homodyn.spatial import Transform

TRUNK_PER_HIP_HEIGHT = (0.818 - 0.530) / 0.530
"""Length of the trunk, from hip to shoulder, relative to the height of the hip (Winter 2009)."""
PLANE_TOLERANCE = 1e-6
"""Largest component of a hinge axis outside of the lateral axis."""


@record
class LegFrame(Record):
    """Torso, thigh and shank of one side in the upright pose, heights above the ground."""

    side: Side
    bodies: tuple[str, str, str]
    """Bodies of torso, thigh and shank."""
    coordinates: tuple[str, str]
    """Coordinates of hip and knee."""
    ends: np.ndarray
    """(3, 2), m: height of the lower and of the upper end of each segment."""
    x: np.ndarray
    """(3,), m: forward position of the segments."""
    lateral: float
    """m: Y of the leg."""
    placements: tuple[Transform, Transform, Transform]
    """World placement of the bodies in the upright pose: rotation to the body, and origin."""

    @property
    def hip(self) -> np.ndarray:
        """(2,), m: forward position and height of the hip."""
        return np.array([self.x[1], self.ends[1, 1]])

    @property
    def knee(self) -> np.ndarray:
        """(2,), m: forward position and height of the knee."""
        return np.array([self.x[2], self.ends[2, 1]])


def leg_frames(person: Model, torso_length: float | None = None) -> tuple[LegFrame, LegFrame]:
    """The legs of a person whose hips and knees are hinges in the sagittal plane.

    Args:
        person: The model; its neutral pose is upright, facing X.
        torso_length: Length of the torso above the hips (m); by default that of Winter (2009) for
            the height of the hips.

    Returns:
        The left and the right leg.

    Raises:
        HomodynError: The model has parameters, or a hip or a knee is not a hinge about Y.
    """
    if person.parameters:
        raise HomodynError(
            f"model {person.name!r} has parameters; a device is attached to a model of numbers: "
            "use model.at({...}) first"
        )
    q = place_on_ground(person, person.neutral())
    left, right = (_leg_frame(person, leg, q, torso_length) for leg in find_legs(person))
    return left, right


def _leg_frame(person: Model, leg: Leg, q: np.ndarray, torso_length: float | None) -> LegFrame:
    bodies = (leg.pelvis, leg.hip, leg.knee)
    hip, knee, ankle = (position(person, q, body) for body in (leg.hip, leg.knee, leg.ankle))
    length = TRUNK_PER_HIP_HEIGHT * hip[2] if torso_length is None else torso_length
    if not length > 0:
        raise HomodynError(f"torso_length is a positive length (m), got {torso_length!r}")
    ends = np.array([[hip[2], hip[2] + length], [knee[2], hip[2]], [ankle[2], knee[2]]])
    placements = [
        Transform(np.asarray(orientation(person, q, body)).T, position(person, q, body))
        for body in bodies
    ]
    return LegFrame(
        leg.side,
        bodies,
        (_hinge(person, leg.hip, leg.pelvis, q), _hinge(person, leg.knee, leg.hip, q)),
        ends,
        np.array([hip[0], hip[0], knee[0]]),
        float(hip[1]),
        (placements[0], placements[1], placements[2]),
    )


def _hinge(person: Model, body: str, parent: str, q: np.ndarray) -> str:
    """The coordinate of a joint that is a hinge about Y.

    Raises:
        HomodynError: The body moves relative to its parent in another way.
    """
    joint = person.joints[person.body_names.index(body)]
    turning = angular_jacobian(person, q, body) - angular_jacobian(person, q, parent)
    lateral = np.abs(turning[[0, 2]]).max(initial=0.0) <= PLANE_TOLERANCE
    if joint.parent != parent or len(joint.coordinates) != 1 or not lateral:
        raise HomodynError(
            f"{body!r} of model {person.name!r} is not joined to {parent!r} by a hinge about the "
            "lateral axis Y; devices are planar and need a model such as catalog.winter_human()"
        )
    return joint.coordinates[0].name
