"""Grid search: every combination of evenly spaced values, in every subspace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from homodyn.search.goal import Score
from homodyn.search.optimizers.interface import (
    Optimizer,
    OptimizerSettings,
    Population,
    SearchSetup,
)
from homodyn.search.space import Space


class Grid(OptimizerSettings):
    """Settings of a grid search. Points that violate a constraint are left out.

    Attributes:
        steps: Number of equally spaced values from bound to bound: one number for all parameters,
            or one per parameter by name.
        population: Grid points per generation.
    """

    positional: ClassVar[tuple[str, ...]] = ("steps",)
    kind: Literal["grid"] = "grid"
    steps: int | Mapping[str, int] = 10
    population: int = Field(default=1000, ge=1)

    def create(self, setup: SearchSetup) -> Optimizer:
        return GridOptimizer(self, setup)

    def compatibility_errors(self, space: Space, stages: int, iterations: int) -> list[str]:
        """See `OptimizerSettings.compatibility_errors`."""
        if isinstance(self.steps, int):
            return [] if self.steps >= 1 else [f"steps must be at least 1, not {self.steps}"]
        errors = [f"steps has no {name!r}" for name in space.names if name not in self.steps]
        for name, count in self.steps.items():
            if name not in space.names:
                errors.append(f"steps has an unknown parameter {name!r}")
            elif count < 1:
                errors.append(f"steps of {name!r} must be at least 1, not {count}")
        return errors


class GridOptimizer(Optimizer):
    """The grid in blocks of points, which are computed from their numbers when needed."""

    def __init__(self, settings: Grid, setup: SearchSetup) -> None:
        super().__init__(SearchSetup(setup.space))
        steps, names = settings.steps, setup.space.names
        self.counts = [steps if isinstance(steps, int) else steps[name] for name in names]
        self._block = settings.population
        self._blocks = self._points(self._block)
        self._next = next(self._blocks, None)

    @property
    def finished(self) -> bool:
        """Whether all points have been proposed."""
        return self._population is None and self._next is None

    @cached_property
    def _total(self) -> int:
        """Number of points of the whole grid, without regard to constraints."""
        total = 0
        for structure in self.space.structures():
            active = self.space.active(np.array(structure, dtype=np.int32).reshape(1, -1))[0]
            total += prod(count for count, used in zip(self.counts, active, strict=True) if used)
        return total

    def remaining(self, iterations: int, population: int) -> int:
        """See `Optimizer.remaining`; a grid ends when all points have been proposed."""
        proposed = self.generation * self._block
        return max(0, min(self._total - proposed, super().remaining(iterations, self._block)))

    def _points(self, block: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Blocks of points of the unit cube, with their group numbers."""
        pending: list[tuple[np.ndarray, np.ndarray]] = []
        count = 0
        for structure in self.space.structures():
            groups = np.array(structure, dtype=np.int32).reshape(1, -1)
            active = self.space.active(groups)[0]
            shape = [count if used else 1 for count, used in zip(self.counts, active, strict=True)]
            total = int(np.prod(shape, dtype=object)) if shape else 1
            for first in range(0, total, block):
                numbers = np.arange(first, min(first + block, total))
                unit = _decode(numbers, shape)
                rows = np.repeat(groups, len(unit), axis=0)
                if self.space.constraints:
                    keep = self.space.excess(self.space.values(unit), rows) <= 0
                    unit, rows = unit[keep], rows[keep]
                pending.append((unit, rows))
                count += len(unit)
                while count >= block:
                    unit, rows = _concatenate(pending)
                    yield unit[:block], rows[:block]
                    pending, count = [(unit[block:], rows[block:])], count - block
        if count:
            yield _concatenate(pending)

    def propose(self) -> tuple[np.ndarray, np.ndarray]:
        assert self._next is not None, "the grid is finished"
        block = self._next
        self._next = next(self._blocks, None)
        return block

    def update(self, population: Population, score: Score) -> None:
        """A grid does not depend on scores."""


def _concatenate(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([unit for unit, _ in parts]), np.concatenate([rows for _, rows in parts])


def _decode(numbers: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Points of the unit cube by number; the last parameter varies fastest."""
    unit = np.empty((len(numbers), len(shape)))
    rest = numbers.copy()
    for column in reversed(range(len(shape))):
        count = shape[column]
        unit[:, column] = (rest % count) / (count - 1) if count > 1 else 0.5
        rest //= count
    return unit
