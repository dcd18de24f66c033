"""What a task is: an error of the state that control reduces, with a cost, a gain and a level."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.spatial import Array

Cost = float | Sequence[float] | np.ndarray
"""One cost for all axes, or one per axis."""


@dataclass(frozen=True, eq=False)
class TaskRows:
    """The rows of a task at a state, over symbols."""

    error: Array
    """(rows,): target minus value; for `rate` the target of the rate itself."""
    jacobian: Array
    """(rows, nv): derivative of the value along the motion."""
    cost: Array
    """(rows,): weight of an error of one unit; its square is the factor in the objective."""
    rate: bool = False
    """Whether the task is about a rate (momentum, a velocity) instead of a value."""


@record
class Task(Record, ABC):
    """A task of inverse kinematics and of whole-body control; derive from it to add your own.

    At each step of length dt, a task asks for ``J v dt = gain * error``. The objective is the sum
    of ``|cost * (J v dt - gain * error)|^2 / 2``. Tasks of a higher level act only in what those of
    lower levels leave free.
    """

    gain: float = field(default=1.0, kw_only=True)
    """Part of the error that a step removes, from 0 to 1."""
    damping: float = field(default=0.0, kw_only=True)
    """Levenberg-Marquardt damping: ``damping |cost error|^2`` is added to the cost of all
    velocities, which keeps steps short while targets are far or out of reach."""
    level: int = field(default=0, kw_only=True)
    """0 is the most important; see above."""

    def __post_init__(self) -> None:
        # The packed inputs of a task are kept, so later changes of an array must not show.
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, value.copy())
            elif isinstance(value, dict):
                object.__setattr__(self, name, dict(value))
        if not 0 <= self.gain <= 1:
            raise ModelError(f"{self.title}: gain is a number from 0 to 1, got {self.gain!r}")
        if not self.damping >= 0:
            raise ModelError(f"{self.title}: damping is a number from 0 up, got {self.damping!r}")
        if self.level < 0:
            raise ModelError(f"{self.title}: level is a number from 0 up, got {self.level!r}")

    @property
    def title(self) -> str:
        """Kind and subject, for messages."""
        return type(self).__name__

    def headline(self) -> str:
        """Kind and subject."""
        return self.title

    @abstractmethod
    def structure(self, model: Model) -> Hashable:
        """What the rows depend on besides the numbers of `inputs`, such as the name of a frame.

        Tasks of the same class, structure and level share a compiled program.

        Args:
            model: The model.

        Raises:
            ModelError: A name is unknown to the model.
        """

    @abstractmethod
    def inputs(self, model: Model) -> Mapping[str, np.ndarray]:
        """Targets and costs: vectors (..., size), with any batch shape.

        Args:
            model: The model.

        Raises:
            ModelError: A target is missing or has the wrong shape.
        """

    @abstractmethod
    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any]) -> TaskRows:
        """Error, Jacobian and cost over symbols.

        Args:
            point: The state.
            inputs: Symbols of the numbers of `inputs`, columns by name.
        """


def require_frame(model: Model, frame: str, task: str) -> str:
    """The name of a frame of the model.

    Args:
        model: The model.
        frame: Name of a body, frame, marker or contact.
        task: The task, for the message.

    Returns:
        The name.

    Raises:
        ModelError: The model has no frame of that name.
    """
    try:
        model.locate(frame)
    except ModelError as error:
        raise ModelError(f"{task}: {error}") from None
    return frame


def require_coordinate(model: Model, name: str, task: str) -> int:
    """Index in v of a coordinate.

    Args:
        model: The model.
        name: Name of the coordinate.
        task: The task, for the message.

    Returns:
        The index.

    Raises:
        ModelError: The model has no coordinate of that name.
    """
    if name not in model.coordinate_names:
        raise ModelError(f"{task}: {unknown_name('coordinate', name, model.coordinate_names)}")
    return int(model.coordinate_index(name))


def vector_input(value: ArrayLike | None, size: int, what: str) -> np.ndarray:
    """Numbers (..., size) of a target.

    Args:
        value: What the user gave.
        size: Numbers per state.
        what: Task and field, for the message.

    Returns:
        (..., size).

    Raises:
        ModelError: It is missing, of the wrong shape, or not finite.
    """
    if value is None:
        raise ModelError(f"{what} is not set; give {size} numbers")
    numbers = np.asarray(value, dtype=float)
    if numbers.shape[-1:] != (size,) or not np.isfinite(numbers).all():
        raise ModelError(f"{what} is {size} finite numbers, got shape {numbers.shape}")
    return numbers


def rotation_input(value: ArrayLike | None, what: str) -> np.ndarray:
    """Numbers (..., 9) of rotation matrices (..., 3, 3), row by row.

    Args:
        value: Rotation matrices.
        what: Task and field, for the message.

    Returns:
        (..., 9).

    Raises:
        ModelError: It is missing or no rotation matrix.
    """
    if value is None:
        raise ModelError(f"{what} is not set; give a rotation matrix (3, 3)")
    R = np.asarray(value, dtype=float)
    if R.shape[-2:] != (3, 3) or not np.isfinite(R).all():
        raise ModelError(f"{what} is a rotation matrix (3, 3), got shape {R.shape}")
    square = R @ np.swapaxes(R, -1, -2)
    if not np.allclose(square, np.eye(3), atol=1e-6) or (np.linalg.det(R) < 0).any():
        raise ModelError(f"{what} is no rotation matrix: its columns are not orthonormal")
    return np.asarray(R.reshape(*R.shape[:-2], 9))


def cost_input(cost: Cost, size: int, what: str) -> np.ndarray:
    """Costs (size,), from one number or one per row.

    Args:
        cost: What the user gave.
        size: Number of rows.
        what: Task and field, for the message.

    Returns:
        (size,).

    Raises:
        ModelError: A cost is negative or not finite, or their number is wrong.
    """
    numbers = np.asarray(cost, dtype=float)
    if numbers.shape not in ((), (size,)) or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ModelError(f"{what} is one number from 0 up, or {size} of them, got {cost!r}")
    return np.broadcast_to(numbers, (size,)).copy()


def matrix_of(numbers: Array) -> Array:
    """The matrix (3, 3) of nine symbols, row by row."""
    return ca.reshape(numbers, 3, 3).T
