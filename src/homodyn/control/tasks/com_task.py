"""The center of mass at a position."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.tasks.task import Cost, Task, TaskRows, cost_input, vector_input
from homodyn.foundation.record import record
from homodyn.model import Model


@record
class ComTask(Task):
    """Moves the center of mass to a position in the world."""

    position: ArrayLike | None = None
    """(..., 3), m, world."""
    cost: Cost = 1.0
    """[cost] / [m], for all or for each world axis; zero leaves an axis free."""

    def structure(self, model: Model) -> Hashable:
        """Nothing but the model.

        Args:
            model: The model.
        """
        return ()

    def inputs(self, model: Model) -> Mapping[str, np.ndarray]:
        """Target and cost.

        Args:
            model: The model.

        Raises:
            ModelError: The target is missing or invalid.
        """
        return {
            "position": vector_input(self.position, 3, f"{self.title}: position"),
            "cost": cost_input(self.cost, 3, f"{self.title}: cost"),
        }

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any]) -> TaskRows:
        """Three rows.

        Args:
            point: The state.
            inputs: Symbols of target and cost.
        """
        error = inputs["position"] - point.center_of_mass
        return TaskRows(error, point.center_of_mass_jacobian, inputs["cost"])
