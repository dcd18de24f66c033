"""Which of the demands of a problem stands in the way of the others.

An infeasible problem is missed somewhere, and where that is seldom tells why: a foot on ice shows
as torques that do not balance. So the problem is solved again without each of its demands in turn;
those without which it can be solved are the culprits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from homodyn.optimal.phase import Phase
from homodyn.optimal.solution import Solution, Status

if TYPE_CHECKING:
    from homodyn.optimal.problem import Problem

WIDER = 2.0
"""Free durations get bounds that are this many times wider."""


@dataclass(frozen=True, eq=False)
class Trial:
    """The problem without one of its demands, and what came out."""

    without: str
    solution: Solution

    @property
    def guilty(self) -> bool:
        """Whether the rest can be obeyed; a mesh that is too coarse obeys it at the nodes."""
        return self.solution.status.good or self.solution.status is Status.COARSE

    def __str__(self) -> str:
        if self.guilty:
            return f"without {self.without} it can be solved"
        return f"without {self.without} it was not solved either ({self.solution.status})"


def culprits(problem: Problem, *, seconds: float = 60.0, **options: Any) -> tuple[Trial, ...]:
    """Leave out each demand in turn and solve; those that are guilty come first.

    Demands are conditions and links by name, bounds of each quantity, boundary states, and free
    durations, which are widened. ``seconds`` bounds all of it; ``options`` are those of ``solve``.
    """
    ends = time.perf_counter() + seconds
    tried = []
    for name, lighter in _lighter(problem):
        left = ends - time.perf_counter()
        if left <= 0:
            break
        solution = lighter.solve(seconds=left, **options)
        tried.append(Trial(name, solution))
    return tuple(sorted(tried, key=lambda trial: not trial.guilty))


def _lighter(problem: Problem) -> Iterator[tuple[str, Problem]]:
    """The problem without each of its demands."""
    names = dict.fromkeys(c.name for phase in problem.phases for c in phase.conditions)
    for name in names:
        yield name, _phases(problem, partial(_unconditional, name=name))
    for link in problem.links:
        yield link.name, replace(problem, links=[other for other in problem.links if other != link])
    for quantity in dict.fromkeys(key for phase in problem.phases for key in phase.bounds):
        yield (
            f"bounds of {quantity}",
            _phases(problem, partial(_unbounded, quantity=quantity)),
        )
    for at in ("start", "end"):
        if any(getattr(phase, at) for phase in problem.phases):
            yield f"bounds at the {at}", _phases(problem, partial(_open, at=at))
    if any(phase.duration_bounds[0] < phase.duration_bounds[1] for phase in problem.phases):
        yield "bounds of durations", _phases(problem, _patient)


def _phases(problem: Problem, change: Callable[[Phase], Phase]) -> Problem:
    return replace(problem, phases=[change(phase) for phase in problem.phases])


def _unconditional(phase: Phase, name: str) -> Phase:
    return replace(phase, conditions=[c for c in phase.conditions if c.name != name])


def _unbounded(phase: Phase, quantity: str) -> Phase:
    return replace(phase, bounds={**phase.bounds, quantity: (-np.inf, np.inf)})


def _open(phase: Phase, at: str) -> Phase:
    return replace(phase, start={}) if at == "start" else replace(phase, end={})


def _patient(phase: Phase) -> Phase:
    low, high = phase.duration_bounds
    return phase if low == high else replace(phase, duration=(low / WIDER, high * WIDER))
