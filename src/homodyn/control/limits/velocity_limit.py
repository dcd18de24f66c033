"""Largest rates of the coordinates."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import numpy as np

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.limits.bounds import bounds_by_coordinate
from homodyn.control.limits.limit import Limit, LimitRows
from homodyn.foundation.record import record
from homodyn.model import Model


@record
class VelocityLimit(Limit):
    """Keeps the rates of the coordinates within those of the model, or within given ones."""

    max_velocity: float | Mapping[str, float] | np.ndarray | None = None
    """rad/s, m/s: one number for the actuated coordinates, (nv,), or by coordinate (``"*"``: the
    others that are actuated); None: ``max_velocity`` of the model."""
    precedence: ClassVar[int] = 0

    def structure(self, model: Model) -> Hashable:
        """Nothing but the model.

        Args:
            model: The model.
        """
        return ()

    def inputs(self, model: Model, q: np.ndarray) -> Mapping[str, np.ndarray]:
        """Largest rate of every coordinate.

        Args:
            model: The model.
            q: Positions, (..., nq).

        Raises:
            ModelError: A rate is negative, or a name is unknown.
        """
        speed = bounds_by_coordinate(
            model, self.max_velocity, model.max_velocity, f"{self.title}: max_velocity"
        )
        return {"speed": speed}

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any], dt: Any) -> LimitRows:
        """Bounds of all coordinates.

        Args:
            point: The state.
            inputs: Symbols of the largest rates.
            dt: Length of the step, s.
        """
        reach = inputs["speed"] * dt
        return LimitRows(-reach, reach)
