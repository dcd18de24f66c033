"""A frame that does not move."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.tasks.task import Cost, Task, TaskRows, cost_input, require_frame
from homodyn.foundation.record import record
from homodyn.model import Model


@record
class ContactTask(Task):
    """Keeps a frame, such as a foot on the ground, from moving: its velocity is zero.

    It is a task about rates. Six rows hold a whole sole: rows of its points would be redundant.
    """

    frame: str
    """Name of a body, frame, marker or contact."""
    linear_cost: Cost = 1.0
    """[cost] / [m]."""
    angular_cost: Cost = 1.0
    """[cost] / [rad]."""

    @property
    def title(self) -> str:
        """Kind and frame."""
        return f"ContactTask of {self.frame}"

    def structure(self, model: Model) -> Hashable:
        """The frame.

        Args:
            model: The model.

        Raises:
            ModelError: The model has no such frame.
        """
        return require_frame(model, self.frame, self.title)

    def inputs(self, model: Model) -> Mapping[str, np.ndarray]:
        """Costs.

        Args:
            model: The model.

        Raises:
            ModelError: A cost is invalid.
        """
        return {
            "linear_cost": cost_input(self.linear_cost, 3, f"{self.title}: linear_cost"),
            "angular_cost": cost_input(self.angular_cost, 3, f"{self.title}: angular_cost"),
        }

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any]) -> TaskRows:
        """Three rows of translation and three of rotation.

        Args:
            point: The state.
            inputs: Symbols of costs.
        """
        angular, linear = point.jacobians(self.frame)
        return TaskRows(
            ca.SX.zeros(6),
            ca.vertcat(linear, angular),
            ca.vertcat(inputs["linear_cost"], inputs["angular_cost"]),
            rate=True,
        )
