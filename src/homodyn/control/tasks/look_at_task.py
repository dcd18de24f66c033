"""An axis of a frame that points to a position."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.kinematic_point import KinematicPoint, cross_matrix
from homodyn.control.tasks.task import (
    Task,
    TaskRows,
    cost_input,
    require_frame,
    vector_input,
)
from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.model import Model
from homodyn.spatial import cross

MIN_SINE = 1e-9
"""Sine of the angle to the target below which its axis is undefined."""


@record
class LookAtTask(Task):
    """Turns a frame so that one of its axes points to a position in the world.

    The error is the shortest rotation (rad) to the target; rotation about the axis is free. A
    target exactly behind the frame has no shortest rotation, and the frame stays.
    """

    frame: str
    """Name of a body, frame, marker or contact, such as the head."""
    target: ArrayLike | None = None
    """(..., 3), m, world."""
    axis: ArrayLike = (1.0, 0.0, 0.0)
    """(3,): direction in the axes of the frame."""
    cost: float = 1.0
    """[cost] / [rad]."""

    @property
    def title(self) -> str:
        """Kind and frame."""
        return f"LookAtTask of {self.frame}"

    def structure(self, model: Model) -> Hashable:
        """The frame and its axis.

        Args:
            model: The model.

        Raises:
            ModelError: The model has no such frame, or the axis is zero.
        """
        axis = vector_input(self.axis, 3, f"{self.title}: axis")
        length = float(np.linalg.norm(axis))
        if axis.shape != (3,) or length == 0:
            raise ModelError(f"{self.title}: axis is a direction (3,), got {self.axis!r}")
        return require_frame(model, self.frame, self.title), tuple(float(a) for a in axis / length)

    def inputs(self, model: Model) -> Mapping[str, np.ndarray]:
        """Target and cost.

        Args:
            model: The model.

        Raises:
            ModelError: The target is missing or invalid.
        """
        return {
            "target": vector_input(self.target, 3, f"{self.title}: target"),
            "cost": cost_input(self.cost, 3, f"{self.title}: cost"),
        }

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any]) -> TaskRows:
        """Three rows of rank two.

        Args:
            point: The state.
            inputs: Symbols of target and cost.
        """
        structure: Any = self.structure(point.model)
        axis = structure[1]
        forward = point.rotation(self.frame) @ ca.SX(np.array(axis))
        gap = inputs["target"] - point.position(self.frame)
        distance = ca.norm_2(gap)
        direction = gap / distance
        normal = cross(forward, direction)
        sine = ca.norm_2(normal)
        angle = ca.atan2(sine, ca.dot(forward, direction))
        error = normal * ca.if_else(sine > MIN_SINE, angle / ca.fmax(sine, MIN_SINE), 1.0)
        angular, linear = point.jacobians(self.frame)
        across = ca.SX.eye(3) - forward @ forward.T
        turning = angular + cross_matrix(direction) @ linear / distance
        return TaskRows(error, across @ turning, inputs["cost"])
