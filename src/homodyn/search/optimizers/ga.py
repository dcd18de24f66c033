"""A genetic algorithm for real parameters: tournaments, blend crossover, mutation, elitism.

Parameters are crossed by BLX-alpha (Eshelman and Schaffer 1993). Groups of pools are inherited from
either parent and mutate to any other group.
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
)


class GA(OptimizerSettings):
    """Settings of a genetic algorithm.

    Attributes:
        crossover: Probability that a child has two parents.
        blend: Alpha of BLX-alpha: how far children lie outside the range of their parents.
        mutation: Probability that a parameter mutates; by default one per child on average.
        step: Standard deviation of a mutation, as a share of the range of the parameter.
        tournament: Candidates per tournament.
        elite: Best candidates that are kept as parents.
    """

    positional: ClassVar[tuple[str, ...]] = ("population",)
    kind: Literal["ga"] = "ga"
    crossover: float = Field(default=0.9, ge=0, le=1)
    blend: float = Field(default=0.3, ge=0)
    mutation: float | None = Field(default=None, ge=0, le=1)
    step: float = Field(default=0.1, gt=0, le=1)
    tournament: int = Field(default=2, ge=1)
    elite: int = Field(default=2, ge=0)

    def create(self, setup: SearchSetup) -> Optimizer:
        return GAOptimizer(self, setup)


class GAOptimizer(Optimizer):
    """The parents of the next generation and their scores."""

    def __init__(self, settings: GA, setup: SearchSetup) -> None:
        super().__init__(setup)
        self.settings = settings
        self.parents, self.groups = self.draw_initial(settings.population)
        self.score = Score.worst(len(self.parents))

    def propose(self) -> tuple[np.ndarray, np.ndarray]:
        if not self.generation:
            return self.parents, self.groups
        settings, random = self.settings, self.random
        shape = (settings.population, self.space.size)
        mothers, fathers = self._winners(), self._winners()
        a, b = self.parents[mothers], self.parents[fathers]
        share = random.uniform(-settings.blend, 1 + settings.blend, shape)
        crossover = random.random(settings.population) < settings.crossover
        children = np.where(crossover[:, None], a + share * (b - a), a)
        rate = 1 / self.space.size if settings.mutation is None else settings.mutation
        mutates = random.random(shape) < rate
        children = children + np.where(mutates, settings.step * random.standard_normal(shape), 0.0)
        groups = self._inherit_groups(mothers, fathers, crossover)
        return self.space.repair(_reflect(children), groups), groups

    def _winners(self) -> np.ndarray:
        """Indices of the winners of one random tournament per child."""
        ranks = self.score.ranks()
        shape = (self.settings.population, self.settings.tournament)
        contestants = self.random.integers(len(ranks), size=shape)
        return contestants[np.arange(len(contestants)), ranks[contestants].argmin(axis=1)]

    def _inherit_groups(
        self, mothers: np.ndarray, fathers: np.ndarray, crossover: np.ndarray
    ) -> np.ndarray:
        """Groups of the children, from either parent and mutated."""
        groups = self.groups[mothers].copy()
        if not self.space.pools:
            return groups
        shape = groups.shape
        other = crossover[:, None] & (self.random.random(shape) < 0.5)
        groups = np.where(other, self.groups[fathers], groups)
        rate = (
            1 / len(self.space.pools) if self.settings.mutation is None else self.settings.mutation
        )
        # Half as often as parameters: parameter values of one structure rarely suit another.
        mutates = self.random.random(shape) < rate / 2
        sizes = np.array(self.space.pool_sizes)
        random_groups = (self.random.random(shape) * sizes).astype(np.int32)
        return np.where(mutates, random_groups, groups).astype(np.int32)

    def update(self, population: Population, score: Score) -> None:
        elite = self.score.order()[: self.settings.elite if self.generation else 0]
        self.parents = np.concatenate((self.parents[elite], population.unit))
        self.groups = np.concatenate((self.groups[elite], population.groups))
        self.score = Score(
            np.concatenate((self.score.stage[elite], score.stage)),
            np.concatenate((self.score.value[elite], score.value)),
        )


def _reflect(unit: np.ndarray) -> np.ndarray:
    """Points outside the unit cube reflected into it."""
    period = np.mod(unit, 2.0)
    return np.where(period > 1.0, 2.0 - period, period)
