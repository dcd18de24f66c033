"""What a limit is: bounds of the displacement of a step, or rows that bound it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.spatial import Array


@dataclass(frozen=True, eq=False)
class LimitRows:
    """Bounds of a displacement ``v dt`` at a state, over symbols."""

    box_lower: Array | None = None
    """(nv,): lower bounds of the displacement; None: no bounds."""
    box_upper: Array | None = None
    """(nv,)."""
    jacobian: Array | None = None
    """(rows, nv): rows of inequalities; None: no rows."""
    lower: Array | None = None
    """(rows,)."""
    upper: Array | None = None
    """(rows,)."""


@record
class Limit(Record, ABC):
    """A limit of inverse kinematics and of whole-body control; derive from it to add your own."""

    precedence: ClassVar[int] = 0
    """Bounds of a limit with a larger number are moved into those with smaller numbers, where they
    do not meet: a coordinate outside its range returns at its velocity limit."""
    depends_on_state: ClassVar[bool] = False
    """Whether `inputs` depends on q."""
    max_violation: ClassVar[float] = np.inf
    """Largest `violation` at the end of a step of `solve_ik`, which shortens longer ones."""

    @property
    def title(self) -> str:
        """Kind, for messages."""
        return type(self).__name__

    def headline(self) -> str:
        """Kind."""
        return self.title

    @abstractmethod
    def structure(self, model: Model) -> Hashable:
        """What the rows depend on besides numbers, as of `Task`.

        Args:
            model: The model.

        Raises:
            ModelError: A name is unknown to the model.
        """

    @abstractmethod
    def inputs(self, model: Model, q: np.ndarray) -> Mapping[str, np.ndarray]:
        """Numbers (..., size) of the limit at a state.

        Args:
            model: The model.
            q: Positions, (..., nq).

        Raises:
            ModelError: A number is invalid.
        """

    @abstractmethod
    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any], dt: Any) -> LimitRows:
        """Bounds over symbols.

        Args:
            point: The state.
            inputs: Symbols of the numbers of `inputs`, columns by name.
            dt: Length of the step, s.
        """

    def violation(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Largest violation (...) at given states, in the unit of the rows; zero for boxes.

        Args:
            model: The model.
            q: Positions, (..., nq).
        """
        return np.zeros(q.shape[:-1])

    def active_names(self, model: Model, q: np.ndarray) -> list[str]:
        """What stops movement at a state, such as a pair in contact, for messages.

        Args:
            model: The model.
            q: Positions, (nq,).
        """
        return []


def intersect_boxes(boxes: list[tuple[Array, Array]], size: int) -> tuple[Array, Array]:
    """Bounds that satisfy all boxes, where earlier boxes come first.

    A later box that does not meet the earlier ones is moved to their nearest point, so the result
    is never empty if the first box is not.

    Args:
        boxes: Lower and upper bounds (size,) over symbols.
        size: Number of variables.

    Returns:
        Lower and upper bounds.
    """
    lower, upper = ca.SX.ones(size) * -np.inf, ca.SX.ones(size) * np.inf
    for low, high in boxes:
        low = ca.fmin(ca.fmax(ca.SX(low), lower), upper)
        high = ca.fmax(ca.fmin(ca.SX(high), upper), lower)
        lower, upper = low, high
    return lower, upper
