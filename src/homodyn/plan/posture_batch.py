"""Postures at many instants at once: damped Newton steps of inverse kinematics in one batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from homodyn.control import (
    CollisionLimit,
    ConfigurationLimit,
    Limit,
    Task,
    VelocityLimit,
)
from homodyn.control.ik_step import IkStep
from homodyn.model import Model
from homodyn.model.configuration import clamp
from homodyn.plan.body_targets import TargetErrors, Targets
from homodyn.plan.collision_pairs import ClosestPair, closest_pairs
from homodyn.plan.support_targets import SupportBody

MAX_STEP = 0.3
"""Largest change of a coordinate in one iteration (rad, m)."""
DAMPING, MAX_DAMPING = 1e-2, 1e4
"""Cost of every change, squared: at first, and the largest for programs that the solver refuses."""
FREE_ITERATIONS = 5
"""First iterations, in which obstacles do not count: bodies get to their places first, so that
obstacles push the rest of the body out on the right side."""
PREFERENCE_ITERATIONS = 8
"""First iterations, in which the reference posture counts; it biases the targets afterwards."""
MAX_ITERATIONS = 20
FREE_MARGIN_M = -100.0
"""Margin of distances that never count."""
CLEARANCE_TOLERANCE_M = 5e-4
"""Penetration of a required distance that counts as kept."""


@dataclass(frozen=True, eq=False)
class PostureBatch:
    """Postures at several instants, with their errors and distances."""

    q: np.ndarray
    """(instants, nq)."""
    errors: TargetErrors
    clearance: np.ndarray
    """(instants,), m: least distance beyond what is required."""
    pairs: list[ClosestPair]
    """The pair with that distance, at each instant."""
    iterations: int

    @property
    def valid(self) -> np.ndarray:
        """(instants,): whether all targets are reached and all distances kept."""
        return np.asarray(self.errors.reached & (self.clearance >= -CLEARANCE_TOLERANCE_M))

    def failure(self, instant: int) -> str:
        """What is wrong at an instant, in words; empty where nothing is."""
        parts = []
        if not self.errors.reached[instant]:
            parts.append(self.errors.worst(instant))
        if self.clearance[instant] < -CLEARANCE_TOLERANCE_M:
            pair = self.pairs[instant]
            parts.append(
                f"{pair.capsule} and {pair.other} are {1000 * pair.distance:.1f} mm apart, "
                f"{1000 * pair.missing:.1f} mm less than required"
            )
        return " and ".join(parts)


@dataclass(frozen=True, eq=False)
class BatchSolver:
    """Solves postures of one model in one scene; all calls share a compiled program."""

    model: Model
    bodies: Mapping[str, SupportBody]
    """Bodies that have targets at some time."""

    def solve(
        self,
        targets: Targets,
        q: np.ndarray,
        limit: CollisionLimit,
        max_iterations: int = MAX_ITERATIONS,
        free_iterations: int = FREE_ITERATIONS,
    ) -> PostureBatch:
        """Postures near given ones that reach the targets.

        Args:
            targets: Targets of all instants.
            q: First guess, (instants, nq).
            limit: Distances to keep.
            max_iterations: Largest number of steps.
            free_iterations: First steps, in which obstacles do not count.

        Returns:
            The postures; those that miss their targets are not valid.
        """
        q = np.array(q, dtype=float)
        tasks = targets.tasks(self.bodies)
        box: tuple[Limit, ...] = (
            ConfigurationLimit(gain=1.0),
            VelocityLimit(np.full(self.model.nv, MAX_STEP)),
            limit,
        )
        free_box = (
            *box[:2],
            replace(limit, margin=FREE_MARGIN_M, pair_margins={}, pairs_margin=None),
        )
        flat = tuple(replace(task, level=0) for task in tasks)
        neutral = tuple(
            replace(task, gain=0.0) if original.level else task
            for task, original in zip(flat, tasks, strict=True)
        )
        rest = np.arange(len(q))
        damping = np.full(len(q), DAMPING)
        count = 0
        for count in range(1, max_iterations + 1):
            preferred = count <= (1 if targets.follows else PREFERENCE_ITERATIONS)
            chosen = [_take(task, rest, len(q)) for task in (flat if preferred else neutral)]
            limits = free_box if count <= free_iterations else box
            step = IkStep.of(self.model, q[rest], chosen, 1.0, limits, damping[rest])
            found = step.solve(raise_conflicts=False)
            moved = np.asarray(self.model.integrate(q[rest], found.v))
            # The solver may violate a range by its tolerance.
            q[rest] = clamp(self.model, moved)
            damping[rest] = np.where(found.solved, DAMPING, 100 * damping[rest])
            rest = rest[damping[rest] <= MAX_DAMPING]
            if not len(rest):
                break
            if count < min(free_iterations + 1, max_iterations):
                continue
            errors = targets.errors(q)
            violation = limit.violation(self.model, q)
            good = errors.reached & (violation <= CLEARANCE_TOLERANCE_M)
            rest = rest[~good[rest]]
            if not len(rest):
                break
        return self.evaluate(targets, q, limit, count)

    def evaluate(
        self, targets: Targets, q: np.ndarray, limit: CollisionLimit, iterations: int = 0
    ) -> PostureBatch:
        """Errors and distances of given postures.

        Args:
            targets: Targets of all instants.
            q: (instants, nq).
            limit: Distances to keep.
            iterations: For the record.
        """
        assert limit.scene is not None
        gap, pairs = closest_pairs(
            self.model, q, limit.scene, dict(limit.pair_margins), limit.margin
        )
        return PostureBatch(q, targets.errors(q), gap, pairs, iterations)


def _take(task: Task, instants: np.ndarray, count: int) -> Task:
    """A task at some of its instants."""
    if len(instants) == count:
        return task
    ranks = {"position": 1, "rotation": 2, "q": 1}
    changes = {}
    for name, rank in ranks.items():
        value = getattr(task, name, None)
        if value is not None and np.ndim(value) == rank + 1:
            changes[name] = np.asarray(value)[instants]
    return replace(task, **changes) if changes else task
