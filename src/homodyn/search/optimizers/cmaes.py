"""CMA-ES through the package ``cma`` (Hansen), the reference method for a single structure.

The package receives ranks instead of values. CMA-ES uses nothing else, and stages and failed
candidates have ranks too.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

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


class CMAES(OptimizerSettings):
    """Settings of covariance matrix adaptation.

    Attributes:
        step: Initial standard deviation, as a share of the range of each parameter.
        restarts: How often the strategy starts anew at a random point when it has converged.
    """

    positional: ClassVar[tuple[str, ...]] = ("population",)
    kind: Literal["cma"] = "cma"
    population: int = Field(default=20, ge=2)
    step: float = Field(default=0.3, gt=0, le=1)
    restarts: int | None = Field(default=None, ge=1)

    def create(self, setup: SearchSetup) -> Optimizer:
        return CMAESOptimizer(self, setup)

    def compatibility_errors(self, space: Space, stages: int, iterations: int) -> list[str]:
        """See `OptimizerSettings.compatibility_errors`."""
        errors = needs_fixed_structure("cma", space)
        if space.size < 2:
            errors.append("cma needs at least two parameters")
        return errors


class CMAESOptimizer(Optimizer):
    """A multivariate normal distribution that adapts to the objective.

    It begins at the first earlier solution, or at a random point.
    """

    def __init__(self, settings: CMAES, setup: SearchSetup) -> None:
        super().__init__(setup)
        with warnings.catch_warnings():
            # The package warns about plotting libraries and numpy versions that are not used here.
            warnings.simplefilter("ignore")
            import cma
        first, self.groups = self.draw_initial(1)
        self.settings = settings
        self.restarts = 0
        self._create = cma.CMAEvolutionStrategy
        self.strategy = self._start(first[0])
        self._samples: list[np.ndarray] = []

    def _start(self, point: np.ndarray) -> Any:
        """A strategy about a point of the unit cube."""
        options: dict[str, Any] = {
            "bounds": [0.0, 1.0],
            "popsize": self.settings.population,
            "randn": lambda *shape: self.random.standard_normal(shape),
            # NaN: the package does not seed numpy's global generator.
            "seed": np.nan,
            "verbose": -9,
        }
        return self._create(point, self.settings.step, options)

    def propose(self) -> tuple[np.ndarray, np.ndarray]:
        self._samples = self.strategy.ask()
        unit = np.clip(np.array(self._samples), 0.0, 1.0)
        groups = np.repeat(self.groups, len(unit), axis=0)
        return self.space.repair(unit, groups), groups

    def update(self, population: Population, score: Score) -> None:
        self.strategy.tell(self._samples, [float(rank) for rank in score.ranks()])
        if self.restarts < (self.settings.restarts or 0) and self.strategy.stop():
            self.restarts += 1
            self.strategy = self._start(self.random.random(self.space.size))
