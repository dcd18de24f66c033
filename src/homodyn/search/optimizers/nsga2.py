"""NSGA-II: several objectives at once, without an order (Deb, Pratap, Agarwal, Meyarivan 2002).

Candidates are sorted into fronts: a candidate dominates another if it is not worse in any objective
and better in one, and the first front is dominated by no candidate. In a front, those with larger
distances to their neighbors survive. Children come from simulated binary crossover and polynomial
mutation. In a lexicographic goal, later stages come first: fronts are those of one stage.
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

MIN_PARENT_DISTANCE = 1e-12
"""Parents that are closer have equal parameters: crossover leaves them."""


class NSGA2(OptimizerSettings):
    """Settings of NSGA-II; the last objectives of the goal are the axes of the Pareto front.

    Attributes:
        crossover: Probability that a pair of children has two parents.
        crossover_index: Distribution index of simulated binary crossover; higher is closer.
        mutation: Probability that a parameter mutates; by default one per child on average.
        mutation_index: Distribution index of polynomial mutation; higher is closer.
    """

    positional: ClassVar[tuple[str, ...]] = ("population",)
    kind: Literal["nsga2"] = "nsga2"
    population: int = Field(default=40, ge=4)
    crossover: float = Field(default=0.9, ge=0, le=1)
    crossover_index: float = Field(default=15.0, gt=0)
    mutation: float | None = Field(default=None, ge=0, le=1)
    mutation_index: float = Field(default=20.0, gt=0)

    def create(self, setup: SearchSetup) -> Optimizer:
        return NSGA2Optimizer(self, setup)

    def compatibility_errors(self, space: Space, stages: int, iterations: int) -> list[str]:
        """See `OptimizerSettings.compatibility_errors`."""
        return needs_fixed_structure("nsga2", space)


class NSGA2Optimizer(Optimizer):
    """The parents, their scores and objectives."""

    def __init__(self, settings: NSGA2, setup: SearchSetup) -> None:
        super().__init__(setup)
        self.settings = settings
        self.parents, self.groups = self.draw_initial(settings.population)
        self.rank = np.zeros(len(self.parents), dtype=int)
        self.distance = np.zeros(len(self.parents))
        self.stage = np.empty(0)
        self.costs = np.empty((0, 0))

    def propose(self) -> tuple[np.ndarray, np.ndarray]:
        if not self.generation:
            return self.parents, self.groups
        mothers, fathers = self.parents[self._winners()], self.parents[self._winners()]
        children = self._mutate(self._cross(mothers, fathers))
        groups = np.repeat(self.groups[:1], len(children), axis=0)
        return self.space.repair(np.clip(children, 0.0, 1.0), groups), groups

    def _winners(self) -> np.ndarray:
        """Indices of the winners of binary tournaments: lower front, then larger distance."""
        pairs = self.random.integers(len(self.parents), size=(self.settings.population, 2))
        a, b = pairs.T
        better = (self.rank[a] < self.rank[b]) | (
            (self.rank[a] == self.rank[b]) & (self.distance[a] >= self.distance[b])
        )
        return np.where(better, a, b)

    def _cross(self, mothers: np.ndarray, fathers: np.ndarray) -> np.ndarray:
        """Simulated binary crossover: one of the two children of each pair."""
        shape = mothers.shape
        u, exponent = self.random.random(shape), 1.0 / (self.settings.crossover_index + 1.0)
        spread = np.where(u <= 0.5, (2 * u) ** exponent, (0.5 / (1 - u)) ** exponent)
        sign = np.where(self.random.random(shape) < 0.5, 1.0, -1.0)
        pairs = self.random.random((shape[0], 1)) < self.settings.crossover
        apart = np.abs(mothers - fathers) > MIN_PARENT_DISTANCE
        child = 0.5 * (mothers + fathers + sign * spread * (mothers - fathers))
        return np.where(pairs & apart, child, mothers)

    def _mutate(self, children: np.ndarray) -> np.ndarray:
        """Polynomial mutation."""
        rate = self.settings.mutation
        rate = 1.0 / self.space.size if rate is None else rate
        u, exponent = self.random.random(children.shape), 1.0 / (self.settings.mutation_index + 1)
        step = np.where(u < 0.5, (2 * u) ** exponent - 1, 1 - (2 * (1 - u)) ** exponent)
        return np.where(self.random.random(children.shape) < rate, children + step, children)

    def update(self, population: Population, score: Score) -> None:
        costs = score.value[:, None] if score.costs is None else score.costs
        unit, stage = population.unit, score.stage
        if self.generation:
            unit = np.concatenate((self.parents, unit))
            stage = np.concatenate((self.stage, stage))
            costs = np.concatenate((self.costs, costs))
        rank, distance = front_ranks(costs, stage), np.empty(len(costs))
        for front in range(rank.max() + 1):
            members = np.flatnonzero(rank == front)
            distance[members] = crowding_distances(costs[members])
        kept = np.lexsort((-distance, rank))[: self.settings.population]
        self.parents, self.stage, self.costs = unit[kept], stage[kept], costs[kept]
        self.groups = np.repeat(self.groups[:1], len(kept), axis=0)
        self.rank, self.distance = rank[kept], distance[kept]


def front_ranks(costs: np.ndarray, stage: np.ndarray | None = None) -> np.ndarray:
    """The front of every candidate: 0 is dominated by none.

    Args:
        costs: (candidates, objectives), lower is better; NaN counts as worst.
        stage: (candidates,): a higher stage dominates every lower one; equal by default.

    Returns:
        (candidates,), int.
    """
    known = np.where(np.isnan(costs), np.inf, costs)
    levels = np.zeros(len(known)) if stage is None else np.asarray(stage, dtype=float)
    no_worse = (known[:, None] <= known[None]).all(axis=-1)
    better = (known[:, None] < known[None]).any(axis=-1)
    same = levels[:, None] == levels[None]
    dominates = (levels[:, None] > levels[None]) | (same & no_worse & better)
    rank = np.full(len(known), -1)
    front = 0
    while (rank < 0).any():
        left = rank < 0
        # In a finite set some candidate is dominated by no other.
        rank[left & ~dominates[left].any(axis=0)] = front
        front += 1
    return rank


def crowding_distances(costs: np.ndarray) -> np.ndarray:
    """Sum over the objectives of the distance between the neighbors of every candidate.

    Args:
        costs: (candidates, objectives) of one front.

    Returns:
        (candidates,): infinite for the extremes of each objective; relative to its range.
    """
    distance = np.zeros(len(costs))
    for column in np.where(np.isfinite(costs), costs, np.nan).T:
        order = np.argsort(column, kind="stable")
        sorted_ = column[order]
        span = np.nanmax(sorted_) - np.nanmin(sorted_) if np.isfinite(sorted_).any() else 0.0
        distance[order[[0, -1]]] = np.inf
        if span > 0 and len(order) > 2:
            inner = (sorted_[2:] - sorted_[:-2]) / span
            distance[order[1:-1]] += np.nan_to_num(inner, nan=0.0)
    return distance


def nondominated_mask(costs: np.ndarray) -> np.ndarray:
    """Which candidates no other candidate dominates; of equal ones the first.

    Args:
        costs: (candidates, objectives), lower is better, finite.

    Returns:
        (candidates,), bool.
    """
    kept = np.zeros(len(costs), dtype=bool)
    front = np.empty((0, costs.shape[1]))
    # In lexicographic order a candidate is dominated by earlier ones only.
    for k in np.lexsort((np.arange(len(costs)), *costs.T[::-1])):
        if not (front <= costs[k]).all(axis=1).any():
            kept[k] = True
            front = np.concatenate((front, costs[k : k + 1]))
    return kept
