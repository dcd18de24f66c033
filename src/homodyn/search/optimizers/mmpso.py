"""Metamorphic particle swarm: continuous parameters within structures, migration between them.

Every non-empty subspace has a swarm of its own with its own best. After each generation every
particle draws, in every pool, its next group (van den Kieboom 2014, eq. 3.6): with N groups,
current group c, the group l of the particle's own best and the group g of the best of all,

P(c -> j) = 1 - (1 - P_e/(N-1)) (1 - P_l [j = l]) (1 - P_g [j = g])   for j other than c.

Choices that the source leaves open: a particle keeps the values of all parameters it ever had;
parameters that both subspaces have keep their velocity, new ones get a random velocity; after a
migration the best position of a particle is forgotten for the motion, but not for migration.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import field_validator

from homodyn.errors import SearchError
from homodyn.search.expression import Expression
from homodyn.search.goal import Score
from homodyn.search.optimizers.interface import Optimizer, Population, SearchSetup
from homodyn.search.optimizers.pso import SwarmSettings, advance_particles, first_velocity
from homodyn.search.space import Space

CURVE_NAMES = ("k", "N", "P")
"""Variables of a probability curve: iteration, number of iterations, population."""


class MMPSO(SwarmSettings):
    """Settings of a metamorphic swarm: one swarm per subspace, with migration.

    Probabilities are numbers, or expressions of the iteration k, the number of iterations N and the
    population P. A particle stays about 1 / ``explore`` generations in a subspace. Curves that
    explore first and converge later: ``"0.05 * sigmoid((0.4 * N - k) / (0.05 * N))"`` falls,
    ``"0.1 * bump((k - 0.5 * N) / (0.1 * N))"`` peaks, ``"0.1 * sigmoid((k - 0.7 * N) / (0.05 *
    N))"`` rises.

    Attributes:
        explore: Probability P_e of migration to any group.
        local: Probability P_l of migration to the group of the particle's own best.
        globally: Probability P_g of migration to the group of the best of all particles.
    """

    positional: ClassVar[tuple[str, ...]] = ("population",)
    kind: Literal["mmpso"] = "mmpso"
    explore: float | str = 0.01
    local: float | str = 0.05
    globally: float | str = 0.05

    @field_validator("explore", "local", "globally")
    @classmethod
    def _check_curve(cls, curve: float | str) -> float | str:
        try:
            unknown = set(Expression(str(curve)).variables) - set(CURVE_NAMES)
        except SearchError as error:
            raise ValueError(str(error)) from None
        if unknown:
            raise ValueError(
                f"{curve!r} has unknown variables {sorted(unknown)}; accepted: {list(CURVE_NAMES)}"
            )
        return curve

    def probabilities(self, iterations: int) -> np.ndarray:
        """Migration probabilities over the iterations.

        Args:
            iterations: Number of iterations.

        Returns:
            (iterations, 3): P_e, P_l and P_g.
        """
        variables = {"k": np.arange(float(iterations)), "N": iterations, "P": self.population}
        return np.column_stack(
            [
                np.broadcast_to(Expression(str(curve))(variables), iterations)
                for curve in (self.explore, self.local, self.globally)
            ]
        )

    def create(self, setup: SearchSetup) -> Optimizer:
        return MMPSOOptimizer(self, setup)

    def compatibility_errors(self, space: Space, stages: int, iterations: int) -> list[str]:
        """See `OptimizerSettings.compatibility_errors`."""
        curves = self.probabilities(max(iterations, 1))
        errors = []
        names = ("explore", "local", "globally")
        for name, curve in zip(names, curves.T, strict=True):
            wrong = np.flatnonzero(~((curve >= 0) & (curve <= 1)))
            if len(wrong):
                k = wrong[0]
                errors.append(
                    f"{name} is {curve[k]:g} at iteration {k}; expected a number from 0 to 1"
                )
        too_large = np.flatnonzero(curves.sum(axis=1) > 1 + 1e-12)
        if not errors and len(too_large):
            k = too_large[0]
            total = curves.sum(axis=1)[k]
            errors.append(
                f"explore + local + globally is {total:g} at iteration {k}; expected at most 1"
            )
        return errors


def migration_probabilities(
    count: int,
    current: np.ndarray,
    own: np.ndarray,
    best: int,
    *,
    explore: float,
    local: float,
    globally: float,
) -> np.ndarray:
    """Probabilities that particles of a metamorphic swarm migrate to the groups of one pool.

    Args:
        count: Number of groups in the pool.
        current: Index of the current group of each particle, shape ``(n,)``.
        own: Index of the group of each particle's own best, shape ``(n,)``.
        best: Index of the group of the best of all particles.
        explore: Probability P_e of migration, spread evenly over the other groups, 0 to 1.
        local: Probability P_l of migration to the group ``own``, 0 to 1.
        globally: Probability P_g of migration to the group ``best``, 0 to 1. The sum of the three
            must not exceed 1.

    Returns:
        Probability of each group (columns) to be the next group of each particle (rows), shape
        ``(n, count)``. Each row sums to 1; the column ``current`` is the probability to stay.
    """
    groups = np.arange(count)
    uniform = explore / (count - 1) if count > 1 else 0.0
    complement = (1 - uniform) * (1 - local * (groups == own[:, None]))
    probability = 1 - complement * (1 - globally * (groups == best))
    rows = np.arange(len(current))
    probability[rows, current] = 0.0
    probability[rows, current] = 1 - probability.sum(axis=1)
    return probability


class MMPSOOptimizer(Optimizer):
    """Particles in subspaces, with the best point of every subspace that was visited."""

    def __init__(self, settings: MMPSO, setup: SearchSetup) -> None:
        super().__init__(setup)
        self.settings = settings
        self._curves = settings.probabilities(max(setup.iterations, 1))
        self.position, self.groups = self.draw_initial(settings.population)
        count = len(self.position)
        self.velocity = first_velocity(settings, self.random, self.position.shape)
        self.own_best = self.position.copy()
        self.own_score = Score.worst(count)
        self.lifetime_groups = self.groups.copy()
        self.lifetime_score = Score.worst(count)
        self.best_groups = self.groups[0]
        self.best_score = Score.worst(1)
        self.subspace_best: dict[bytes, tuple[np.ndarray, int, float]] = {}

    def propose(self) -> tuple[np.ndarray, np.ndarray]:
        if self.generation:
            self._move()
        return self.position, self.groups

    def _move(self) -> None:
        targets = self.position.copy()
        for rows, key in self._occupied_subspaces():
            if key in self.subspace_best:
                targets[rows] = self.subspace_best[key][0]
        position, velocity = advance_particles(
            self.settings, self.random, self.position, self.velocity, self.own_best, targets
        )
        active = self.space.active(self.groups)
        position = np.where(active, position, self.position)
        repaired = self.space.repair(position, self.groups)
        if repaired is not position:
            velocity = np.where(active, repaired - self.position, velocity)
        self.velocity = np.where(active, velocity, 0.0)
        self.position = repaired

    def _occupied_subspaces(self) -> list[tuple[np.ndarray, bytes]]:
        """Indices of the particles in every occupied subspace, and the key of the subspace."""
        if not self.space.pools:
            return [(np.arange(len(self.groups)), b"")]
        unique, member = np.unique(self.groups, axis=0, return_inverse=True)
        order = np.argsort(member.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(member.ravel()))
        return [
            (rows, row.tobytes())
            for rows, row in zip(np.split(order, ends[:-1]), unique, strict=True)
        ]

    def update(self, population: Population, score: Score) -> None:
        improved = score.better(self.own_score)
        self.own_best = np.where(improved[:, None], population.unit, self.own_best)
        self.own_score = score.where(improved, self.own_score)
        for rows, key in self._occupied_subspaces():
            scores = score[rows]
            k = scores.best()
            best = self.subspace_best.get(key)
            stage, value = int(scores.stage[k]), float(scores.value[k])
            if best is None or (-stage, value) < (-best[1], best[2]):
                self.subspace_best[key] = (population.unit[rows[k]].copy(), stage, value)
        improved = score.better(self.lifetime_score)
        self.lifetime_groups = np.where(improved[:, None], self.groups, self.lifetime_groups)
        self.lifetime_score = score.where(improved, self.lifetime_score)
        k = score.best()
        if score[k : k + 1].better(self.best_score)[0]:
            self.best_score, self.best_groups = score[k : k + 1], self.groups[k].copy()
        self._migrate()

    def _migrate(self) -> None:
        explore, local, globally = self._curves[min(self.generation, len(self._curves) - 1)]
        next_groups = self.groups.copy()
        for pool, count in enumerate(self.space.pool_sizes):
            probability = migration_probabilities(
                count,
                self.groups[:, pool],
                self.lifetime_groups[:, pool],
                int(self.best_groups[pool]),
                explore=explore,
                local=local,
                globally=globally,
            )
            draw = self.random.random(len(probability))
            chosen = (draw[:, None] >= np.cumsum(probability, axis=1)).sum(axis=1)
            next_groups[:, pool] = np.minimum(chosen, count - 1)
        migrates = (next_groups != self.groups).any(axis=1)
        random_velocity = first_velocity(self.settings, self.random, self.velocity.shape)
        if not migrates.any():
            return
        before, after = self.space.active(self.groups), self.space.active(next_groups)
        new = after & ~before & migrates[:, None]
        self.velocity = np.where(new, random_velocity, self.velocity)
        self.own_score = Score.worst(len(migrates)).where(migrates, self.own_score)
        self.own_best = np.where(migrates[:, None], self.position, self.own_best)
        self.groups = next_groups
