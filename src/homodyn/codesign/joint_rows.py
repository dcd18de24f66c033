"""Springs and servos about the joints of a robot, which may be sums of coordinates.

They are evaluated at the end of a step, so that any stiffness is stable on light links, and they
act about joints that close loops too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from homodyn.errors import ModelError
from homodyn.foundation import unknown_name
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.simulate.rows import SpringLaw
from homodyn.simulate.rows.targets import IsotropicSpring, RowInput, TargetRow, TargetRows

JointAngle = Mapping[str, float]
"""Rotation of a joint as a sum of coordinates: factor by name."""


@record
class JointServo(Record, TargetRows):
    """A servo about one of several joints, which batch parameters select.

    The row is sum_j s_j angle_j with selectors s_j of 0 or 1: one program serves all choices.
    """

    name: str
    joints: tuple[JointAngle, ...]
    """The joints that it can drive."""
    selectors: tuple[str, ...]
    """Batch parameters, one per joint: 1 for the joint that it drives. None for a single joint."""
    stiffness: str
    """Name of a batch parameter or signal (N m/rad)."""
    damping: str
    """Likewise (N m s/rad)."""
    target: str
    """Likewise (rad)."""

    def names(self, model: Model) -> tuple[str, ...]:
        """The name of the servo.

        Args:
            model: The model.

        Returns:
            One name.
        """
        return (self.name,)

    def build(self, at: RowInput) -> list[TargetRow | IsotropicSpring]:
        """The row at a state.

        Args:
            at: State and inputs of the step.

        Returns:
            One row.

        Raises:
            ModelError: A name is unknown.
        """
        entries = servo_entries(self, at.tree.model, at.batch)
        model = at.tree.model
        angle = sum((x * _position(model, at.tree.q, k) for k, x in entries.items()), ca.SX(0.0))
        if self.target not in at.batch:
            raise ModelError(f"{self.name}: {unknown_name('signal', self.target, at.batch)}")
        law = SpringLaw(kp=self.stiffness, kd=self.damping)
        parts = law.rows(angle - at.batch[self.target], ca.SX(0.0), at.h, at.batch, self.name)
        return [TargetRow(self.name, entries, parts, linear=True)]


def servo_entries(servo: JointServo, model: Model, batch: Mapping[str, ca.SX]) -> dict[int, ca.SX]:
    """Derivatives of the angle of a servo with respect to coordinates.

    Args:
        servo: The servo.
        model: The model.
        batch: Batch parameters by name.

    Returns:
        Factor by index in v.
    """
    entries: dict[int, ca.SX] = {}
    chosen = [batch[name] for name in servo.selectors] or [ca.SX(1.0)]
    for selector, joint in zip(chosen, servo.joints, strict=True):
        for name, factor in joint.items():
            k = model.coordinate_index(name)
            entries[k] = entries.get(k, ca.SX(0.0)) + selector * factor
    return entries


def joint_angle(model: Model, q: Any, angle: JointAngle) -> Any:
    """The angle of a joint (rad).

    Args:
        model: The model.
        q: Positions, (nq,) over symbols or (..., nq).
        angle: The joint as a sum of coordinates.

    Returns:
        The angle, or one per state.
    """
    total: Any = 0.0
    for name, factor in angle.items():
        total = total + factor * _position(model, q, model.coordinate_index(name))
    return total


def _position(model: Model, q: Any, entry: int) -> Any:
    """Position of a hinge by its index in v."""
    place = model.position_index[entry]
    if place is None:
        raise ModelError(f"coordinate {model.coordinate_names[entry]!r} has no angle of its own")
    return q[place] if isinstance(q, ca.SX) else q[..., place]
