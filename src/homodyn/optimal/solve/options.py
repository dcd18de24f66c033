"""Options of a solve."""

from __future__ import annotations

from typing import Literal, TypedDict

from homodyn.optimal.nlp.nonlinear_program import HessianKind, SolverName

BarrierUpdate = Literal["monotone", "adaptive"]
"""How an interior-point method updates its barrier parameter."""


class SolveOptions(TypedDict, total=False):
    """Keyword options of a solve, all of them optional.

    Attributes:
        tolerance: Tolerance of the solver, in the units of the scaled problem (1e-6).
        max_iterations: Largest number of iterations (300).
        time_limit: Time limit (s); none by default, so that results do not depend on how busy the
            machine is.
        initial_barrier: Initial barrier parameter of the interior-point method. A small value stays
            near a guess that is nearly a solution, including the bounds that it touches.
        barrier_update: ``"monotone"``, or ``"adaptive"`` (IPOPT), which takes fewer iterations from
            a guess that is nearly a solution.
        hessian: ``"exact"``, or ``"gauss-newton"``, which leaves out the curvature of constraints.
        solver: ``"ipopt"``, or ``"fatrop"`` for problems that separate into stages (see
            `homodyn.optimal.nlp.stage_order`). FATROP treats every stage as dense: on whole bodies
            it takes twice the time of IPOPT, whose linear solver exploits the sparsity.
        verbose: Whether the solver prints its iterations.
    """

    tolerance: float
    max_iterations: int
    time_limit: float | None
    initial_barrier: float | None
    barrier_update: BarrierUpdate
    hessian: HessianKind
    solver: SolverName
    verbose: bool
