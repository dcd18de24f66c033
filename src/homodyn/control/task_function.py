"""Task functions Q(q) with their Jacobian H, their bias h, and the inverse.

``Q' = H v`` and ``Q'' = H a + h(q, v)`` (HuMAnS, INRIA 2006, eqs. 8.1 and 8.2). Control by a task
function asks for ``Q''`` and finds accelerations from H; the inverse finds the pose of values.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.configuration import rates
from homodyn.symbolic import kernel

MAX_NEWTON_STEPS = 100
MAX_NEWTON_STEP_RAD = 0.5
"""Largest change of a coordinate in one step (rad, m)."""
MIN_STEP_SHARE = 1e-4
"""Share of Newton's step below which the search ends."""


class InverseStatus(StrEnum):
    """How the search for the pose of given values ended."""

    SOLVED = "solved"
    """The values are reached within the tolerance."""
    STOPPED = "stopped"
    """No step brings them closer: the values are out of reach, or the pose is singular."""


@record
class InverseResult(Record):
    """A pose with the values of a task function."""

    q: np.ndarray
    """(nq,)."""
    error: float
    """Largest deviation of a value."""
    status: InverseStatus
    iterations: int

    def headline(self) -> str:
        """Status and error."""
        return f"InverseResult: {self.status}, error {self.error:.3g}"


class TaskFunction:
    """A function of the pose with its derivatives along the motion.

    Args:
        model: The model; parameters have their nominal values.
        function: ``f(point)`` over symbols, from a `KinematicPoint` to a column of values.

    Raises:
        ModelError: The function returns no column.
    """

    def __init__(self, model: Model, function: Callable[[KinematicPoint], Any]) -> None:
        self.model = model = model.at(model.parameter_values) if model.parameters else model

        def evaluate(q: ca.SX, v: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
            pose, speeds = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
            values = ca.densify(ca.SX(function(KinematicPoint(model, pose, None))))
            if values.shape[1] != 1 or not values.shape[0]:
                raise ModelError(f"a task function returns a column, got shape {values.shape}")
            motion = ca.SX(rates(model, pose, speeds))
            H = ca.jacobian(values, pose) @ ca.jacobian(motion, speeds)
            bias = ca.jtimes(H @ speeds, pose, motion)
            graph = ca.Function("task", [pose, speeds], [values, H, bias])
            found = graph.call([q, v], True, False)
            return tuple(ca.densify(ca.SX(part)) for part in found)

        self._kernel = kernel(evaluate, q=model.nq, v=model.nv, name="task function")

    def value(self, q: ArrayLike) -> np.ndarray:
        """Q(q).

        Args:
            q: Positions, (..., nq).

        Returns:
            (..., values).
        """
        return np.asarray(self._kernel(np.asarray(q, dtype=float), np.zeros(self.model.nv))[0])

    def jacobian(self, q: ArrayLike) -> np.ndarray:
        """H(q): ``H v`` is the rate of the values.

        Args:
            q: Positions, (..., nq).

        Returns:
            (..., values, nv).
        """
        return np.asarray(self._kernel(np.asarray(q, dtype=float), np.zeros(self.model.nv))[1])

    def bias(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """h(q, v): the second derivative of the values without acceleration.

        Args:
            q: Positions, (..., nq).
            v: Velocities, (..., nv).

        Returns:
            (..., values).
        """
        return np.asarray(self._kernel(np.asarray(q, dtype=float), np.asarray(v, dtype=float))[2])

    def inverse(self, values: ArrayLike, q0: ArrayLike, tolerance: float = 1e-12) -> InverseResult:
        """The pose with given values near a first one, by Newton's method with shorter steps.

        Args:
            values: Q, (values,).
            q0: First pose, (nq,).
            tolerance: Largest deviation of a value that counts as reached.

        Returns:
            The pose with its error and status.

        Raises:
            ModelError: Values or pose have the wrong shape, or are not finite.
        """
        q, wanted = np.array(q0, dtype=float), np.array(values, dtype=float)
        if q.shape != (self.model.nq,) or not np.isfinite(q).all():
            raise ModelError(f"q0 is {self.model.nq} finite numbers, got shape {q.shape}")
        now = self.value(q)
        if wanted.shape != now.shape or not np.isfinite(wanted).all():
            raise ModelError(f"values are {len(now)} finite numbers, got shape {wanted.shape}")
        gap = wanted - now
        iterations = 0
        while np.abs(gap).max() > tolerance and iterations < MAX_NEWTON_STEPS:
            iterations += 1
            step = np.linalg.lstsq(self.jacobian(q), gap, rcond=1e-10)[0]
            share = min(1.0, MAX_NEWTON_STEP_RAD / max(float(np.abs(step).max()), 1e-300))
            while share > MIN_STEP_SHARE:
                trial = np.asarray(self.model.integrate(q, share * step))
                left = wanted - self.value(trial)
                if left @ left < gap @ gap:
                    break
                share /= 2
            else:
                break
            q, gap = trial, left
        error = float(np.abs(gap).max())
        status = InverseStatus.SOLVED if error <= tolerance else InverseStatus.STOPPED
        return InverseResult(q, error, status, iterations)
