"""A frame at an orientation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

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
)
from homodyn.foundation.record import record
from homodyn.model import Model


@record
class OrientationTask(Task):
    """Turns a frame to an orientation in the world."""

    frame: str
    """Name of a body, frame, marker or contact."""
    rotation: ArrayLike | None = None
    """(..., 3, 3): axes of the frame in the world as columns."""
    cost: Cost = 1.0
    """[cost] / [rad], for all or about each world axis."""

    @property
    def title(self) -> str:
        """Kind and frame."""
        return f"OrientationTask of {self.frame}"

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
            "rotation": rotation_input(self.rotation, f"{self.title}: rotation"),
            "cost": cost_input(self.cost, 3, f"{self.title}: cost"),
        }

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any]) -> TaskRows:
        """Three rows.

        Args:
            point: The state.
            inputs: Symbols of target and cost.
        """
        turn = matrix_of(inputs["rotation"]) @ point.rotation(self.frame).T
        return TaskRows(rotation_vector(turn), point.jacobians(self.frame)[0], inputs["cost"])
