"""Simultaneous perturbation: a gradient from two values, whatever the number of parameters.

g = (f(x + c D) - f(x - c D)) / (2 c D) with D of random signs, then x <- x - a g; the gains fall as
a / (A + k + 1)^0.602 and c / (k + 1)^0.101 (Spall 1998). Several pairs make one generation and
their gradients are averaged; an odd candidate is the point itself. The first step sets a, so that
it moves ``first_step`` of the ranges.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from homodyn.search.goal import Score
from homodyn.search.optimizer import (
    Optimizer,
    OptimizerSettings,
    Population,
    SearchSetup,
    needs_fixed_structure,
)
from homodyn.search.space import Space


class SPSA(OptimizerSettings):
    """Simultaneous perturbation; ``population`` counts both ends of every pair, and the point."""

    positional: ClassVar[tuple[str, ...]] = ("population",)
    kind: Literal["spsa"] = "spsa"
    population: int = Field(default=9, ge=2)
    perturbation: float = Field(default=0.02, gt=0, le=0.5)
    first_step: float = Field(default=0.1, gt=0, le=1)

    def create(self, setup: SearchSetup) -> Optimizer:
        return SPSAOptimizer(self, setup)

    def compatibility_errors(self, space: Space, stages: int, iterations: int) -> list[str]:
        """Why there is no gradient to follow."""
        faults = needs_fixed_structure("spsa", space)
        if stages:
            faults.append("spsa needs one number to differentiate, not stages; combine by sum")
        return faults


class SPSAOptimizer(Optimizer):
    """A point, its gains, and the directions it was last perturbed in.

    It begins at the first earlier solution, else at a drawn point.
    """

    def __init__(self, settings: SPSA, setup: SearchSetup) -> None:
        super().__init__(setup)
        self.settings = settings
        self.delay = 0.1 * setup.iterations
        point, self.groups = self.draw_initial(1)
        self.point = point[0]
        self.gain: float | None = None
        self._signs: np.ndarray = np.zeros((0, self.space.size))

    def propose(self) -> tuple[np.ndarray, np.ndarray]:
        pairs = self.settings.population // 2
        self._signs = 2.0 * self.random.integers(2, size=(pairs, self.space.size)) - 1.0
        reach = self._reach() * self._signs
        centre = self.point[None][: self.settings.population % 2]
        unit = np.clip(np.concatenate((self.point + reach, self.point - reach, centre)), 0.0, 1.0)
        groups = np.repeat(self.groups, len(unit), axis=0)
        return self.space.repair(unit, groups), groups

    def _reach(self) -> float:
        return self.settings.perturbation / (self.generation + 1) ** 0.101

    def update(self, population: Population, score: Score) -> None:
        pairs = self.settings.population // 2
        unit = population.unit
        apart = unit[:pairs] - unit[pairs : 2 * pairs]
        with np.errstate(invalid="ignore"):
            change = score.value[:pairs] - score.value[pairs : 2 * pairs]
        usable = np.isfinite(change)
        if not usable.any():
            return
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.where(apart == 0.0, 0.0, change[:, None] / apart)[usable]
        gradient = slopes.mean(axis=0)
        largest = float(np.abs(gradient).max())
        if largest == 0.0:
            return
        fall = (self.delay + self.generation + 1) ** 0.602
        if self.gain is None:
            self.gain = self.settings.first_step / largest * fall
        step = np.clip(
            self.gain / fall * gradient, -self.settings.first_step, self.settings.first_step
        )
        point = np.clip(self.point - step, 0.0, 1.0)[None]
        self.point = self.space.repair(point, self.groups)[0]
