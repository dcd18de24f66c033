"""An optimal-control problem as a record: stated, built, looked at, then solved."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.optimal.build import Built, build
from homodyn.optimal.conditions import Link
from homodyn.optimal.multiple_shooting import build_shooting
from homodyn.optimal.phase import Phase
from homodyn.optimal.program import Hessian, Method
from homodyn.optimal.springs import Spring
from homodyn.optimal.transcription import TRANSCRIPTIONS

if TYPE_CHECKING:
    from homodyn.optimal.solution import Solution

THESIS = "thesis"
"""Forward shooting with the unknowns and rows of Felis (2015), section 5.2."""


@dataclass(frozen=True)
class Parameter:
    """An unknown number that holds for the whole movement, such as a step length."""

    lower: float = -np.inf
    upper: float = np.inf
    guess: float = 0.0

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise HomodynError(f"a parameter cannot lie between {self.lower:g} and {self.upper:g}")


@dataclass(frozen=True, eq=False)
class Problem:
    """Phases one after the other, parameters, and links between the first instant and the last.

    Torques act on the coordinates named ``actuated``, on all but those of a floating root when
    nothing is told.
    """

    model: Model
    phases: Sequence[Phase]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    links: Sequence[Link] = ()
    actuated: tuple[str, ...] | None = None
    springs: Sequence[Spring] = ()

    def __post_init__(self) -> None:
        if not self.phases:
            raise HomodynError("a problem has at least one phase")
        names = [phase.name for phase in self.phases]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise HomodynError(f"phases must have different names; twice: {', '.join(twice)}")

    def build(self, transcription: str = "shooting", *, guess: Solution | None = None) -> Built:
        """The problem with finitely many unknowns, ready to be looked at and solved.

        ``guess`` is a solution of this problem, or of one with the same phases, on any mesh.
        """
        known = (*TRANSCRIPTIONS, THESIS)
        if transcription not in known:
            what = unknown_name("transcription", transcription, known)
            raise HomodynError(f"there is {what}")
        stated = self if guess is None else guess.guess_for(self)
        parts = (
            stated.model,
            tuple(stated.phases),
            {n: (p.lower, p.upper, p.guess) for n, p in stated.parameters.items()},
            tuple(stated.links),
            stated.actuated,
        )
        if transcription == THESIS:
            return build_shooting(*parts, tuple(stated.springs))
        return build(*parts, TRANSCRIPTIONS[transcription], tuple(stated.springs))

    def describe(self, transcription: str = "shooting") -> str:
        """Sizes, sparsity, units and active terms, without solving."""
        return self.build(transcription).describe()

    def solve(
        self,
        transcription: str = "shooting",
        *,
        guess: Solution | None = None,
        tolerance: float = 1e-6,
        iterations: int = 300,
        seconds: float = 600.0,
        between: float | None = 0.02,
        barrier: float | None = None,
        hessian: Hessian = "exact",
        method: Method = "ipopt",
        refinements: int = 0,
        verbose: bool = False,
    ) -> Solution:
        """Build and solve; the answer says how it ended.

        It is solved only when each interval, run again by forward dynamics with small steps,
        arrives within ``between`` (rad, m) of the next node and misses no condition on the way by
        more than its slack. Up to ``refinements`` times intervals
        are added to phases in which that is not so, and the search goes on from the answer so far;
        ``seconds`` bounds all of it. For the other arguments see `homodyn.optimal.solver.solve`.
        """
        from homodyn.optimal.refine import refined
        from homodyn.optimal.solution import Status
        from homodyn.optimal.solver import solve

        deadline = time.perf_counter() + seconds
        problem = self if guess is None else guess.guess_for(self)
        for again in range(refinements + 1):
            solution = solve(
                problem.build(transcription),
                tolerance=tolerance,
                iterations=iterations,
                seconds=max(deadline - time.perf_counter(), 0.0),
                between=between,
                barrier=barrier,
                hessian=hessian,
                method=method,
                verbose=verbose,
            )
            late = time.perf_counter() >= deadline
            if solution.status is not Status.COARSE or between is None or late:
                break
            if again < refinements:
                problem = refined(problem, solution, between)
        return solution
