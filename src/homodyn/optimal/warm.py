"""An earlier answer as the guess of a problem with phases of the same names, on any mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

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
        for quantity in ("q", "v", "a", "tau", "force"):
            values = getattr(found, quantity)
            if len(values):
                times = found.time if quantity in ("q", "v") else found.control_time
                guess[quantity] = Resampled(times, values, found.time[0], found.duration)
        if len(found.impulse) == len(phase.contacts.rows):
            guess["impulse"] = found.impulse
        phases.append(replace(phase, guess=guess))
    numbers = {
        name: replace(p, guess=parameters.get(name, p.guess))
        for name, p in problem.parameters.items()
    }
    return replace(problem, phases=phases, parameters=numbers)


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
