"""Particle swarm optimisation, with inertia or constriction.

v <- w v + r1 c1 (own best - x) + r2 c2 (best of the neighbourhood - x);  x <- x + v

with r uniform in [0, 1) for every particle and dimension (Kennedy and Eberhart 1995; inertia: Shi
and Eberhart 1998; constriction K = 0.729, phi = 2.05: Clerc and Kennedy 2002, the same numbers).
Only the order of scores matters, so that a lexicographic goal needs no other swarm.
"""

from __future__ import annotations

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


class SwarmSettings(OptimizerSettings):
    """The constants of motion of a swarm, which several optimizers share.

    ``max_velocity`` is a fraction of the range of each parameter. With ``constriction`` K the
    velocity is K (v + ...), else w v + ...; ``bounds`` reflect particles or hold them.
    """

    inertia: float = Field(default=0.729, ge=0, lt=1)
    own: float = Field(default=1.494, ge=0)
    social: float = Field(default=1.494, ge=0)
    constriction: float | None = Field(default=None, gt=0, le=1)
    max_velocity: float = Field(default=0.6, gt=0, le=1)
    bounds: Literal["reflect", "hold"] = "reflect"


class PSO(SwarmSettings):
    """Particle swarm over one structure; neighbours are all particles or the two on a ring."""

    positional: ClassVar[tuple[str, ...]] = ("population",)
    kind: Literal["pso"] = "pso"
    neighbors: Literal["all", "ring"] = "all"

    @classmethod
    def with_constriction(
        cls, population: int = 40, *, factor: float = 0.729, phi: float = 2.05, **named: Any
    ) -> PSO:
        """The swarm with constriction: K (v + phi r1 (...) + phi r2 (...))."""
        return cls(population=population, own=phi, social=phi, constriction=factor, **named)

    def create(self, setup: SearchSetup) -> Optimizer:
        return PSOOptimizer(self, setup)

    def compatibility_errors(self, space: Space, stages: int, iterations: int) -> list[str]:
        """Why this swarm cannot search the space."""
        return needs_fixed_structure("pso", space)


class PSOOptimizer(Optimizer):
    """Particles with velocities and memories of where each was best."""

    def __init__(self, settings: PSO, setup: SearchSetup) -> None:
        super().__init__(setup)
        self.settings = settings
        self.position, self.groups = self.draw_initial(settings.population)
        self.velocity = first_velocity(settings, self.random, self.position.shape)
        self.own_best = self.position.copy()
        self.own_score = Score.worst(len(self.position))

    def propose(self) -> tuple[np.ndarray, np.ndarray]:
        if self.generation:
            self._move()
        return self.position, self.groups

    def _move(self) -> None:
        towards = self.own_best[self._leaders()]
        position, self.velocity = advance_particles(
            self.settings, self.random, self.position, self.velocity, self.own_best, towards
        )
        kept = self.space.repair(position, self.groups)
        if kept is not position:
            self.velocity = kept - self.position
        self.position = kept

    def _leaders(self) -> np.ndarray:
        """For every particle the one in its neighbourhood that did best."""
        count = len(self.position)
        if self.settings.neighbors == "all":
            return np.full(count, self.own_score.best())
        leader = np.arange(count)
        for side in (-1, 1):
            other = (np.arange(count) + side) % count
            ahead = self.own_score[other].better(self.own_score[leader])
            leader = np.where(ahead, other, leader)
        return leader

    def update(self, population: Population, score: Score) -> None:
        improved = score.better(self.own_score)
        self.own_best = np.where(improved[:, None], population.unit, self.own_best)
        self.own_score = score.where(improved, self.own_score)


def first_velocity(
    settings: SwarmSettings, random: np.random.Generator, shape: tuple[int, ...]
) -> np.ndarray:
    """Velocities drawn within the limit, ranges a generation."""
    return settings.max_velocity * (2.0 * random.random(shape) - 1.0)


def advance_particles(
    settings: SwarmSettings,
    random: np.random.Generator,
    position: np.ndarray,
    velocity: np.ndarray,
    own_best: np.ndarray,
    towards: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities one generation later, within limits and bounds."""
    pull = settings.own * random.random(position.shape) * (own_best - position)
    pull += settings.social * random.random(position.shape) * (towards - position)
    if settings.constriction is None:
        velocity = settings.inertia * velocity + pull
    else:
        velocity = settings.constriction * (velocity + pull)
    velocity = np.clip(velocity, -settings.max_velocity, settings.max_velocity)
    position = position + velocity
    outside = (position < 0.0) | (position > 1.0)
    if settings.bounds == "hold":
        return np.clip(position, 0.0, 1.0), np.where(outside, 0.0, velocity)
    # One reflection is enough: no step is longer than the range.
    position = np.where(position < 0.0, -position, position)
    position = np.where(position > 1.0, 2.0 - position, position)
    return np.clip(position, 0.0, 1.0), np.where(outside, -velocity, velocity)
