"""A solution as the initial guess of a problem with phases of the same names, on any mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from homodyn.optimal.solve.interpolation import state_interpolant
from homodyn.optimal.solve.phase_solution import PhaseSolution
from homodyn.optimal.statement.muscle_drive import MUSCLE_QUANTITIES, MUSCLE_STATES
from homodyn.optimal.statement.phase import Guess
from homodyn.optimal.statement.problem_statement import ProblemStatement

P = TypeVar("P", bound=ProblemStatement)


def with_initial_guess(
    problem: P, known: Sequence[PhaseSolution], parameters: Mapping[str, float]
) -> P:
    """The problem with known phases and parameters as its guess; other guesses are unchanged."""
    phases = []
    for phase in problem.phases:
        solution = next((p for p in known if p.name == phase.name), None)
        if solution is None:
            phases.append(phase)
            continue
        guess = dict(phase.guess)
        guess["duration"] = solution.duration
        guess |= _state_guess(solution)
        for quantity in ("a", "tau", "force"):
            values = getattr(solution, quantity)
            if len(values):
                begin = solution.time[0]
                guess[quantity] = ResampledSeries(
                    solution.control_time, values, begin, solution.duration
                )
        if solution.muscles is not None and problem.muscles is not None:
            for quantity in MUSCLE_QUANTITIES:
                values = getattr(solution.muscles, quantity)
                wanted = problem.muscles.variable_names(problem.model, quantity)
                if values.shape[1] != len(wanted):
                    continue
                times = solution.time if quantity in MUSCLE_STATES else solution.control_time
                guess[quantity] = ResampledSeries(
                    times, values, solution.time[0], solution.duration
                )
        if len(solution.impulse) == len(phase.contacts.rows):
            guess["impulse"] = solution.impulse
        phases.append(replace(phase, guess=guess))
    numbers = {
        name: replace(p, guess=parameters.get(name, p.guess))
        for name, p in problem.parameters.items()
    }
    return replace(problem, phases=phases, parameters=numbers)


def _state_guess(solution: PhaseSolution) -> Guess:
    """Positions and velocities between nodes, where the latter are rates of the former."""
    comparable = solution.q.shape == solution.v.shape
    # Values that are not finite are passed on, to be refused with their location.
    if comparable and all(np.isfinite(x).all() for x in (solution.q, solution.v, solution.a)):
        return {key: state_interpolant(solution, key) for key in ("q", "v")}
    span = solution.time[0], solution.duration
    return {key: ResampledSeries(solution.time, getattr(solution, key), *span) for key in "qv"}


@dataclass(frozen=True, eq=False)
class ResampledSeries:
    """Values between samples, as a function of the fraction of a phase."""

    times: np.ndarray
    values: np.ndarray
    begin: float
    duration: float

    def __call__(self, fractions: np.ndarray) -> np.ndarray:
        """Linear interpolation at fractions (0 to 1)."""
        at = self.begin + fractions * self.duration
        columns = [np.interp(at, self.times, column) for column in self.values.T]
        return np.column_stack(columns) if columns else np.zeros((len(at), 0))
