"""Metamorphic particle swarm: continuous parameters within structures, migration between them.

Every non-empty subspace has a swarm of its own with its own best. After each generation every
particle draws, in every pool, its next group (van den Kieboom 2014, eq. 3.6): with N groups,
current group c, the group l of the particle's own best and the group g of the best of all,

P(c -> j) = 1 - (1 - P_e/(N-1)) (1 - P_l [j = l]) (1 - P_g [j = g])   for j other than c.

What the source leaves open is settled so: a particle keeps the values of all parameters it ever
had; shared parameters keep their velocity and new ones draw one; its memory for the swarm restarts
in the new subspace, its memory for migration does not.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import field_validator

from homodyn.errors import SearchError
from homodyn.search.expression import Expression
from homodyn.search.goal import Score
from homodyn.search.optimizer import Optimizer, Population, SearchSetup
from homodyn.search.pso import SwarmSettings, advance_particles, first_velocity
from homodyn.search.space import Space

CURVE_NAMES = ("k", "N", "P")
"""What a probability over iterations may depend on: iteration, number of them, population."""


class MMPSO(SwarmSettings):
    """Swarms per subspace with migration; probabilities are numbers or expressions in k, N, P.

    ``explore`` is P_e (any group), ``local`` P_l (to the particle's best), ``globally`` P_g (to the
    best of all). A particle stays about 1 / explore generations. Curves that explore first and
    settle last: "0.05 * sigmoid((0.4 * N - k) / (0.05 * N))" falls, "0.1 * bump((k - 0.5 * N) /
    (0.1 * N))" peaks, "0.1 * sigmoid((k - 0.7 * N) / (0.05 * N))" rises.
    """

    positional: ClassVar[tuple[str, ...]] = ("population",)
    kind: Literal["mmpso"] = "mmpso"
    explore: float | str = 0.01
    local: float | str = 0.05
    globally: float | str = 0.05

    @field_validator("explore", "local", "globally")
    @classmethod
    def _readable(cls, curve: float | str) -> float | str:
        try:
            unknown = set(Expression(str(curve)).variables) - set(CURVE_NAMES)
        except SearchError as refusal:
            raise ValueError(str(refusal)) from None
        if unknown:
            raise ValueError(f"{curve!r} has {sorted(unknown)}; it may have {list(CURVE_NAMES)}")
        return curve

    def probabilities(self, iterations: int) -> np.ndarray:
        """P_e, P_l and P_g (columns) at every iteration (rows)."""
        known = {"k": np.arange(float(iterations)), "N": iterations, "P": self.population}
        return np.column_stack(
            [
                np.broadcast_to(Expression(str(curve))(known), iterations)
                for curve in (self.explore, self.local, self.globally)
            ]
        )

    def create(self, setup: SearchSetup) -> Optimizer:
        return MMPSOOptimizer(self, setup)

    def compatibility_errors(self, space: Space, stages: int, iterations: int) -> list[str]:
        """Which probabilities are none, and when."""
        curves = self.probabilities(max(iterations, 1))
        faults = []
        names = ("explore", "local", "globally")
        for name, curve in zip(names, curves.T, strict=True):
            wrong = np.flatnonzero(~((curve >= 0) & (curve <= 1)))
            if len(wrong):
                k = wrong[0]
                faults.append(f"{name} is {curve[k]:g} at iteration {k}; it must be within 0 and 1")
        over = np.flatnonzero(curves.sum(axis=1) > 1 + 1e-12)
        if not faults and len(over):
            total = curves.sum(axis=1)[over[0]]
            faults.append(
                f"explore + local + globally is {total:g} at iteration {over[0]}; at most 1"
            )
        return faults


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
    anywhere = explore / (count - 1) if count > 1 else 0.0
    stay_away = (1 - anywhere) * (1 - local * (groups == own[:, None]))
    chance = 1 - stay_away * (1 - globally * (groups == best))
    rows = np.arange(len(current))
    chance[rows, current] = 0.0
    chance[rows, current] = 1 - chance.sum(axis=1)
    return chance


class MMPSOOptimizer(Optimizer):
    """Particles in subspaces; only subspaces that were visited are remembered."""

    def __init__(self, settings: MMPSO, setup: SearchSetup) -> None:
        super().__init__(setup)
        self.settings = settings
        self._curves = settings.probabilities(max(setup.iterations, 1))
        self.position, self.groups = self.draw_initial(settings.population)
        count = len(self.position)
        self.velocity = first_velocity(settings, self.random, self.position.shape)
        self.own_best = self.position.copy()
        self.own_score = Score.worst(count)
        self.life_groups = self.groups.copy()
        self.life_score = Score.worst(count)
        self.best_groups = self.groups[0]
        self.best_score = Score.worst(1)
        self.subspace_best: dict[bytes, tuple[np.ndarray, int, float]] = {}

    def propose(self) -> tuple[np.ndarray, np.ndarray]:
        if self.generation:
            self._move()
        return self.position, self.groups

    def _move(self) -> None:
        towards = self.position.copy()
        for rows, key in self._occupied_subspaces():
            if key in self.subspace_best:
                towards[rows] = self.subspace_best[key][0]
        position, velocity = advance_particles(
            self.settings, self.random, self.position, self.velocity, self.own_best, towards
        )
        active = self.space.active(self.groups)
        position = np.where(active, position, self.position)
        kept = self.space.repair(position, self.groups)
        if kept is not position:
            velocity = np.where(active, kept - self.position, velocity)
        self.velocity = np.where(active, velocity, 0.0)
        self.position = kept

    def _occupied_subspaces(self) -> list[tuple[np.ndarray, bytes]]:
        """The particles of every non-empty subspace, with the subspace as a key."""
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
            mine = score[rows]
            k = mine.best()
            known = self.subspace_best.get(key)
            stage, value = int(mine.stage[k]), float(mine.value[k])
            if known is None or (-stage, value) < (-known[1], known[2]):
                self.subspace_best[key] = (population.unit[rows[k]].copy(), stage, value)
        lived = score.better(self.life_score)
        self.life_groups = np.where(lived[:, None], self.groups, self.life_groups)
        self.life_score = score.where(lived, self.life_score)
        k = score.best()
        if score[k : k + 1].better(self.best_score)[0]:
            self.best_score, self.best_groups = score[k : k + 1], self.groups[k].copy()
        self._migrate()

    def _migrate(self) -> None:
        explore, local, globally = self._curves[min(self.generation, len(self._curves) - 1)]
        next_groups = self.groups.copy()
        for pool, count in enumerate(self.space.pool_sizes):
            chance = migration_probabilities(
                count,
                self.groups[:, pool],
                self.life_groups[:, pool],
                int(self.best_groups[pool]),
                explore=explore,
                local=local,
                globally=globally,
            )
            draw = self.random.random(len(chance))
            chosen = (draw[:, None] >= np.cumsum(chance, axis=1)).sum(axis=1)
            next_groups[:, pool] = np.minimum(chosen, count - 1)
        gone = (next_groups != self.groups).any(axis=1)
        fresh = first_velocity(self.settings, self.random, self.velocity.shape)
        if not gone.any():
            return
        had, has = self.space.active(self.groups), self.space.active(next_groups)
        self.velocity = np.where(has & ~had & gone[:, None], fresh, self.velocity)
        self.own_score = Score.worst(len(gone)).where(gone, self.own_score)
        self.own_best = np.where(gone[:, None], self.position, self.own_best)
        self.groups = next_groups
