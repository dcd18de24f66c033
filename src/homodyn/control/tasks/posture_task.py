"""Joint angles of a reference posture."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.tasks.task import Task, TaskRows, require_coordinate, vector_input
from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.model import Model


@record
class PostureTask(Task):
    """Keeps the actuated coordinates near a reference posture; the root is free.

    It decides among the motions that other tasks leave free, so its cost is usually much smaller
    than theirs.
    """

    q: ArrayLike | None = None
    """(..., nq): the posture; None: the neutral pose."""
    cost: float | Mapping[str, float] = 1e-2
    """[cost] / [rad] or [m]: one for all actuated coordinates, or costs by coordinate (others: 0;
    ``"*"``: all others). Coordinates of the root can be named here."""

    def structure(self, model: Model) -> Hashable:
        """The coordinates with a cost.

        Args:
            model: The model.

        Raises:
            ModelError: A coordinate is unknown.
        """
        return tuple(int(k) for k in np.flatnonzero(self._costs(model)))

    def inputs(self, model: Model) -> Mapping[str, np.ndarray]:
        """The posture and the costs of its coordinates.

        Args:
            model: The model.

        Raises:
            ModelError: The posture has the wrong shape.
        """
        costs = self._costs(model)
        q = model.neutral() if self.q is None else self.q
        return {
            "q": vector_input(q, model.nq, f"{self.title}: q"),
            "cost": costs[np.flatnonzero(costs)],
        }

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any]) -> TaskRows:
        """One row per coordinate with a cost.

        Args:
            point: The state.
            inputs: Symbols of posture and costs.
        """
        model = point.model
        chosen = list(self.structure(model))  # type: ignore[call-overload]
        error = ca.SX(model.difference(point.q, inputs["q"]))
        return TaskRows(error[chosen], ca.SX.eye(model.nv)[chosen, :], inputs["cost"])

    def _costs(self, model: Model) -> np.ndarray:
        """(nv,): cost of each coordinate."""
        costs = np.zeros(model.nv)
        if isinstance(self.cost, Mapping):
            if "*" in self.cost:
                costs[list(model.actuated)] = self.cost["*"]
            for name, cost in self.cost.items():
                if name != "*":
                    costs[require_coordinate(model, name, self.title)] = cost
        else:
            costs[list(model.actuated)] = self.cost
        if not (np.isfinite(costs) & (costs >= 0)).all():
            raise ModelError(f"{self.title}: cost is a number from 0 up, got {self.cost!r}")
        return costs
