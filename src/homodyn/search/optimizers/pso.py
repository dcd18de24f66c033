"""Particle swarm optimization, with inertia or constriction.

v <- w v + r1 c1 (own best - x) + r2 c2 (neighborhood best - x);  x <- x + v

with r uniform in [0, 1) for every particle and dimension (Kennedy and Eberhart 1995; inertia: Shi
and Eberhart 1998; constriction K = 0.729, phi = 2.05: Clerc and Kennedy 2002, the same numbers).
Only the order of scores matters, so the same swarm serves lexicographic goals.
"""

from __future__ import annotations

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


class SwarmSettings(OptimizerSettings):
    """Settings that all particle swarms share.

    Attributes:
        inertia: Factor w of the velocity.
        own: Factor c1 of the attraction to the best point of the particle.
        social: Factor c2 of the attraction to the best point of the neighborhood.
        constriction: Factor K of the velocity K (v + ...), which replaces the inertia.
        max_velocity: Limit of the velocity, as a share of the range per generation.
        bounds: Whether particles are reflected at bounds or stop there.
    """

    inertia: float = Field(default=0.729, ge=0, lt=1)
    own: float = Field(default=1.494, ge=0)
    social: float = Field(default=1.494, ge=0)
    constriction: float | None = Field(default=None, gt=0, le=1)
    max_velocity: float = Field(default=0.6, gt=0, le=1)
    bounds: Literal["reflect", "hold"] = "reflect"


class PSO(SwarmSettings):
    """Settings of a particle swarm in a single structure.

    Attributes:
        neighbors: The neighborhood: all particles, or the two adjacent ones on a ring.
        reevaluate: For noisy objectives: every so many generations the best positions are evaluated
            again, and each keeps the worse of its scores, so that lucky values are not remembered.
    """

    positional: ClassVar[tuple[str, ...]] = ("population",)
    kind: Literal["pso"] = "pso"
    neighbors: Literal["all", "ring"] = "all"
    reevaluate: int | None = Field(default=None, ge=2)

    @classmethod
    def with_constriction(
        cls, population: int = 40, *, factor: float = 0.729, phi: float = 2.05, **named: Any
    ) -> PSO:
        """Settings of a swarm with constriction: v <- K (v + phi r1 (...) + phi r2 (...)).

        Args:
            population: Number of particles.
            factor: Constriction factor K.
            phi: Factor of both attractions.
            **named: Other settings.

        Returns:
            The settings.
        """
        return cls(population=population, own=phi, social=phi, constriction=factor, **named)

    def create(self, setup: SearchSetup) -> Optimizer:
        return PSOOptimizer(self, setup)

    def compatibility_errors(self, space: Space, stages: int, iterations: int) -> list[str]:
        """See `OptimizerSettings.compatibility_errors`."""
        return needs_fixed_structure("pso", space)


class PSOOptimizer(Optimizer):
    """Particles with velocities and their best positions."""

    def __init__(self, settings: PSO, setup: SearchSetup) -> None:
        super().__init__(setup)
        self.settings = settings
        self.position, self.groups = self.draw_initial(settings.population)
        self.velocity = first_velocity(settings, self.random, self.position.shape)
        self.own_best = self.position.copy()
        self.own_score = Score.worst(len(self.position))

    def propose(self) -> tuple[np.ndarray, np.ndarray]:
        if self._reevaluates:
            return self.own_best, self.groups
        if self.generation:
            self._move()
        return self.position, self.groups

    @property
    def _reevaluates(self) -> bool:
        """Whether this generation evaluates the best positions again."""
        every = self.settings.reevaluate
        return every is not None and self.generation > 0 and self.generation % every == 0

    def _move(self) -> None:
        targets = self.own_best[self._leaders()]
        position, self.velocity = advance_particles(
            self.settings, self.random, self.position, self.velocity, self.own_best, targets
        )
        repaired = self.space.repair(position, self.groups)
        if repaired is not position:
            self.velocity = repaired - self.position
        self.position = repaired

    def _leaders(self) -> np.ndarray:
        """Index of the best particle in the neighborhood of each particle."""
        count = len(self.position)
        if self.settings.neighbors == "all":
            return np.full(count, self.own_score.best())
        leader = np.arange(count)
        for side in (-1, 1):
            other = (np.arange(count) + side) % count
            is_better = self.own_score[other].better(self.own_score[leader])
            leader = np.where(is_better, other, leader)
        return leader

    def update(self, population: Population, score: Score) -> None:
        if self._reevaluates:
            worse = self.own_score.better(score)
            self.own_score = score.where(worse, self.own_score)
            return
        improved = score.better(self.own_score)
        self.own_best = np.where(improved[:, None], population.unit, self.own_best)
        self.own_score = score.where(improved, self.own_score)


def first_velocity(
    settings: SwarmSettings, random: np.random.Generator, shape: tuple[int, ...]
) -> np.ndarray:
    """Random velocities within the limit.

    Args:
        settings: Settings of the swarm.
        random: Random number generator.
        shape: (particles, parameters).

    Returns:
        Velocities, in ranges of the parameters per generation.
    """
    return settings.max_velocity * (2.0 * random.random(shape) - 1.0)


def advance_particles(
    settings: SwarmSettings,
    random: np.random.Generator,
    position: np.ndarray,
    velocity: np.ndarray,
    own_best: np.ndarray,
    targets: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Advance particles by one generation, within the velocity limit and the bounds.

    Args:
        settings: Settings of the swarm.
        random: Random number generator.
        position: (particles, parameters), in the unit cube.
        velocity: (particles, parameters), per generation.
        own_best: (particles, parameters), best position of each particle.
        targets: (particles, parameters), best position of its neighborhood.

    Returns:
        Positions and velocities.
    """
    attraction = settings.own * random.random(position.shape) * (own_best - position)
    attraction += settings.social * random.random(position.shape) * (targets - position)
    if settings.constriction is None:
        velocity = settings.inertia * velocity + attraction
    else:
        velocity = settings.constriction * (velocity + attraction)
    velocity = np.clip(velocity, -settings.max_velocity, settings.max_velocity)
    position = position + velocity
    outside = (position < 0.0) | (position > 1.0)
    if settings.bounds == "hold":
        return np.clip(position, 0.0, 1.0), np.where(outside, 0.0, velocity)
    # One reflection is enough: no step is longer than the range.
    position = np.where(position < 0.0, -position, position)
    position = np.where(position > 1.0, 2.0 - position, position)
    return np.clip(position, 0.0, 1.0), np.where(outside, -velocity, velocity)
