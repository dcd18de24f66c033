"""Angular and linear momentum."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.tasks.task import Cost, Task, TaskRows, cost_input, vector_input
from homodyn.foundation.record import record
from homodyn.model import Model


@record
class MomentumTask(Task):
    """Drives the momentum of the whole body about its center of mass to a target.

    The rows are the centroidal momentum matrix (Orin and Goswami 2008). It is a task about rates:
    the target is reached within a step, whatever the gain.
    """

    angular: ArrayLike = (0.0, 0.0, 0.0)
    """(..., 3), kg m2/s, world."""
    linear: ArrayLike = (0.0, 0.0, 0.0)
    """(..., 3), kg m/s, world."""
    angular_cost: Cost = 1.0
    """[cost] / [kg m2], per step: a momentum times dt."""
    linear_cost: Cost = 0.0
    """[cost] / [kg m]."""

    def structure(self, model: Model) -> Hashable:
        """Nothing but the model.

        Args:
            model: The model.
        """
        return ()

    def inputs(self, model: Model) -> Mapping[str, np.ndarray]:
        """Targets and costs.

        Args:
            model: The model.

        Raises:
            ModelError: A target is invalid.
        """
        return {
            "angular": vector_input(self.angular, 3, f"{self.title}: angular"),
            "linear": vector_input(self.linear, 3, f"{self.title}: linear"),
            "angular_cost": cost_input(self.angular_cost, 3, f"{self.title}: angular_cost"),
            "linear_cost": cost_input(self.linear_cost, 3, f"{self.title}: linear_cost"),
        }

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any]) -> TaskRows:
        """Three rows of angular momentum and three of linear momentum.

        Args:
            point: The state.
            inputs: Symbols of targets and costs.
        """
        return TaskRows(
            ca.vertcat(inputs["angular"], inputs["linear"]),
            point.momentum_matrix,
            ca.vertcat(inputs["angular_cost"], inputs["linear_cost"]),
            rate=True,
        )
