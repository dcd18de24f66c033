"""Constraint rows of a block: a name, a value and bounds for each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import HomodynError
from homodyn.optimal.statement.path_constraints import PathConstraint
from homodyn.optimal.statement.time_point import TimePoint
from homodyn.spatial import Array
from homodyn.symbolic.branch_errors import explain_branches

Row = tuple[str, Array]


@dataclass(eq=False)
class ConstraintRowList:
    """Rows in the order in which they were added."""

    rows: list[Row] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    """Number of entries of each value that was added."""

    def add(self, name: str, value: Array, lower: Any, upper: Any, labels: Sequence[str]) -> None:
        """Add all entries of a value with their bounds."""
        column = ca.SX(value)
        size = column.shape[0]
        self.counts.append(size)
        self.rows += zip(row_labels(name, labels, size), ca.vertsplit(column), strict=True)
        for side, given in ((self.lower, lower), (self.upper, upper)):
            side += np.broadcast_to(np.asarray(given, dtype=float), size).tolist()

    def add_constraints(
        self, constraints: Sequence[PathConstraint], time_point: TimePoint, where: str
    ) -> None:
        """Add constraints at a time point; ``where`` is named in errors."""
        for constraint in constraints:
            with explain_branches(f"{where}: constraint {constraint.name!r}"):
                value = ca.SX(constraint.value(time_point))
            low, high = (
                np.broadcast_to(np.asarray(x, dtype=float), value.shape[0])
                for x in (constraint.lower, constraint.upper)
            )
            if not (low <= high).all():
                raise HomodynError(
                    f"{where}: constraint {constraint.name!r} has the empty range from "
                    f"{np.asarray(constraint.lower)} to {np.asarray(constraint.upper)}"
                )
            self.add(constraint.name, value, low, high, constraint.labels)

    def depending_on(self, symbols: ca.SX) -> ConstraintRowList:
        """The rows whose values depend on some symbols."""
        rows = ca.jacobian_sparsity(self.values, symbols).row()
        chosen = sorted(set(rows))
        lower, upper = ([side[k] for k in chosen] for side in self.bounds)
        return ConstraintRowList([self.rows[k] for k in chosen], lower, upper, [1] * len(chosen))

    def __add__(self, other: ConstraintRowList) -> ConstraintRowList:
        rows, counts = self.rows + other.rows, self.counts + other.counts
        return ConstraintRowList(rows, self.lower + other.lower, self.upper + other.upper, counts)

    @property
    def values(self) -> ca.SX:
        """All values as one column."""
        return ca.vertcat(ca.SX(0, 1), *(value for _, value in self.rows))

    @property
    def bounds(self) -> tuple[list[float], list[float]]:
        """Lower and upper bounds."""
        return self.lower, self.upper

    @property
    def names(self) -> tuple[str, ...]:
        """One name per row."""
        return tuple(name for name, _ in self.rows)


def row_labels(name: str, labels: Sequence[str], size: int) -> list[str]:
    """A name for each entry of a value."""
    if len(labels) == size:
        return [f"{name}: {label}" for label in labels]
    return [name] if size == 1 else [f"{name} [{k}]" for k in range(size)]
