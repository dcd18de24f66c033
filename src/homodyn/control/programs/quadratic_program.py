"""Quadratic programs of task-based control: weighted rows, a diagonal, bounds and hard rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of


class RowKind(StrEnum):
    """What a row ``a . x`` of a program does."""

    COST = "cost"
    """It adds ``(a . x - b)^2 / 2`` to the objective."""
    EQUALITY = "equality"
    """``a . x = b``."""
    INEQUALITY = "inequality"
    """``lower <= a . x <= upper``."""


@dataclass(frozen=True)
class ProgramPattern:
    """What a compiled solver depends on: the number of variables, and the rows."""

    variables: int
    columns: tuple[tuple[int, ...], ...]
    """Columns of each row that may differ from zero."""
    kinds: tuple[RowKind, ...]
    """Kind of each row."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.columns)

    @property
    def entries(self) -> tuple[np.ndarray, np.ndarray]:
        """Row and column of every entry that may differ from zero, by rows."""
        lengths = [len(columns) for columns in self.columns]
        rows = np.repeat(np.arange(self.rows), lengths)
        columns = np.concatenate([np.array(c, dtype=int) for c in self.columns] or [np.zeros(0)])
        return rows, columns.astype(int)

    def indices(self, *kinds: RowKind) -> np.ndarray:
        """Indices of the rows of these kinds."""
        return np.array([k for k, kind in enumerate(self.kinds) if kind in kinds], dtype=int)


@record
class QuadraticProgram(Record):
    """A strictly convex quadratic program, for one state or a batch of states.

    Minimize ``sum_i d_i x_i^2 / 2 - g_i x_i + sum_k (a_k . x - b_k)^2 / 2`` over the rows k of kind
    cost, subject to ``lower <= x <= upper``, to ``a_k . x = b_k`` for equalities and to
    ``row_lower_k <= a_k . x <= row_upper_k`` for inequalities. Costs are squared weights: they are
    factors of the rows.
    """

    curvature: np.ndarray
    """(..., variables): d, above zero."""
    gradient: np.ndarray
    """(..., variables): g."""
    rows: np.ndarray
    """(..., rows, variables): a."""
    target: np.ndarray
    """(..., rows): b; zero for inequalities."""
    lower: np.ndarray
    """(..., variables)."""
    upper: np.ndarray
    """(..., variables)."""
    row_lower: np.ndarray
    """(..., rows): bounds of inequalities."""
    row_upper: np.ndarray
    """(..., rows)."""
    pattern: ProgramPattern
    variable_names: tuple[str, ...] = ()
    row_owners: tuple[str, ...] = ()
    """The task or limit of each row."""

    _transient = ("pattern",)

    @property
    def batch(self) -> tuple[int, ...]:
        """Shape of the batch; empty for one state."""
        return self.curvature.shape[:-1]

    @property
    def hessian(self) -> np.ndarray:
        """(..., variables, variables): matrix P of ``x . P x / 2``."""
        costs = self.rows[..., self.pattern.indices(RowKind.COST), :]
        square = np.swapaxes(costs, -1, -2) @ costs
        diagonal = np.arange(self.pattern.variables)
        square[..., diagonal, diagonal] += self.curvature
        return np.asarray(square)

    @property
    def linear(self) -> np.ndarray:
        """(..., variables): vector c of ``c . x``."""
        index = self.pattern.indices(RowKind.COST)
        costs, target = self.rows[..., index, :], self.target[..., index]
        return np.asarray(-self.gradient - np.einsum("...ki,...k->...i", costs, target))

    def constraint_bounds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows (..., c, variables) of all hard constraints, with their bounds (..., c)."""
        index = self.pattern.indices(RowKind.EQUALITY, RowKind.INEQUALITY)
        equal = np.array([self.pattern.kinds[k] is RowKind.EQUALITY for k in index], dtype=bool)
        target = self.target[..., index]
        low = np.where(equal, target, self.row_lower[..., index])
        high = np.where(equal, target, self.row_upper[..., index])
        return self.rows[..., index, :], low, high

    def objective(self, x: np.ndarray) -> np.ndarray:
        """The objective at x (..., variables), without the constant of the targets.

        Args:
            x: Values of the variables.

        Returns:
            (...).
        """
        square = np.einsum("...i,...ij,...j->...", x, self.hessian, x) / 2
        return np.asarray(square + np.einsum("...i,...i->...", self.linear, x))

    def headline(self) -> str:
        """Numbers of variables and rows."""
        parts = [
            count_of(sum(kind is which for kind in self.pattern.kinds), name)
            for which, name in (
                (RowKind.COST, "cost row"),
                (RowKind.EQUALITY, "equality"),
                (RowKind.INEQUALITY, "inequality"),
            )
        ]
        parts = [part.replace("equalitys", "equalities") for part in parts]
        variables = count_of(self.pattern.variables, "variable")
        return f"QuadraticProgram of {variables}: {', '.join(parts)}"
