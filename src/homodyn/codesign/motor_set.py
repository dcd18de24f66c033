"""The motors of both legs: of a robot with given joints, or of the person's own joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from homodyn.codesign.device import Device, DeviceJoint
from homodyn.codesign.drive import DriveBounds, drive_names, drive_signals
from homodyn.codesign.joint_rows import JointAngle, JointServo, servo_entries
from homodyn.codesign.passive_element import PassiveElement
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.side import Side
from homodyn.simulate.signals import Quantity, Signal, StepSample

SLOTS = ("first", "second")
"""The two actuators of a robot leg; batch parameters say which joints they drive."""
SIDES = (Side.LEFT, Side.RIGHT)


@record
class MotorSet(Record):
    """Motors and passive elements of both legs, as rows and signals of a simulation."""

    servos: tuple[JointServo, ...]
    """Motors; their torque and power count."""
    springs: tuple[JointServo, ...]
    """Passive elements."""
    signals: Mapping[str, Signal | Quantity]
    """Targets and gains by name."""
    batch_names: tuple[str, ...]
    """Batch parameters that they look up."""

    def torque(self, step: StepSample) -> Any:
        """Torques of all motors in a step.

        Args:
            step: The step.

        Returns:
            N m, (motors,).
        """
        return ca.vertcat(*[step.row_force(servo.name) for servo in self.servos])

    def power(self, step: StepSample) -> Any:
        """Powers of all motors in a step.

        Args:
            step: The step.

        Returns:
            W, (motors,).
        """
        rates = []
        for servo in self.servos:
            entries = servo_entries(servo, step.model, step.batch)
            rates.append(sum((x * step.mean_v[k] for k, x in entries.items()), ca.SX(0.0)))
        return self.torque(step) * ca.vertcat(*rates)


def joint_name(number: int) -> str:
    """Name of a robot joint in parameters of a search."""
    return f"joint {number}"


def selector_name(slot: str, number: int) -> str:
    """Batch parameter: 1 if an actuator drives a joint, else 0."""
    return f"{slot} drives {number}"


def ankle_angles(model: Model) -> dict[Side, JointAngle]:
    """The ankles of a planar person.

    Args:
        model: The model.

    Returns:
        The coordinate of each side.

    Raises:
        HomodynError: The model has no such coordinates.
    """
    found: dict[Side, JointAngle] = {}
    for side in SIDES:
        model.coordinate_index(f"{side.value}_ankle")
        found[side] = {f"{side.value}_ankle": 1.0}
    return found


def device_motors(device: Device, bounds: DriveBounds, passive: PassiveElement) -> MotorSet:
    """Two actuators and the ankle on each leg, and passive elements on the other joints.

    Args:
        device: The device.
        bounds: Number of points of targets.
        passive: What acts about joints without an actuator; gains of the others are 0.

    Returns:
        The motors.
    """
    servos: list[JointServo] = []
    springs: list[JointServo] = []
    signals: dict[str, Signal | Quantity] = {}
    numbers = range(1, len(device.topology.linkage.joints) + 1)
    for side in SIDES:
        joints = [joint for joint in device.joints if joint.side is side]
        for slot in SLOTS:
            selectors = [selector_name(slot, number) for number in numbers]
            servos.append(_servo(slot, side, [joint.coefficients for joint in joints], selectors))
            signals |= drive_signals(slot, side, bounds.points)
        for joint in joints:
            signals |= _passive_signals(device.model, joint, passive)
            row = passive.row(joint_name(joint.number), side, joint.coefficients)
            springs += [] if row is None else [row]
    names = [name for slot in SLOTS for name in drive_names(slot, bounds.points)]
    names += [selector_name(slot, number) for slot in SLOTS for number in numbers]
    names += [p.name for number in numbers for p in passive.parameters(joint_name(number))]
    ankles = leg_motors(device.model, {"ankle": ankle_angles(device.model)}, bounds)
    return MotorSet(
        (*servos, *ankles.servos),
        tuple(springs),
        {**signals, **ankles.signals},
        (*names, *ankles.batch_names),
    )


def leg_motors(
    model: Model, joints: Mapping[str, Mapping[Side, JointAngle]], bounds: DriveBounds
) -> MotorSet:
    """One motor for each joint of both legs.

    Args:
        model: The model.
        joints: Joints by name and side, as sums of coordinates.
        bounds: Number of points of targets.

    Returns:
        The motors.

    Raises:
        HomodynError: A coordinate has no angle.
    """
    servos: list[JointServo] = []
    signals: dict[str, Signal | Quantity] = {}
    for name, sides in joints.items():
        for side, angle in sides.items():
            if any(model.position_index[model.coordinate_index(one)] is None for one in angle):
                raise HomodynError(f"{name!r} of {model.name!r} has no angle of its own")
            servos.append(_servo(name, side, [angle], ()))
            signals |= drive_signals(name, side, bounds.points)
    names = [one for name in joints for one in drive_names(name, bounds.points)]
    return MotorSet(tuple(servos), (), signals, tuple(names))


def _servo(
    drive: str, side: Side, joints: Sequence[JointAngle], selectors: Sequence[str]
) -> JointServo:
    name = f"{side.value} {drive}"
    quantities = (f"{name} stiffness", f"{name} damping", f"{name} target")
    return JointServo(f"{name} motor", tuple(joints), tuple(selectors), *quantities)


def _passive_signals(
    model: Model, joint: DeviceJoint, passive: PassiveElement
) -> dict[str, Signal | Quantity]:
    return passive.signals(model, joint_name(joint.number), joint.side, joint.coefficients)
