"""A wearable robot on both legs of a person: bodies, joints, loops; numbers are parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from homodyn.codesign.enumeration import LEG
from homodyn.codesign.leg_frame import LegFrame, leg_frames
from homodyn.codesign.link_inertia import Construction
from homodyn.codesign.places import default_places
from homodyn.codesign.robot_leg import RobotLeg, mass_name, place_name, share_name
from homodyn.codesign.topology import Topology
from homodyn.dynamics import ConstraintSet, Pin, angular_jacobian
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.parameters import Parameter
from homodyn.model.side import Side

NOMINAL_SHARE = 0.5
"""Attachments are in the middle of their segments unless placed."""


@record
class DeviceJoint(Record):
    """A joint of the robot on one leg."""

    number: int
    side: Side
    links: tuple[str, str]
    """Names of the two bodies."""
    coefficients: dict[str, float]
    """Rotation of the second body relative to the first, from upright, as a sum of coordinates."""
    closes_loop: bool

    @property
    def coordinate(self) -> str | None:
        """The coordinate of a joint of the tree; None for a joint that closes a loop."""
        return None if self.closes_loop else next(iter(self.coefficients))


@record
class Device(Record):
    """A person with a robot of one topology on both legs.

    All numbers of the robot are parameters of the model, equal on both sides, so that one program
    serves all designs of the topology.
    """

    topology: Topology
    person: Model
    """The person without the robot."""
    model: Model
    """The person with the robot."""
    pins: tuple[Pin, ...]
    """Planar pins of two rows that close the loops, left leg first."""
    joints: tuple[DeviceJoint, ...]
    """Joints of the robot, left leg first, in the order of their numbers."""
    frames: tuple[LegFrame, LegFrame]
    """The left and the right leg of the person."""
    construction: Construction

    @property
    def loops(self) -> ConstraintSet:
        """All closed loops, for simulation and dynamics."""
        return ConstraintSet(self.pins)

    def parameter_values(
        self, actuated: ArrayLike, shares: ArrayLike, free_places: ArrayLike
    ) -> dict[str, np.ndarray]:
        """Parameters of the model for a batch of designs.

        Args:
            actuated: Numbers of the two actuated joints, (..., 2).
            shares: Place of the attachment on torso, thigh and shank as a fraction of the segment
                from its lower end, (..., 3).
            free_places: Forward position relative to the hip and height above the ground of the
                free joints in upright posture, (..., free joints, 2), m.

        Returns:
            Values by parameter name, one per design.

        Raises:
            HomodynError: Shapes do not fit, or a joint does not exist.
        """
        pairs, share, place = (np.asarray(x) for x in (actuated, shares, free_places))
        free, count = self.topology.free_joints, len(self.topology.linkage.joints)
        for what, array, shape in (
            ("actuated", pairs, (2,)),
            ("shares", share, (len(self.topology.attachments),)),
            ("free_places", place, (len(free), 2)),
        ):
            if array.shape[array.ndim - len(shape) :] != shape:
                raise HomodynError(f"{what} has shape {array.shape}; (..., {shape}) is expected")
        if not np.isin(pairs, range(1, count + 1)).all():
            raise HomodynError(f"actuated joints are numbers from 1 to {count}, got {pairs!r}")
        values = {
            share_name(segment): share[..., k]
            for k, segment in enumerate(self.topology.attachments)
        }
        for k, number in enumerate(free):
            values[place_name(number, "x")] = place[..., k, 0]
            values[place_name(number, "z")] = place[..., k, 1]
        for number in range(1, count + 1):
            is_actuated = (pairs == number).any(axis=-1)
            values[mass_name(number)] = np.where(
                is_actuated, self.construction.actuator_mass, self.construction.pin_mass
            )
        return values

    def headline(self) -> str:
        """Topology and model."""
        return f"Device of topology {self.topology.number} on {self.person.name!r}"


def attach_device(
    person: Model,
    topology: Topology,
    *,
    construction: Construction | None = None,
    torso_length: float | None = None,
) -> Device:
    """Attach a robot to both legs of a person.

    Args:
        person: A model of numbers whose hips and knees are hinges about Y.
        topology: The topology, on torso, thigh and shank.
        construction: Masses of bars, actuators and pins; the published ones by default.
        torso_length: Length of the torso above the hips (m); by default that of Winter (2009).

    Returns:
        The device, with its model and loops.

    Raises:
        HomodynError: The model is not planar, or the topology is on other segments.
    """
    if topology.linkage.segments != LEG:
        raise HomodynError(
            f"a device needs a topology on {', '.join(LEG)}, got {topology.linkage.headline()}"
        )
    built = construction or Construction()
    frames = leg_frames(person, torso_length)
    parameters = _parameters(topology, frames[0], built)
    legs = [RobotLeg(topology, frame, built, parameters) for frame in frames]
    model = replace(
        person,
        name=f"{person.name}_topology_{topology.number}",
        bodies=(*person.bodies, *(body for leg in legs for body in leg.bodies())),
        joints=(*person.joints, *(joint for leg in legs for joint in leg.joints())),
        markers=(*person.markers, *(marker for leg in legs for marker in leg.markers())),
        capsules=(*person.capsules, *(capsule for leg in legs for capsule in leg.capsules())),
        parameters=tuple(parameters.values()),
    )
    pins = tuple(pin for leg in legs for pin in leg.loops())
    robot_joints = tuple(joint for leg in legs for joint in _device_joints(model, leg))
    return Device(topology, person, model, pins, robot_joints, frames, built)


def _parameters(
    topology: Topology, frame: LegFrame, construction: Construction
) -> dict[str, Parameter]:
    """Parameters of a robot by name; nominal places are those of the drawing."""
    places = default_places(topology, frame)
    values = {share_name(segment): NOMINAL_SHARE for segment in topology.attachments}
    for number in topology.free_joints:
        x, z = places[number]
        values[place_name(number, "x")] = float(x - frame.hip[0])
        values[place_name(number, "z")] = float(z)
    for number in range(1, len(topology.linkage.joints) + 1):
        values[mass_name(number)] = construction.pin_mass
    return {name: Parameter(name, value) for name, value in values.items()}


def _device_joints(model: Model, leg: RobotLeg) -> list[DeviceJoint]:
    """Joints of one leg, as sums of coordinates."""
    q = model.neutral()
    result = []
    for number in range(1, len(leg.topology.linkage.joints) + 1):
        first, second = leg.joint_bodies(number)
        turning = angular_jacobian(model, q, second) - angular_jacobian(model, q, first)
        coefficients = {
            name: float(np.round(turning[1, k]))
            for k, name in enumerate(model.coordinate_names)
            if abs(turning[1, k]) > 0.5
        }
        closes = number in leg.closures
        result.append(DeviceJoint(number, leg.frame.side, (first, second), coefficients, closes))
    return result
