"""A genetic algorithm over real numbers: tournaments, blended parents, mutation, an elite.

Parameters blend as BLX-alpha (Eshelman and Schaffer 1993); the groups of pools are inherited from
either parent and mutate to any other group.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from homodyn.search.goal import Score
from homodyn.search.optimizer import Optimizer, OptimizerSettings, Population, SearchSetup


class GA(OptimizerSettings):
    """A genetic algorithm; ``mutation`` None means one parameter of a child on average."""

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
    """Parents, with their scores, of the next generation."""

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
        crossed = random.random(settings.population) < settings.crossover
        children = np.where(crossed[:, None], a + share * (b - a), a)
        rate = 1 / self.space.size if settings.mutation is None else settings.mutation
        shifted = random.random(shape) < rate
        children = children + np.where(shifted, settings.step * random.standard_normal(shape), 0.0)
        groups = self._inherit_groups(mothers, fathers, crossed)
        return self.space.repair(_reflect(children), groups), groups

    def _winners(self) -> np.ndarray:
        """The best of as many randomly drawn tournaments as children are wanted."""
        ranks = self.score.ranks()
        shape = (self.settings.population, self.settings.tournament)
        drawn = self.random.integers(len(ranks), size=shape)
        return drawn[np.arange(len(drawn)), ranks[drawn].argmin(axis=1)]

    def _inherit_groups(
        self, mothers: np.ndarray, fathers: np.ndarray, crossed: np.ndarray
    ) -> np.ndarray:
        groups = self.groups[mothers].copy()
        if not self.space.pools:
            return groups
        shape = groups.shape
        other = crossed[:, None] & (self.random.random(shape) < 0.5)
        groups = np.where(other, self.groups[fathers], groups)
        rate = (
            1 / len(self.space.pools) if self.settings.mutation is None else self.settings.mutation
        )
        # Half as often as parameters: a new structure makes the values of the old one worthless.
        changed = self.random.random(shape) < rate / 2
        sizes = np.array(self.space.pool_sizes)
        anew = (self.random.random(shape) * sizes).astype(np.int32)
        return np.where(changed, anew, groups).astype(np.int32)

    def update(self, population: Population, score: Score) -> None:
        elite = self.score.order()[: self.settings.elite if self.generation else 0]
        self.parents = np.concatenate((self.parents[elite], population.unit))
        self.groups = np.concatenate((self.groups[elite], population.groups))
        self.score = Score(
            np.concatenate((self.score.stage[elite], score.stage)),
            np.concatenate((self.score.value[elite], score.value)),
        )


def _reflect(unit: np.ndarray) -> np.ndarray:
    """Points beyond the cube reflected into it, however far beyond."""
    period = np.mod(unit, 2.0)
    return np.where(period > 1.0, 2.0 - period, period)
