"""Rows that a block asks for: a name, a value and bounds for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import HomodynError
from homodyn.optimal.conditions import Condition
from homodyn.optimal.instant import Instant
from homodyn.spatial import Array

Row = tuple[str, Array]


@dataclass(eq=False)
class Demands:
    """Rows in the order in which they were added."""

    rows: list[Row] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    """Entries of each value that was added."""

    def add(self, name: str, value: Array, lower: Any, upper: Any, labels: Sequence[str]) -> None:
        """All entries of a value between bounds."""
        column = ca.SX(value)
        size = column.shape[0]
        self.counts.append(size)
        self.rows += zip(entries(name, labels, size), ca.vertsplit(column), strict=True)
        for side, given in ((self.lower, lower), (self.upper, upper)):
            side += np.broadcast_to(np.asarray(given, dtype=float), size).tolist()

    def obey(self, conditions: Sequence[Condition], instant: Instant, where: str) -> None:
        """Conditions at an instant; ``where`` is for errors."""
        for condition in conditions:
            value = ca.SX(condition.value(instant))
            low, high = (
                np.broadcast_to(np.asarray(x, dtype=float), value.shape[0])
                for x in (condition.lower, condition.upper)
            )
            if not (low <= high).all():
                raise HomodynError(
                    f"{where}: condition {condition.name!r} leaves nothing between "
                    f"{np.asarray(condition.lower)} and {np.asarray(condition.upper)}"
                )
            self.add(condition.name, value, low, high, condition.labels)

    def seeing(self, symbols: ca.SX) -> Demands:
        """Those whose values depend on some symbols."""
        rows = ca.jacobian_sparsity(self.values, symbols).row()
        kept = sorted(set(rows))
        lower, upper = ([side[k] for k in kept] for side in self.bounds)
        return Demands([self.rows[k] for k in kept], lower, upper, [1] * len(kept))

    def __add__(self, other: Demands) -> Demands:
        rows, counts = self.rows + other.rows, self.counts + other.counts
        return Demands(rows, self.lower + other.lower, self.upper + other.upper, counts)

    @property
    def values(self) -> ca.SX:
        """All values below each other."""
        return ca.vertcat(ca.SX(0, 1), *(value for _, value in self.rows))

    @property
    def bounds(self) -> tuple[list[float], list[float]]:
        """Lower and upper."""
        return self.lower, self.upper

    @property
    def names(self) -> tuple[str, ...]:
        """One for each row."""
        return tuple(name for name, _ in self.rows)


def entries(name: str, labels: Sequence[str], size: int) -> list[str]:
    """A name for each entry of a value."""
    if len(labels) == size:
        return [f"{name}: {label}" for label in labels]
    return [name] if size == 1 else [f"{name} [{k}]" for k in range(size)]
