"""CMA-ES through the package ``cma`` (Hansen), the modern reference for one structure.

It is told ranks, which are all it uses, so that stages and failed candidates need no numbers.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

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


class CMAES(OptimizerSettings):
    """Covariance matrix adaptation; ``step`` is its first standard deviation, in ranges."""

    positional: ClassVar[tuple[str, ...]] = ("population",)
    kind: Literal["cma"] = "cma"
    population: int = Field(default=20, ge=2)
    step: float = Field(default=0.3, gt=0, le=1)

    def create(self, setup: SearchSetup) -> Optimizer:
        return CMAESOptimizer(self, setup)

    def compatibility_errors(self, space: Space, stages: int, iterations: int) -> list[str]:
        """Why this space is not for it."""
        faults = needs_fixed_structure("cma", space)
        if space.size < 2:
            faults.append("cma needs at least two parameters")
        return faults


class CMAESOptimizer(Optimizer):
    """A multivariate normal distribution that learns the shape of the valley.

    It begins at the first earlier solution, else at a drawn point.
    """

    def __init__(self, settings: CMAES, setup: SearchSetup) -> None:
        super().__init__(setup)
        with warnings.catch_warnings():
            # The package warns about drawing libraries and numpy versions it does not need here.
            warnings.simplefilter("ignore")
            import cma
        first, self.groups = self.draw_initial(1)
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

    def propose(self) -> tuple[np.ndarray, np.ndarray]:
        self._raw = self.strategy.ask()
        unit = np.clip(np.array(self._raw), 0.0, 1.0)
        groups = np.repeat(self.groups, len(unit), axis=0)
        return self.space.repair(unit, groups), groups

    def update(self, population: Population, score: Score) -> None:
        self.strategy.tell(self._raw, [float(rank) for rank in score.ranks()])
