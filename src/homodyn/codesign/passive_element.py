"""Passive elements of robot joints that no actuator moves: pins, springs and clutched springs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import casadi as ca

from homodyn.codesign.drive import GAINS, WINDOW_ENDS, gain_parameter, in_window, phase_name
from homodyn.codesign.joint_rows import JointAngle, JointServo, joint_angle
from homodyn.model import Model
from homodyn.model.side import Side
from homodyn.search import SearchParameter
from homodyn.simulate.signals import Hold, Quantity, Signal

MAX_PASSIVE_STIFFNESS = 500.0
"""N m/rad; the source gives no bounds."""
MAX_PASSIVE_DAMPING = 10.0
"""N m s/rad."""
MAX_REST_ANGLE_RAD = 0.5
"""To both sides of the upright posture."""


class PassiveElement(StrEnum):
    """What acts about a robot joint without an actuator."""

    PIN = "pin"
    """Nothing."""
    SPRING = "spring"
    """A spring with a rest angle, and a damper (section 5.3.4 of the source)."""
    CLUTCH = "clutch"
    """A spring and a damper that act in a part of the cycle, from the angle at engagement."""

    def parameters(self, joint: str) -> list[SearchParameter]:
        """Parameters of a search.

        Args:
            joint: Name of the joint.

        Returns:
            None for a pin, three for a spring, four for a clutch.
        """
        name = element_name(joint)
        gains = [
            gain_parameter(f"{name} stiffness", MAX_PASSIVE_STIFFNESS, "N m/rad"),
            gain_parameter(f"{name} damping", MAX_PASSIVE_DAMPING, "N m s/rad"),
        ]
        if self is PassiveElement.SPRING:
            limit = MAX_REST_ANGLE_RAD
            return [*gains, SearchParameter(f"{name} rest", -limit, limit, "rad")]
        if self is PassiveElement.CLUTCH:
            return gains + [SearchParameter(f"{name} {end}", 0.0, 1.0) for end in WINDOW_ENDS]
        return []

    def signals(
        self, model: Model, joint: str, side: Side, angle: JointAngle
    ) -> dict[str, Signal | Quantity]:
        """Signals of the element on one leg.

        Args:
            model: The model.
            joint: Name of the joint.
            side: The leg.
            angle: The joint as a sum of coordinates.

        Returns:
            Those of a clutch: gains that are zero while it is open, and the held angle.
        """
        if self is not PassiveElement.CLUTCH:
            return {}
        name, phase = element_name(joint), phase_name(side)

        def is_open(t: object, q: ca.SX, v: object, batch: Mapping[str, ca.SX]) -> ca.SX:
            return ca.logic_not(in_window(batch, name, phase))

        def gated(gain: str) -> Quantity:
            return lambda t, q, v, batch: batch[gain] * in_window(batch, name, phase)

        found: dict[str, Signal | Quantity] = {
            f"{side.value} {name} {gain}": gated(f"{name} {gain}") for gain in GAINS
        }
        held = Hold(lambda t, q, v, batch: joint_angle(model, q, angle), is_open)
        return {f"{side.value} {name} rest": held, **found}

    def row(self, joint: str, side: Side, angle: JointAngle) -> JointServo | None:
        """The row of the element on one leg.

        Args:
            joint: Name of the joint.
            side: The leg.
            angle: The joint as a sum of coordinates.

        Returns:
            The row; None for a pin.
        """
        if self is PassiveElement.PIN:
            return None
        name = element_name(joint)
        source = f"{side.value} {name}" if self is PassiveElement.CLUTCH else name
        quantities = (f"{source} stiffness", f"{source} damping", f"{source} rest")
        return JointServo(f"{side.value} {name}", (angle,), (), *quantities)


def element_name(joint: str) -> str:
    """Name of the passive element of a joint."""
    return f"{joint} spring"
