"""A frame at a position and an orientation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.kinematic_point import KinematicPoint, rotation_vector
from homodyn.control.tasks.task import (
    Cost,
    Task,
    TaskRows,
    cost_input,
    matrix_of,
    require_frame,
    rotation_input,
    vector_input,
)
from homodyn.foundation.record import record
from homodyn.model import Model


@record
class FrameTask(Task):
    """Moves a frame to a pose in the world.

    The error is the displacement (m) and the rotation vector (rad) to the target, in world axes.
    """

    frame: str
    """Name of a body, frame, marker or contact."""
    position: ArrayLike | None = None
    """(..., 3), m, world."""
    rotation: ArrayLike | None = None
    """(..., 3, 3): axes of the frame in the world as columns."""
    position_cost: Cost = 1.0
    """[cost] / [m], for all or for each world axis."""
    orientation_cost: Cost = 1.0
    """[cost] / [rad]."""

    @property
    def title(self) -> str:
        """Kind and frame."""
        return f"FrameTask of {self.frame}"

    def structure(self, model: Model) -> Hashable:
        """The frame.

        Args:
            model: The model.

        Raises:
            ModelError: The model has no such frame.
        """
        return require_frame(model, self.frame, self.title)

    def inputs(self, model: Model) -> Mapping[str, np.ndarray]:
        """Target and costs.

        Args:
            model: The model.

        Raises:
            ModelError: The target is missing or invalid.
        """
        return {
            "position": vector_input(self.position, 3, f"{self.title}: position"),
            "rotation": rotation_input(self.rotation, f"{self.title}: rotation"),
            "position_cost": cost_input(self.position_cost, 3, f"{self.title}: position_cost"),
            "orientation_cost": cost_input(
                self.orientation_cost, 3, f"{self.title}: orientation_cost"
            ),
        }

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any]) -> TaskRows:
        """Three rows of position and three of orientation.

        Args:
            point: The state.
            inputs: Symbols of target and costs.
        """
        angular, linear = point.jacobians(self.frame)
        turn = matrix_of(inputs["rotation"]) @ point.rotation(self.frame).T
        shift = inputs["position"] - point.position(self.frame)
        return TaskRows(
            ca.vertcat(shift, rotation_vector(turn)),
            ca.vertcat(linear, angular),
            ca.vertcat(inputs["position_cost"], inputs["orientation_cost"]),
        )
