"""CMA-ES through the package ``cma`` (Hansen), the modern reference for one structure.

It is told ranks, which are all it uses, so that stages and failed candidates need no numbers.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from homodyn.search.goal import Score
from homodyn.search.optimiser import (
    Optimiser,
    OptimiserSettings,
    Population,
    Start,
    needs_fixed_structure,
)
from homodyn.search.space import Space


class CMAES(OptimiserSettings):
    """Covariance matrix adaptation; ``step`` is its first standard deviation, in ranges."""

    positional: ClassVar[tuple[str, ...]] = ("population",)
    kind: Literal["cma"] = "cma"
    population: int = Field(default=20, ge=2)
    step: float = Field(default=0.3, gt=0, le=1)

    def _started(self, start: Start) -> Optimiser:
        return Evolution(self, start)

    def faults(self, space: Space, stages: int, iterations: int) -> list[str]:
        """Why this space is not for it."""
        faults = needs_fixed_structure("cma", space)
        if space.size < 2:
            faults.append("cma needs at least two parameters")
        return faults


class Evolution(Optimiser):
    """A multivariate normal distribution that learns the shape of the valley.

    It begins at the first earlier solution, else at a drawn point.
    """

    def __init__(self, settings: CMAES, start: Start) -> None:
        super().__init__(start)
        with warnings.catch_warnings():
            # The package warns about drawing libraries and numpy versions it does not need here.
            warnings.simplefilter("ignore")
            import cma
        first, self.groups = self._drawn(1)
        options: dict[str, Any] = {
            "bounds": [0.0, 1.0],
            "popsize": settings.population,
            "randn": lambda *shape: self.random.standard_normal(shape),
            # nan: the package leaves numpy's shared generator alone.
            "seed": np.nan,
            "verbose": -9,
        }
        self.strategy = cma.CMAEvolutionStrategy(first[0], settings.step, options)
        self._raw: list[np.ndarray] = []

    def _candidates(self) -> tuple[np.ndarray, np.ndarray]:
        self._raw = self.strategy.ask()
        unit = np.clip(np.array(self._raw), 0.0, 1.0)
        groups = np.repeat(self.groups, len(unit), axis=0)
        return self.space.repaired(unit, groups), groups

    def _learn(self, people: Population, score: Score) -> None:
        self.strategy.tell(self._raw, [float(rank) for rank in score.ranks()])
