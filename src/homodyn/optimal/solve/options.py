"""Options of a solve."""

from __future__ import annotations

from typing import TypedDict

from homodyn.optimal.nlp.nonlinear_program import HessianKind, SolverName


class SolveOptions(TypedDict, total=False):
    """Keyword options of a solve, all of them optional.

    Attributes:
        tolerance: Tolerance of the solver, in the units of the scaled problem (1e-6).
        max_iterations: Largest number of iterations (300).
        time_limit: Time limit (s) (600).
        initial_barrier: Initial barrier parameter of the interior-point method. A small value stays
            near a guess that is nearly a solution, including the bounds that it touches.
        hessian: ``"exact"``, or ``"gauss-newton"``, which leaves out the curvature of constraints.
        solver: ``"ipopt"``, or ``"fatrop"`` for problems that separate into stages (see
            `homodyn.optimal.nlp.stage_order`). FATROP treats every stage as dense: on whole bodies
            it takes twice the time of IPOPT, whose linear solver exploits the sparsity.
        verbose: Whether the solver prints its iterations.
    """

    tolerance: float
    max_iterations: int
    time_limit: float
    initial_barrier: float | None
    hessian: HessianKind
    solver: SolverName
    verbose: bool
