"""Ask and tell: what every optimiser does, and where its first candidates come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from homodyn.errors import SearchError
from homodyn.search.described import Described
from homodyn.search.goal import Score
from homodyn.search.space import Space


@dataclass(frozen=True)
class Population:
    """Candidates of one generation: points of the unit cube, their values, their groups.

    ``values`` has nan where a candidate's subspace does not have the parameter.
    """

    unit: np.ndarray
    values: np.ndarray
    groups: np.ndarray

    def __len__(self) -> int:
        return len(self.unit)


@dataclass(frozen=True)
class Beginning:
    """Earlier solutions to begin from, and the share of their parameters that copies redraw."""

    values: np.ndarray
    groups: np.ndarray
    mutation: float = 0.1


@dataclass(frozen=True)
class Start:
    """What a search starts with; ``iterations`` is how many generations are meant."""

    space: Space
    seed: int | Sequence[int] = 0
    iterations: int = 100
    beginning: Beginning | None = None


class Optimiser(ABC):
    """A running search: ``ask`` for a generation, ``tell`` how good it was, until ``finished``.

    It is a function of its settings, its seed and what it was told: telling the same again gives
    the same candidates, to the bit. That is how an interrupted study is resumed.
    """

    def __init__(self, start: Start) -> None:
        self.space = start.space
        self.random = np.random.default_rng(start.seed)
        self.beginning = start.beginning
        self.generation = 0
        self._asked: Population | None = None

    def ask(self) -> Population:
        """The candidates of this generation; the same ones until they are told about."""
        if self._asked is None:
            unit, groups = self._candidates()
            values = self.space.values(unit)
            if self.space.pools:
                values[~self.space.active(groups)] = np.nan
            self._asked = Population(unit, values, groups)
        return self._asked

    def tell(self, score: Score | Any) -> None:
        """Learn how good the candidates are: a score, or plain numbers of which less is better."""
        people = self.ask()
        known = score if isinstance(score, Score) else Score.of(score)
        if len(known) != len(people):
            raise SearchError(f"{len(people)} candidates were asked for, {len(known)} were told")
        self._learn(people, known)
        self.generation += 1
        self._asked = None

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to ask for."""
        return False

    def remaining(self, iterations: int, population: int) -> int:
        """How many candidates are still to come, those of the generation under way too."""
        return (iterations - self.generation) * population

    @abstractmethod
    def _candidates(self) -> tuple[np.ndarray, np.ndarray]:
        """Points of the unit cube and group numbers of the next generation."""

    @abstractmethod
    def _learn(self, people: Population, score: Score) -> None:
        """Take the scores of the generation that was asked for."""

    def _drawn(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """First candidates: earlier solutions and their mutated copies, else drawn at random."""
        low, high = self.space.start
        unit = low + self.random.random((count, self.space.size)) * (high - low)
        groups = self._spread(count)
        begun = self.beginning
        if begun is not None and len(begun.values):
            own = np.arange(count) % len(begun.values)
            redrawn = self.random.random((count, self.space.size)) < begun.mutation
            redrawn[: len(begun.values)] = False
            earlier = self.space.unit(np.nan_to_num(begun.values, nan=0.0))
            # What an earlier solution did not have was drawn above.
            keep = ~redrawn & ~np.isnan(begun.values)[own]
            unit = np.where(keep, earlier[own], unit)
            groups = begun.groups[own]
        return self.space.repaired(unit, groups), groups

    def _spread(self, count: int) -> np.ndarray:
        """Groups that share candidates equally: over all subspaces, or over each pool's groups."""
        sizes = self.space.pool_sizes
        if not sizes:
            return np.zeros((count, 0), dtype=np.int32)
        if self.space.subspaces <= count:
            turns = np.arange(count) % self.space.subspaces
            return np.column_stack(np.unravel_index(turns, sizes)).astype(np.int32)
        columns = [self.random.permutation(np.arange(count) % size) for size in sizes]
        return np.column_stack(columns).astype(np.int32)


class OptimiserSettings(Described):
    """What an optimiser is set up with; ``start`` makes the running search."""

    population: int = Field(default=40, ge=1)

    def start(
        self,
        space: Space,
        *,
        seed: int | Sequence[int] = 0,
        iterations: int = 100,
        beginning: Beginning | None = None,
    ) -> Optimiser:
        """A search over the space; ``iterations`` is how many generations are meant."""
        return self._started(Start(space, seed, iterations, beginning))

    def _started(self, start: Start) -> Optimiser:
        raise NotImplementedError

    def faults(self, space: Space, stages: int, iterations: int) -> list[str]:
        """Why this optimiser cannot search the space towards a goal of so many stages."""
        return []


def needs_fixed_structure(name: str, space: Space) -> list[str]:
    """The fault of optimisers that move in one subspace only."""
    if space.subspaces == 1:
        return []
    return [f"{name} searches one structure; pools need mmpso, ga or grid"]


def beginning_of(
    space: Space, solutions: Sequence[Mapping[str, Any]], mutation: float
) -> Beginning | None:
    """Earlier solutions by parameter and pool name, as rows."""
    if not solutions:
        return None
    pools = {pool.name for pool in space.pools}
    values = np.full((len(solutions), space.size), np.nan)
    groups = np.zeros((len(solutions), len(space.pools)), dtype=np.int32)
    for row, solution in enumerate(solutions):
        unknown = [name for name in solution if name not in space.names and name not in pools]
        if unknown:
            raise SearchError(
                f"earlier solution {row + 1} has {unknown}, which this space has not; "
                f"it has {[*space.names, *sorted(pools)]}"
            )
        groups[row] = space.group_numbers({k: str(v) for k, v in solution.items() if k in pools})
        for column, name in enumerate(space.names):
            if name in solution:
                values[row, column] = float(solution[name])
    low, high = space.lower - 1e-9, space.upper + 1e-9
    outside = (values < low) | (values > high)
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise SearchError(
            f"earlier solution {row + 1} has {space.names[column]} = {values[row, column]:g}, "
            f"outside {space.lower[column]:g} to {space.upper[column]:g}"
        )
    return Beginning(np.clip(values, space.lower, space.upper), groups, mutation)
