"""The interface of optimizers (ask and tell), and where their first candidates come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import ConfigDict, Field

from homodyn.errors import SearchError
from homodyn.foundation import Record, record
from homodyn.search.goal import Score
from homodyn.search.space import Space
from homodyn.search.validated_model import ValidatedModel


@record
class Population(Record):
    """Candidates of one generation."""

    unit: np.ndarray
    """(candidates, parameters), points of the unit cube."""
    values: np.ndarray
    """(candidates, parameters), values of the parameters; NaN where a subspace lacks one."""
    groups: np.ndarray
    """(candidates, pools), group numbers."""

    def __len__(self) -> int:
        return len(self.unit)


@record
class InitialSolutions(Record):
    """Earlier solutions to begin from."""

    values: np.ndarray
    """(solutions, parameters), values of the parameters; NaN where a solution lacks one."""
    groups: np.ndarray
    """(solutions, pools), group numbers."""
    mutation: float = 0.1
    """Probability that a copy of a solution draws a parameter again."""


@record
class SearchSetup(Record):
    """Inputs of an optimizer."""

    space: Space
    """The space to search."""
    seed: int | Sequence[int] = 0
    """Seed of the random numbers."""
    iterations: int = 100
    """Planned number of generations."""
    initial: InitialSolutions | None = None
    """Earlier solutions to begin from."""


class Optimizer(ABC):
    """A running search: `ask` for a generation, evaluate it, `tell` its scores, until `finished`.

    To write an optimizer, implement `propose` and `update`, and an `OptimizerSettings` whose
    ``create`` returns it. The contract:

    - It is a deterministic function of its settings, its seed and the scores. Random numbers come
      from ``self.random`` only. An interrupted study is resumed by telling the same scores again.
    - It compares candidates by `Score` (``better``, ``order``, ``best``, ``ranks``). ``value``
      alone is comparable only at equal ``stage``; failed candidates rank last.
    - Points lie in the unit cube; ``self.space.repair`` moves them onto the constraints.

    Args:
        setup: Space, seed, planned generations and earlier solutions.
    """

    def __init__(self, setup: SearchSetup) -> None:
        self.space = setup.space
        self.random = np.random.default_rng(setup.seed)
        self.initial = setup.initial
        self.generation = 0
        self._population: Population | None = None

    def ask(self) -> Population:
        """The candidates of this generation; the same ones until `tell`.

        Returns:
            The candidates.
        """
        if self._population is None:
            unit, groups = self.propose()
            values = self.space.values(unit)
            if self.space.pools:
                values[~self.space.active(groups)] = np.nan
            self._population = Population(unit, values, groups)
        return self._population

    def tell(self, score: Score | Sequence[float] | np.ndarray) -> None:
        """Report how good the candidates are and go on to the next generation.

        Args:
            score: A score, or one number per candidate, lower is better (NaN: failed).

        Raises:
            SearchError: The number of scores differs from the number of candidates.
        """
        population = self.ask()
        scores = score if isinstance(score, Score) else Score.of(score)
        if len(scores) != len(population):
            raise SearchError(
                f"{len(scores)} scores for {len(population)} candidates; expected one per candidate"
            )
        self.update(population, scores)
        self.generation += 1
        self._population = None

    @property
    def finished(self) -> bool:
        """Whether all candidates have been proposed."""
        return False

    def remaining(self, iterations: int, population: int) -> int:
        """Number of candidates still to come, including the current generation.

        Args:
            iterations: Planned number of generations.
            population: Candidates per generation.

        Returns:
            The number of candidates.
        """
        return (iterations - self.generation) * population

    @abstractmethod
    def propose(self) -> tuple[np.ndarray, np.ndarray]:
        """The next generation.

        Returns:
            Points of the unit cube, (candidates, parameters), and group numbers, int32,
            (candidates, pools).
        """

    @abstractmethod
    def update(self, population: Population, score: Score) -> None:
        """Process the scores of the generation that was proposed last.

        Args:
            population: The candidates.
            score: Their scores.
        """

    def draw_initial(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Candidates of a first generation.

        Args:
            count: Number of candidates.

        Returns:
            Points of the unit cube and group numbers: earlier solutions and their mutated copies
            where there are some, random points otherwise.
        """
        low, high = self.space.start
        unit = low + self.random.random((count, self.space.size)) * (high - low)
        groups = self._initial_groups(count)
        initial = self.initial
        if initial is not None and len(initial.values):
            source = np.arange(count) % len(initial.values)
            redraw = self.random.random((count, self.space.size)) < initial.mutation
            redraw[: len(initial.values)] = False
            missing = np.isnan(initial.values)
            earlier = self.space.unit(np.where(missing, self.space.lower, initial.values))
            # Parameters that an earlier solution lacks were drawn above.
            keep = ~redraw & ~missing[source]
            unit = np.where(keep, earlier[source], unit)
            groups = initial.groups[source]
        return self.space.repair(unit, groups), groups

    def _initial_groups(self, count: int) -> np.ndarray:
        """Groups with equal numbers of candidates: per subspace, or per group of each pool."""
        sizes = self.space.pool_sizes
        if not sizes:
            return np.zeros((count, 0), dtype=np.int32)
        if self.space.subspaces <= count:
            subspaces = np.arange(count) % self.space.subspaces
            return np.column_stack(np.unravel_index(subspaces, sizes)).astype(np.int32)
        columns = [self.random.permutation(np.arange(count) % size) for size in sizes]
        return np.column_stack(columns).astype(np.int32)


class OptimizerSettings(ValidatedModel):
    """Settings of an optimizer; `start` creates the running search.

    Derive from it for an optimizer of your own: give ``kind`` a unique name and implement `create`.
    Derived classes are known by their ``kind``, so a study that used one can be resumed wherever
    the class is defined.
    """

    kinds: ClassVar[dict[str, type[OptimizerSettings]]] = {}
    """All settings classes by kind."""
    population: int = Field(default=40, ge=1)
    kind: str = ""

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        kind = cls.model_fields["kind"].default
        if kind:
            OptimizerSettings.kinds[kind] = cls

    def start(
        self,
        space: Space,
        *,
        seed: int | Sequence[int] = 0,
        iterations: int = 100,
        initial: InitialSolutions | None = None,
    ) -> Optimizer:
        """A running search over a space.

        Args:
            space: The space to search.
            seed: Seed of its random numbers.
            iterations: Planned number of generations.
            initial: Earlier solutions to begin from.

        Returns:
            The optimizer.
        """
        return self.create(SearchSetup(space, seed, iterations, initial))

    def create(self, setup: SearchSetup) -> Optimizer:
        """The optimizer with these settings.

        Args:
            setup: Space, seed, planned generations and earlier solutions.

        Returns:
            The optimizer.

        Raises:
            SearchError: The class does not implement this method, or is not available here.
        """
        raise SearchError(
            f"the optimizer {self.kind or type(self).__name__!r} is not available: import the "
            "module that defines its settings class, with the method create"
        )

    def compatibility_errors(self, space: Space, stages: int, iterations: int) -> list[str]:
        """Reasons why this optimizer cannot be used.

        Args:
            space: The space to search.
            stages: Stages of the goal before the last objective.
            iterations: Planned number of generations.

        Returns:
            One sentence per reason; empty when it can be used.
        """
        return []


class UnknownOptimizer(OptimizerSettings):
    """Settings of a recorded optimizer whose class is not defined in this program."""

    model_config = ConfigDict(extra="allow")


def needs_fixed_structure(name: str, space: Space) -> list[str]:
    """Errors of an optimizer that searches a single subspace.

    Args:
        name: Name of the optimizer.
        space: The space to search.

    Returns:
        One sentence if the space has several subspaces, else nothing.
    """
    if space.subspaces == 1:
        return []
    return [f"{name} searches one structure; pools need mmpso, ga or grid"]


def initial_solutions(
    space: Space, solutions: Sequence[Mapping[str, Any]], mutation: float
) -> InitialSolutions | None:
    """Convert earlier solutions to arrays.

    Args:
        space: The space to search.
        solutions: Values of parameters and groups of pools, by name.
        mutation: Probability that a copy of a solution draws a parameter again.

    Returns:
        The solutions; None where there are none.

    Raises:
        SearchError: A name is not in the space, or a value is outside its bounds.
    """
    if not solutions:
        return None
    pools = {pool.name for pool in space.pools}
    values = np.full((len(solutions), space.size), np.nan)
    groups = np.zeros((len(solutions), len(space.pools)), dtype=np.int32)
    for row, solution in enumerate(solutions):
        unknown = [name for name in solution if name not in space.names and name not in pools]
        if unknown:
            raise SearchError(
                f"earlier solution {row + 1} has {unknown}, which are not in this space; "
                f"accepted: {[*space.names, *sorted(pools)]}"
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
    return InitialSolutions(np.clip(values, space.lower, space.upper), groups, mutation)
