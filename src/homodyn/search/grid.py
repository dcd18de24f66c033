"""Systematic search: every combination of evenly spaced values, in every subspace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from homodyn.search.goal import Score
from homodyn.search.optimizer import Optimizer, OptimizerSettings, Population, SearchSetup
from homodyn.search.space import Space


class Grid(OptimizerSettings):
    """Values at ``steps`` equal distances from bound to bound, for all or for each parameter.

    ``population`` is how many of them one generation has. Points that break a constraint are left
    out.
    """

    positional: ClassVar[tuple[str, ...]] = ("steps",)
    kind: Literal["grid"] = "grid"
    steps: int | Mapping[str, int] = 10
    population: int = Field(default=1000, ge=1)

    def create(self, setup: SearchSetup) -> Optimizer:
        return GridOptimizer(self, setup)

    def compatibility_errors(self, space: Space, stages: int, iterations: int) -> list[str]:
        """Which steps are missing, unknown or too few."""
        if isinstance(self.steps, int):
            return [] if self.steps >= 1 else [f"steps must be at least 1, not {self.steps}"]
        faults = [f"steps has no {name!r}" for name in space.names if name not in self.steps]
        for name, count in self.steps.items():
            if name not in space.names:
                faults.append(f"steps has an unknown parameter {name!r}")
            elif count < 1:
                faults.append(f"steps of {name!r} must be at least 1, not {count}")
        return faults


class GridOptimizer(Optimizer):
    """The grid in blocks, decoded from numbers: it is never held as a whole."""

    def __init__(self, settings: Grid, setup: SearchSetup) -> None:
        super().__init__(SearchSetup(setup.space))
        steps, names = settings.steps, setup.space.names
        self.counts = [steps if isinstance(steps, int) else steps[name] for name in names]
        self._block = settings.population
        self._blocks = self._points(self._block)
        self._next = next(self._blocks, None)

    @property
    def finished(self) -> bool:
        """Whether the whole grid was asked for."""
        return self._asked is None and self._next is None

    @cached_property
    def _total(self) -> int:
        """Points of the whole grid; linear constraints may leave some out."""
        total = 0
        for structure in self.space.structures():
            active = self.space.active(np.array(structure, dtype=np.int32).reshape(1, -1))[0]
            total += prod(count for count, used in zip(self.counts, active, strict=True) if used)
        return total

    def remaining(self, iterations: int, population: int) -> int:
        """A grid ends when all of it was asked for."""
        asked = self.generation * self._block
        return max(0, min(self._total - asked, super().remaining(iterations, self._block)))

    def _points(self, block: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        waiting: list[tuple[np.ndarray, np.ndarray]] = []
        held = 0
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
                waiting.append((unit, rows))
                held += len(unit)
                while held >= block:
                    unit = np.concatenate([part for part, _ in waiting])
                    rows = np.concatenate([part for _, part in waiting])
                    yield unit[:block], rows[:block]
                    waiting, held = [(unit[block:], rows[block:])], held - block
        if held:
            yield (
                np.concatenate([part for part, _ in waiting]),
                np.concatenate([part for _, part in waiting]),
            )

    def propose(self) -> tuple[np.ndarray, np.ndarray]:
        assert self._next is not None, "the grid is finished"
        block = self._next
        self._next = next(self._blocks, None)
        return block

    def update(self, population: Population, score: Score) -> None:
        """A grid has nothing to learn."""


def _decode(numbers: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Points of the unit cube by number, the last parameter fastest; one step is the middle."""
    unit = np.empty((len(numbers), len(shape)))
    rest = numbers.copy()
    for column in reversed(range(len(shape))):
        count = shape[column]
        unit[:, column] = (rest % count) / (count - 1) if count > 1 else 0.5
        rest //= count
    return unit
