"""Task: the values of a task function."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.tasks.task import Cost, Task, TaskRows, cost_input, vector_input
from homodyn.foundation.record import record
from homodyn.model import Model
from homodyn.model.configuration import rates


@record
class FunctionTask(Task):
    """Brings the values of a function of the pose to a target, as `TaskFunction` has them.

    Tasks with the same function share a compiled program: keep one function for all targets.
    """

    function: Callable[[KinematicPoint], Any]
    """``f(point)`` over symbols, from a `KinematicPoint` to a column of values."""
    target: ArrayLike | None = None
    """(..., values)."""
    cost: Cost = 1.0
    """[cost] / [unit of the value], one number or one per value."""

    @property
    def title(self) -> str:
        """Kind and name of the function."""
        return f"FunctionTask of {getattr(self.function, '__name__', 'a function')}"

    def structure(self, model: Model) -> Hashable:
        """The function.

        Args:
            model: The model.
        """
        return self.function

    def inputs(self, model: Model) -> Mapping[str, np.ndarray]:
        """Target and costs.

        Args:
            model: The model.

        Raises:
            ModelError: The target is missing, or a size does not fit.
        """
        point = KinematicPoint(model, ca.SX.sym("q", model.nq), None)
        size = ca.SX(self.function(point)).numel()
        target = vector_input(self.target, size, f"{self.title}: target")
        return {"target": target, "cost": cost_input(self.cost, size, f"{self.title}: cost")}

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any]) -> TaskRows:
        """One row per value.

        Args:
            point: The state.
            inputs: Symbols of target and costs.
        """
        model = point.model
        pose, speeds = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
        values = ca.densify(ca.SX(self.function(KinematicPoint(model, pose, None))))
        change = ca.jacobian(values, pose) @ ca.jacobian(rates(model, pose, speeds), speeds)
        graph = ca.Function("values", [pose], [values, change])
        found, jacobian = graph.call([ca.SX(point.q)], True, False)
        return TaskRows(inputs["target"] - found, jacobian, inputs["cost"])
