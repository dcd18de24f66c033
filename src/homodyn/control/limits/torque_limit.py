"""Largest torques of the actuators."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.limits.bounds import bounds_by_coordinate
from homodyn.control.limits.limit import Limit, LimitRows
from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.model import Model


@record
class TorqueLimit(Limit):
    """Keeps the torques of `WholeBodyController` within those of the actuators."""

    max_force: float | Mapping[str, float] | np.ndarray | None = None
    """N m, N: one number for the actuated coordinates, (nv,), or by coordinate (``"*"``: the others
    that are actuated); None: ``max_force`` of the model."""

    def bounds(self, model: Model) -> np.ndarray:
        """Largest torques.

        Args:
            model: The model.

        Returns:
            (nv,), N m, N; infinite where nothing is stated.

        Raises:
            ModelError: A torque is negative, or a name is unknown.
        """
        return bounds_by_coordinate(
            model, self.max_force, np.asarray(model.max_force), f"{self.title}: max_force"
        )

    def structure(self, model: Model) -> Hashable:
        """Nothing but the model.

        Args:
            model: The model.
        """
        return ()

    def inputs(self, model: Model, q: np.ndarray) -> Mapping[str, np.ndarray]:
        """Refuse: velocities have no torques.

        Args:
            model: The model.
            q: Positions, (..., nq).

        Raises:
            ModelError: Always.
        """
        raise ModelError(
            "TorqueLimit is a limit of WholeBodyController; solve_ik takes limits of coordinates, "
            "velocities, accelerations and distances"
        )

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any], dt: Any) -> LimitRows:
        """No rows.

        Args:
            point: The state.
            inputs: Symbols of the inputs.
            dt: Length of the step, s.
        """
        return LimitRows()
