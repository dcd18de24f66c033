"""A frame at a pose in the axes of another frame."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.kinematic_point import KinematicPoint, cross_matrix, rotation_vector
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
class RelativeFrameTask(Task):
    """Keeps a frame at a pose in the axes of a reference frame, such as both hands on a box."""

    frame: str
    """Name of a body, frame, marker or contact."""
    reference: str
    """Name of the frame in whose axes the pose is given."""
    position: ArrayLike = (0.0, 0.0, 0.0)
    """(..., 3), m, in the axes of the reference."""
    rotation: ArrayLike | None = None
    """(..., 3, 3): axes of the frame in those of the reference as columns; None: aligned."""
    position_cost: Cost = 1.0
    """[cost] / [m], for all or for each axis of the reference."""
    orientation_cost: Cost = 1.0
    """[cost] / [rad]."""

    @property
    def title(self) -> str:
        """Kind and frames."""
        return f"RelativeFrameTask of {self.frame} in {self.reference}"

    def structure(self, model: Model) -> Hashable:
        """The frames.

        Args:
            model: The model.

        Raises:
            ModelError: The model has no such frame.
        """
        return (
            require_frame(model, self.frame, self.title),
            require_frame(model, self.reference, self.title),
        )

    def inputs(self, model: Model) -> Mapping[str, np.ndarray]:
        """Target and costs.

        Args:
            model: The model.

        Raises:
            ModelError: The target is invalid.
        """
        rotation = np.eye(3) if self.rotation is None else self.rotation
        return {
            "position": vector_input(self.position, 3, f"{self.title}: position"),
            "rotation": rotation_input(rotation, f"{self.title}: rotation"),
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
        base_angular, base_linear = point.jacobians(self.reference)
        to_base = point.rotation(self.reference).T
        arm = point.position(self.frame) - point.position(self.reference)
        moving = to_base @ (linear - base_linear + cross_matrix(arm) @ base_angular)
        turn = matrix_of(inputs["rotation"]) @ (to_base @ point.rotation(self.frame)).T
        return TaskRows(
            ca.vertcat(inputs["position"] - to_base @ arm, rotation_vector(turn)),
            ca.vertcat(moving, to_base @ (angular - base_angular)),
            ca.vertcat(inputs["position_cost"], inputs["orientation_cost"]),
        )
