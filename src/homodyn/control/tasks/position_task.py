"""A point of a frame at a position."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.tasks.task import (
    Cost,
    Task,
    TaskRows,
    cost_input,
    require_frame,
    vector_input,
)
from homodyn.foundation.record import record
from homodyn.model import Model


@record
class PositionTask(Task):
    """Moves the origin of a frame, such as a marker, to a position in the world."""

    frame: str
    """Name of a body, frame, marker or contact."""
    position: ArrayLike | None = None
    """(..., 3), m, world."""
    cost: Cost = 1.0
    """[cost] / [m], for all or for each world axis."""

    @property
    def title(self) -> str:
        """Kind and frame."""
        return f"PositionTask of {self.frame}"

    def structure(self, model: Model) -> Hashable:
        """The frame.

        Args:
            model: The model.

        Raises:
            ModelError: The model has no such frame.
        """
        return require_frame(model, self.frame, self.title)

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
        error = inputs["position"] - point.position(self.frame)
        return TaskRows(error, point.jacobians(self.frame)[1], inputs["cost"])
