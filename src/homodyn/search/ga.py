"""A genetic algorithm over real numbers: tournaments, blended parents, mutation, an elite.

Parameters blend as BLX-alpha (Eshelman and Schaffer 1993); the groups of pools are inherited from
either parent and mutate to any other group.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from homodyn.search.goal import Score
from homodyn.search.optimiser import Optimiser, OptimiserSettings, Population, Start


class GA(OptimiserSettings):
    """A genetic algorithm; ``mutation`` None means one parameter of a child on average."""

    positional: ClassVar[tuple[str, ...]] = ("population",)
    kind: Literal["ga"] = "ga"
    crossover: float = Field(default=0.9, ge=0, le=1)
    blend: float = Field(default=0.3, ge=0)
    mutation: float | None = Field(default=None, ge=0, le=1)
    step: float = Field(default=0.1, gt=0, le=1)
    tournament: int = Field(default=2, ge=1)
    elite: int = Field(default=2, ge=0)

    def _started(self, start: Start) -> Optimiser:
        return Breeding(self, start)


class Breeding(Optimiser):
    """Parents, with their scores, of the next generation."""

    def __init__(self, settings: GA, start: Start) -> None:
        super().__init__(start)
        self.settings = settings
        self.parents, self.groups = self._drawn(settings.population)
        self.score = Score.none(len(self.parents))

    def _candidates(self) -> tuple[np.ndarray, np.ndarray]:
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
        groups = self._inherited(mothers, fathers, crossed)
        return self.space.repaired(_folded(children), groups), groups

    def _winners(self) -> np.ndarray:
        """The best of as many randomly drawn tournaments as children are wanted."""
        ranks = self.score.ranks()
        shape = (self.settings.population, self.settings.tournament)
        drawn = self.random.integers(len(ranks), size=shape)
        return drawn[np.arange(len(drawn)), ranks[drawn].argmin(axis=1)]

    def _inherited(
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

    def _learn(self, people: Population, score: Score) -> None:
        elite = self.score.order()[: self.settings.elite if self.generation else 0]
        self.parents = np.concatenate((self.parents[elite], people.unit))
        self.groups = np.concatenate((self.groups[elite], people.groups))
        self.score = Score(
            np.concatenate((self.score.stage[elite], score.stage)),
            np.concatenate((self.score.value[elite], score.value)),
        )


def _folded(unit: np.ndarray) -> np.ndarray:
    """Points beyond the cube reflected into it, however far beyond."""
    period = np.mod(unit, 2.0)
    return np.where(period > 1.0, 2.0 - period, period)
