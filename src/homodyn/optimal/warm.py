"""An earlier answer as the guess of a problem with phases of the same names, on any mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from homodyn.optimal.inside import state_inside
from homodyn.optimal.phase import Guess

if TYPE_CHECKING:
    from homodyn.optimal.problem import Problem
    from homodyn.optimal.solution import PhaseSolution


def with_guess(
    problem: Problem, known: Sequence[PhaseSolution], parameters: Mapping[str, float]
) -> Problem:
    """The problem with known phases and parameters for its guess; others keep theirs."""
    phases = []
    for phase in problem.phases:
        found = next((p for p in known if p.name == phase.name), None)
        if found is None:
            phases.append(phase)
            continue
        guess = dict(phase.guess)
        guess["duration"] = found.duration
        guess |= _states(found)
        for quantity in ("a", "tau", "force"):
            values = getattr(found, quantity)
            if len(values):
                begin = found.time[0]
                guess[quantity] = Resampled(found.control_time, values, begin, found.duration)
        if len(found.impulse) == len(phase.contacts.rows):
            guess["impulse"] = found.impulse
        phases.append(replace(phase, guess=guess))
    numbers = {
        name: replace(p, guess=parameters.get(name, p.guess))
        for name, p in problem.parameters.items()
    }
    return replace(problem, phases=phases, parameters=numbers)


def _states(found: PhaseSolution) -> Guess:
    """Positions and velocities between nodes, as far as the latter are rates of the former."""
    alike = found.q.shape == found.v.shape
    # What is not finite is passed on as it is, to be refused by place.
    if alike and all(np.isfinite(x).all() for x in (found.q, found.v, found.a)):
        return {key: state_inside(found, key) for key in ("q", "v")}
    span = found.time[0], found.duration
    return {key: Resampled(found.time, getattr(found, key), *span) for key in ("q", "v")}


@dataclass(frozen=True, eq=False)
class Resampled:
    """Values at other parts of a phase than they were found at."""

    times: np.ndarray
    values: np.ndarray
    begin: float
    duration: float

    def __call__(self, fractions: np.ndarray) -> np.ndarray:
        at = self.begin + fractions * self.duration
        columns = [np.interp(at, self.times, column) for column in self.values.T]
        return np.column_stack(columns) if columns else np.zeros((len(at), 0))
