"""Infeasibility analysis: the constraints without which a problem becomes feasible.

The location of a violation seldom shows its cause: a foot on ice shows as torques that do not
balance. The problem is therefore solved again without each of its constraints in turn.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Unpack

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.optimal.problem import Problem
from homodyn.optimal.solve.options import SolveOptions
from homodyn.optimal.solve.solve_status import SolveStatus
from homodyn.optimal.statement.phase import Phase
from homodyn.optimal.transcription.interface import Transcription
from homodyn.optimal.verify.solution import Solution

DURATION_WIDENING = 2.0
"""Factor by which the bounds of free durations are widened."""


@record
class RelaxedSolve(Record):
    """The problem without one of its constraints, and its solution."""

    removed: str
    """The constraint that was left out."""
    solution: Solution
    """The solution without it."""

    @property
    def conflicting(self) -> bool:
        """Whether the rest is feasible, at least at the nodes."""
        return self.solution.status.success or self.solution.status is SolveStatus.COARSE

    def __str__(self) -> str:
        if self.solution.status.success:
            return f"without {self.removed} it can be solved"
        if self.conflicting:
            nodes = "but only at the nodes of a coarse mesh"
            return f"without {self.removed} it can be solved, {nodes}"
        return f"without {self.removed} it was not solved either ({self.solution.status})"

    def headline(self) -> str:
        """The constraint, and whether it is in conflict."""
        return str(self)


def conflicting_constraints(
    problem: Problem,
    transcription: str | Transcription = "midpoint",
    **options: Unpack[SolveOptions],
) -> tuple[RelaxedSolve, ...]:
    """Solve a problem without each of its constraints in turn.

    These are path constraints and boundary constraints by name, bounds of each quantity, bounds at
    the boundaries, and bounds of free durations, which are widened.

    Args:
        problem: The problem.
        transcription: See `Problem.transcribe`.
        options: Options of each solve, see `SolveOptions`; ``time_limit`` (s), where given, holds
            for all solves together: constraints that are left then are not tried.

    Returns:
        One record per constraint. Those without which the problem is solved come first, then those
        without which it is solved only at the nodes of a coarse mesh, then the others.
    """
    time_limit = options.get("time_limit")
    deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
    attempts = []
    for name, relaxed in _relaxations(problem):
        remaining = deadline - time.perf_counter()
        if remaining <= 0:
            break
        if time_limit is not None:
            options["time_limit"] = remaining
        attempts.append(RelaxedSolve(name, relaxed.solve(transcription, **options)))
    return tuple(sorted(attempts, key=_rank))


def _rank(attempt: RelaxedSolve) -> int:
    return 0 if attempt.solution.status.success else 1 if attempt.conflicting else 2


def _relaxations(problem: Problem) -> Iterator[tuple[str, Problem]]:
    """The problem without each of its constraints."""
    names = dict.fromkeys(c.name for phase in problem.phases for c in phase.constraints)
    for name in names:
        yield name, _change_phases(problem, partial(_without_constraint, name=name))
    for constraint in problem.boundary_constraints:
        others = [other for other in problem.boundary_constraints if other != constraint]
        yield constraint.name, replace(problem, boundary_constraints=others)
    for quantity in dict.fromkeys(key for phase in problem.phases for key in phase.bounds):
        change = partial(_without_bounds, quantity=quantity)
        yield f"bounds of {quantity}", _change_phases(problem, change)
    for at in ("start", "end"):
        if any(getattr(phase, at) for phase in problem.phases):
            change = partial(_without_boundary, at=at)
            yield f"bounds at the {at}", _change_phases(problem, change)
    if any(phase.duration_bounds[0] < phase.duration_bounds[1] for phase in problem.phases):
        yield "bounds of durations", _change_phases(problem, _widen_duration)


def _change_phases(problem: Problem, change: Callable[[Phase], Phase]) -> Problem:
    return replace(problem, phases=[change(phase) for phase in problem.phases])


def _without_constraint(phase: Phase, name: str) -> Phase:
    return replace(phase, constraints=[c for c in phase.constraints if c.name != name])


def _without_bounds(phase: Phase, quantity: str) -> Phase:
    return replace(phase, bounds={**phase.bounds, quantity: (-np.inf, np.inf)})


def _without_boundary(phase: Phase, at: str) -> Phase:
    return replace(phase, start={}) if at == "start" else replace(phase, end={})


def _widen_duration(phase: Phase) -> Phase:
    low, high = phase.duration_bounds
    if low == high:
        return phase
    return replace(phase, duration=(low / DURATION_WIDENING, high * DURATION_WIDENING))
