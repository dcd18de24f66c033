"""Coordinates in a fixed linear relation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.tasks.task import Task, TaskRows, cost_input, require_coordinate
from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.model import Model


@record
class JointCouplingTask(Task):
    """Keeps a weighted sum of coordinates at a value, such as a share of bending for each vertebra.

    ``sum_i factors_i q_i = value``.
    """

    factors: Mapping[str, float]
    """Factor by coordinate."""
    value: ArrayLike = 0.0
    """(...), rad or m."""
    cost: float = 1.0
    """[cost] / [rad] or [m]."""

    @property
    def title(self) -> str:
        """Kind and coordinates."""
        return f"JointCouplingTask of {', '.join(self.factors)}"

    def structure(self, model: Model) -> Hashable:
        """The coordinates.

        Args:
            model: The model.

        Raises:
            ModelError: A coordinate is unknown, is part of a quaternion, or there is none.
        """
        if not self.factors:
            raise ModelError(f"{self.title}: factors are needed, such as {{'knee': 1.0}}")
        places = []
        for name in self.factors:
            k = require_coordinate(model, name, self.title)
            position = model.position_index[k]
            if position is None:
                raise ModelError(f"{self.title}: {name} is part of a quaternion and has no value")
            places.append((k, position))
        return tuple(places)

    def inputs(self, model: Model) -> Mapping[str, np.ndarray]:
        """Factors, value and cost.

        Args:
            model: The model.

        Raises:
            ModelError: A number is not finite.
        """
        factors = np.array(list(self.factors.values()), dtype=float)
        value = np.asarray(self.value, dtype=float)[..., None]
        if not (np.isfinite(factors).all() and np.isfinite(value).all()):
            raise ModelError(f"{self.title}: factors and value are finite numbers")
        cost = cost_input(self.cost, 1, f"{self.title}: cost")
        return {"factors": factors, "value": value, "cost": cost}

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any]) -> TaskRows:
        """One row.

        Args:
            point: The state.
            inputs: Symbols of factors, value and cost.
        """
        jacobian = ca.SX(1, point.model.nv)
        total: Any = 0.0
        places: Any = self.structure(point.model)
        for place, (k, position) in enumerate(places):
            jacobian[0, k] = inputs["factors"][place]
            total = total + inputs["factors"][place] * point.q[position]
        return TaskRows(inputs["value"] - total, jacobian, inputs["cost"])
