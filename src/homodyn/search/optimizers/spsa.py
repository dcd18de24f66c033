"""Simultaneous perturbation stochastic approximation (SPSA, Spall 1998).

The gradient is estimated from two values, whatever the number of parameters:
g = (f(x + c D) - f(x - c D)) / (2 c D) with random signs D, then x <- x - a g. The gains decrease
as a / (A + k + 1)^0.602 and c / (k + 1)^0.101. The gradients of all pairs of a generation are
averaged; in a generation of odd size the last candidate is the point itself. The gain a is chosen
so that the first step has the length ``first_step``.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from homodyn.search.goal import Score
from homodyn.search.optimizers.interface import (
    Optimizer,
    OptimizerSettings,
    Population,
    SearchSetup,
    needs_fixed_structure,
)
from homodyn.search.space import Space


class SPSA(OptimizerSettings):
    """Settings of simultaneous perturbation stochastic approximation.

    Attributes:
        population: Candidates per generation: two per pair, and the point itself if it is odd.
        perturbation: Initial size c of a perturbation, as a share of the range.
        first_step: Length of the first step, as a share of the range.
    """

    positional: ClassVar[tuple[str, ...]] = ("population",)
    kind: Literal["spsa"] = "spsa"
    population: int = Field(default=9, ge=2)
    perturbation: float = Field(default=0.02, gt=0, le=0.5)
    first_step: float = Field(default=0.1, gt=0, le=1)

    def create(self, setup: SearchSetup) -> Optimizer:
        return SPSAOptimizer(self, setup)

    def compatibility_errors(self, space: Space, stages: int, iterations: int) -> list[str]:
        """See `OptimizerSettings.compatibility_errors`."""
        errors = needs_fixed_structure("spsa", space)
        if stages:
            errors.append("spsa needs a single objective value, not stages; combine by sum")
        return errors


class SPSAOptimizer(Optimizer):
    """The current point, its gains, and the signs of the last perturbations.

    It begins at the first earlier solution, or at a random point.
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
        offset = self._perturbation() * self._signs
        center = self.point[None][: self.settings.population % 2]
        unit = np.clip(np.concatenate((self.point + offset, self.point - offset, center)), 0.0, 1.0)
        groups = np.repeat(self.groups, len(unit), axis=0)
        return self.space.repair(unit, groups), groups

    def _perturbation(self) -> float:
        return self.settings.perturbation / (self.generation + 1) ** 0.101

    def update(self, population: Population, score: Score) -> None:
        pairs = self.settings.population // 2
        unit = population.unit
        distance = unit[:pairs] - unit[pairs : 2 * pairs]
        with np.errstate(invalid="ignore"):
            change = score.value[:pairs] - score.value[pairs : 2 * pairs]
        usable = np.isfinite(change)
        if not usable.any():
            return
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.where(distance == 0.0, 0.0, change[:, None] / distance)[usable]
        gradient = slopes.mean(axis=0)
        largest = float(np.abs(gradient).max())
        if largest == 0.0:
            return
        decay = (self.delay + self.generation + 1) ** 0.602
        if self.gain is None:
            self.gain = self.settings.first_step / largest * decay
        step = np.clip(
            self.gain / decay * gradient, -self.settings.first_step, self.settings.first_step
        )
        point = np.clip(self.point - step, 0.0, 1.0)[None]
        self.point = self.space.repair(point, self.groups)[0]
