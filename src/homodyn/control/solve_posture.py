"""Postures in which tasks are reached within limits, from several starts at once.

Each iteration is a step of `solve_ik` with Levenberg-Marquardt damping for all starts in one batch;
a step counts if it lowers the cost. Tasks of level 0 are to be reached. Preferences, which are
posture tasks and tasks of higher levels, choose among the solutions: they act until the tasks no
longer improve, and then only keep the posture from moving more than the tasks need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.ik_step import IkStep
from homodyn.control.limits import CollisionLimit, ConfigurationLimit, Limit, VelocityLimit
from homodyn.control.posture_result import PostureResult, PostureStatus
from homodyn.control.tasks import PostureTask, Task
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.configuration import clamp, plain_entries, random

MAX_RECOVERY_M = 0.1
"""Penetration that one iteration may undo."""
MAX_POSTURE_STEP = 0.5
"""Largest change of a coordinate in one iteration (rad, m)."""
START_DAMPING, MIN_DAMPING, MAX_DAMPING = 1e-4, 1e-9, 1e4
MIN_DECREASE = 1e-4
"""Relative decrease of the cost below which an iteration counts as the last."""
MIN_DECREASE_WHEN_REACHED = 0.2
"""The same for tasks that are reached to the tolerance."""
VIOLATION_COST = 1e4
"""Cost of a violated row of a limit, such as a penetration (1/m2)."""
ALLOWED_SHARE = 0.5
"""Share of the tolerance by which limits may be violated without a cost: steps along a curved
obstacle penetrate it to second order, and the next step leaves it."""
START_GROUP = 8
"""Number of further starts that are tried at once."""
RESTART_SPREADS = (0.25, 0.5, 0.75, 1.0)
"""Shares of the way from the first start to a random posture at which further starts lie."""


@record(eq=True)
class PostureOptions(Record):
    """Accuracy and effort of a search for a posture."""

    tolerance: float = 1e-4
    """Largest error (m, rad) of a task that counts as reached."""
    max_iterations: int = 100
    """For each group of starts."""
    starts: int = 16
    """Number of starts; further ones are only tried, in groups, where those before fail."""
    seed: int = 0
    """Of the further starts."""


def solve_posture(
    model: Model,
    tasks: Sequence[Task],
    q0: ArrayLike | None = None,
    *,
    limits: Sequence[Limit] = (),
    options: PostureOptions | None = None,
) -> PostureResult:
    """The posture in which tasks are reached, within the ranges of the coordinates.

    A task that cannot be reached is no error: the status says so, and the result names the limits
    that hold it back.

    Args:
        model: The model; parameters have their nominal values.
        tasks: Tasks of level 0 to be reached; posture tasks and others of higher levels are
            preferences. Targets are those of one state.
        q0: First start, (nq,); None: the neutral pose. Coordinates outside their range are moved
            to it.
        limits: Limits besides the ranges of the coordinates, such as `CollisionLimit`.
        options: Tolerance, iterations and starts.

    Returns:
        The posture with errors and status.

    Raises:
        ModelError: A task or limit does not fit the model, or no task is given.
    """
    options = options or PostureOptions()
    if model.parameters:
        model = model.at(model.parameter_values)
    start = model.neutral() if q0 is None else np.asarray(q0, dtype=float)
    if start.shape != (model.nq,) or not np.isfinite(start).all():
        raise ModelError(f"q0 is {model.nq} finite numbers, got shape {start.shape}")
    search = _Search.of(model, tasks, limits, options)
    first = clamp(model, start)
    best = search.improve(first[None])
    used = 1
    reached = best.reached.any()
    others = np.empty((0, model.nq)) if reached else _further_starts(model, first, options)
    while used < options.starts and not best.reached.any():
        group = others[used - 1 : used - 1 + START_GROUP]
        kept = best.q[np.argmin(best.cost)]
        best = search.improve(np.vstack([kept, group]))
        used += len(group)
    return search.result(best, used)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Postures of all starts, with what is known about them."""

    q: np.ndarray
    """(starts, nq)."""
    cost: np.ndarray
    """(starts,)."""
    error: np.ndarray
    """(starts,): largest error of the tasks to be reached."""
    reached: np.ndarray
    """(starts,)."""
    converged: np.ndarray
    """(starts,): no step lowers the cost any more."""
    iterations: int


@dataclass(frozen=True, eq=False)
class _Search:
    """Tasks as costs of one level, and which of them are to be reached."""

    model: Model
    tasks: tuple[Task, ...]
    names: tuple[Task, ...]
    required: tuple[bool, ...]
    limits: tuple[Limit, ...]
    extra: tuple[Limit, ...]
    options: PostureOptions

    @staticmethod
    def of(
        model: Model, tasks: Sequence[Task], limits: Sequence[Limit], options: PostureOptions
    ) -> _Search:
        if not tasks:
            raise ModelError("a posture needs at least one task, such as FrameTask")
        required = tuple(t.level == 0 and not isinstance(t, PostureTask) for t in tasks)
        flat = tuple(replace(task, level=0, gain=1.0, damping=0.0) for task in tasks)
        box = (
            ConfigurationLimit(gain=1.0),
            VelocityLimit(np.full(model.nv, MAX_POSTURE_STEP)),
        )
        extra = tuple(_at_full_gain(limit) for limit in limits)
        return _Search(model, flat, tuple(tasks), required, (*box, *extra), extra, options)

    def improve(self, q: np.ndarray) -> _Candidates:
        """Postures after two searches: with the preferences, then without their pull."""
        first = self._descend(q, self.tasks)
        if first.reached.any() and self.options.tolerance >= 1e-2:
            return first
        calm = tuple(
            task if needed else replace(task, gain=0.0)
            for task, needed in zip(self.tasks, self.required, strict=True)
        )
        second = self._descend(first.q, calm, only_required=True)
        return replace(second, iterations=first.iterations + second.iterations)

    def _descend(
        self, q: np.ndarray, tasks: tuple[Task, ...], only_required: bool = False
    ) -> _Candidates:
        count = len(q)
        damping = np.full(count, START_DAMPING)
        cost, error = self._evaluate(q, tasks, only_required)
        done = np.zeros(count, dtype=bool)
        iterations = 0
        while iterations < self.options.max_iterations:
            iterations += 1
            active = np.flatnonzero(~done)
            step = IkStep.of(self.model, q[active], tasks, 1.0, self.limits, damping[active])
            found = step.solve(raise_conflicts=False)
            trial = np.asarray(self.model.integrate(q[active], found.v))
            new_cost, new_error = self._evaluate(trial, tasks, only_required)
            better = (new_cost < cost[active]) & found.solved
            decrease = cost[active] - new_cost
            near = only_required & (error[active] <= self.options.tolerance)
            least = np.where(near, MIN_DECREASE_WHEN_REACHED, MIN_DECREASE)
            small = decrease <= least * cost[active] + 1e-16
            q = q.copy()
            q[active[better]] = trial[better]
            cost[active[better]], error[active[better]] = new_cost[better], new_error[better]
            damping[active] = np.where(
                better, np.maximum(damping[active] / 5, MIN_DAMPING), damping[active] * 10
            )
            exact = only_required & (error[active] <= self.options.tolerance / 10)
            stuck = near & ~better
            ended = (better & small) | stuck | exact | (damping[active] > MAX_DAMPING)
            done[active[ended]] = True
            if done.all() or (only_required and (error <= self.options.tolerance / 10).any()):
                break
        reached = (error <= self.options.tolerance) & (self._violation(q) <= self.options.tolerance)
        return _Candidates(q, cost, error, reached, done, iterations)

    def _evaluate(
        self, q: np.ndarray, tasks: tuple[Task, ...], only_required: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Cost and largest error of the required tasks, (starts,) each."""
        errors, weighted = self.errors(q, tasks)
        wanted = np.repeat(self.required, self.sizes(tasks))
        counted = weighted[:, wanted] if only_required else weighted
        beyond = np.maximum(self._violation(q) - ALLOWED_SHARE * self.options.tolerance, 0.0)
        cost = (counted**2).sum(axis=1) + VIOLATION_COST * beyond**2
        # An axis without cost is free, whatever its error.
        used = np.where(weighted[:, wanted] != 0, np.abs(errors[:, wanted]), 0.0)
        return cost, used.max(axis=1, initial=0.0)

    def errors(self, q: np.ndarray, tasks: tuple[Task, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Errors of all rows without and with their costs, (starts, rows) each."""
        step = IkStep.of(self.model, q, tasks, 1.0, (), 1.0)
        return step.program(0).error_kernel(step.q, step.inputs, np.zeros(self.model.nv))

    def sizes(self, tasks: tuple[Task, ...]) -> tuple[int, ...]:
        """Rows of each task."""
        step = IkStep.of(self.model, self.model.neutral(), tasks, 1.0, (), 1.0)
        return step.program(0).task_sizes

    def _violation(self, q: np.ndarray) -> np.ndarray:
        """(starts,): largest violation of the limits besides the ranges."""
        worst = np.zeros(len(q))
        for limit in self.extra:
            worst = np.maximum(worst, limit.violation(self.model, q))
        return worst

    def result(self, found: _Candidates, starts: int) -> PostureResult:
        """The best posture: of those that reach the tasks the one with the lowest cost."""
        if found.reached.any():
            costs, _ = self._evaluate(found.q, self.tasks, False)
            k = int(np.argmin(np.where(found.reached, costs, np.inf)))
        else:
            k = int(np.argmin(found.cost))
        q = found.q[k]
        errors, weighted = self.errors(q[None], self.tasks)
        parts = np.split(
            np.where(weighted[0] != 0, np.abs(errors[0]), 0.0), np.cumsum(self.sizes(self.tasks))
        )
        largest = [
            float(part.max(initial=0.0))
            for part, needed in zip(parts, self.required, strict=False)
            if needed
        ]
        titles = [t.title for t, needed in zip(self.names, self.required, strict=True) if needed]
        held = () if found.reached[k] else self._holding_limits(q)
        if found.reached[k]:
            status = PostureStatus.SOLVED
        elif not found.converged[k]:
            status = PostureStatus.ITERATION_LIMIT
        else:
            status = PostureStatus.HELD_BY_LIMITS if held else PostureStatus.OUT_OF_REACH
        return PostureResult(
            q, status, tuple(titles), np.array(largest), held, found.iterations, starts
        )

    def _holding_limits(self, q: np.ndarray) -> tuple[str, ...]:
        """Limits that the tasks push against, the strongest push first."""
        needed = [task for task, wanted in zip(self.tasks, self.required, strict=True) if wanted]
        if not needed:
            return ()
        step = IkStep.of(self.model, q, needed, 1.0, self.limits, 1e-6)
        program = step.build(0, np.zeros(self.model.nv))
        push = -program.linear
        names = []
        entries, places = plain_entries(self.model)
        slack = 1e-4
        strength = float(np.abs(push).max(initial=0.0))
        for k in np.argsort(-np.abs(push)):
            if k not in entries or abs(push[k]) <= 1e-3 * strength:
                continue
            value = q[places[list(entries).index(k)]]
            name = self.model.coordinate_names[k]
            if push[k] > 0 and value >= self.model.upper[k] - slack:
                names.append(f"the upper limit {self.model.upper[k]:.3g} of {name}")
            elif push[k] < 0 and value <= self.model.lower[k] + slack:
                names.append(f"the lower limit {self.model.lower[k]:.3g} of {name}")
        close = [name for limit in self.extra for name in limit.active_names(self.model, q)]
        return (*close, *names)


def _at_full_gain(limit: Limit) -> Limit:
    """The limit for a search, where nothing is gained by approaching an obstacle slowly."""
    if isinstance(limit, CollisionLimit):
        return replace(limit, gain=1.0, max_recovery=max(limit.max_recovery, MAX_RECOVERY_M))
    return limit


def _further_starts(model: Model, q: np.ndarray, options: PostureOptions) -> np.ndarray:
    """Random postures between the first start and the whole range; the root stays near its pose."""
    rng = np.random.default_rng(options.seed)
    count = options.starts - 1
    targets = random(model, rng, count)
    step = np.asarray(model.difference(np.broadcast_to(q, targets.shape), targets))
    root = list(model.root.v)
    step[:, root] = 0.2 * rng.standard_normal((count, len(root)))
    share = np.array([RESTART_SPREADS[k % len(RESTART_SPREADS)] for k in range(count)])
    return clamp(model, np.asarray(model.integrate(q, share[:, None] * step)))
