"""IPOPT or FATROP on a transcribed problem, with the sparse derivatives of its blocks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Unpack, get_args

import casadi as ca
import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.text import unknown_name
from homodyn.optimal.nlp.nlp_callbacks import NlpCallback, NlpCallbacks
from homodyn.optimal.nlp.nonlinear_program import HessianKind, NonlinearProgram, SolverName
from homodyn.optimal.nlp.stage_order import StageOrder, order_by_stages
from homodyn.optimal.nlp.transcribed_problem import TranscribedProblem
from homodyn.optimal.solve.blas_threads import single_blas_thread
from homodyn.optimal.solve.options import BarrierUpdate, SolveOptions
from homodyn.optimal.solve.solve_status import SolveStatus
from homodyn.optimal.solve.solver_result import (
    Iterate,
    SolverOutcome,
    SolverResult,
    read_result,
)

MAX_LOCAL_PARAMETERS = 8
"""Number of parameters above which the linear solver orders for their coupling."""

ALLOWED_CHOICES = {
    "hessian": get_args(HessianKind),
    "solver": get_args(SolverName),
    "barrier_update": get_args(BarrierUpdate),
}
"""Options that have names as values, and these names; the first is the default."""

STATUS_BY_RETURN_CODE = {
    "Solve_Succeeded": SolveStatus.SOLVED,
    "Solved_To_Acceptable_Level": SolveStatus.ACCEPTABLE,
    "Infeasible_Problem_Detected": SolveStatus.INFEASIBLE,
    "Maximum_Iterations_Exceeded": SolveStatus.OUT_OF_ITERATIONS,
    "Maximum_CpuTime_Exceeded": SolveStatus.OUT_OF_TIME,
    "Maximum_WallTime_Exceeded": SolveStatus.OUT_OF_TIME,
    "Restoration_Failed": SolveStatus.INFEASIBLE,
    "Invalid_Number_Detected": SolveStatus.NOT_A_NUMBER,
}


def solve_nlp(transcribed: TranscribedProblem, **options: Unpack[SolveOptions]) -> SolverResult:
    """Solve a transcribed problem from its guess; always ends, with a status.

    Args:
        transcribed: The problem.
        options: See `SolveOptions`.

    Returns:
        The result, not yet verified between the nodes.

    Raises:
        HomodynError: An option is unknown, or FATROP is chosen for a problem without stages.
    """
    hessian, solver = options.get("hessian", "exact"), options.get("solver", "ipopt")
    _check_options(options)
    began = time.perf_counter()
    program = transcribed.program.with_hessian(hessian)
    stages = order_by_stages(transcribed, program) if solver == "fatrop" else None
    if isinstance(stages, str):
        raise HomodynError(f"FATROP needs a problem that separates into stages: {stages}")
    prepared = time.perf_counter()
    time_limit = options.get("time_limit")
    search = _Search(
        options.get("tolerance", 1e-6),
        options.get("max_iterations", 300),
        np.inf if time_limit is None else prepared + max(time_limit, 1e-3),
        options.get("initial_barrier"),
        options.get("barrier_update", "monotone"),
        options.get("verbose", False),
    )
    if stages is None:
        outcome = search.by_ipopt(transcribed, program)
    else:
        outcome = search.by_fatrop(transcribed, stages)
    ended = time.perf_counter()
    timings = {
        "preparing": prepared - began,
        "functions": outcome.function_seconds,
        # The rest of the solver takes next to no time.
        "linear algebra": ended - prepared - outcome.function_seconds,
        "solving": ended - prepared,
    }
    return read_result(transcribed, outcome, timings)


def _check_options(options: SolveOptions) -> None:
    """Refuse options and names that do not exist."""
    accepted = SolveOptions.__annotations__
    for name, value in options.items():
        if name not in accepted:
            raise HomodynError(f"solve(): {unknown_name('option', name, accepted)}")
        if name in ALLOWED_CHOICES and value not in ALLOWED_CHOICES[name]:
            raise HomodynError(f"solve(): {unknown_name(name, value, ALLOWED_CHOICES[name])}")
    if options.get("solver") == "fatrop" and options.get("barrier_update") == "adaptive":
        raise HomodynError(
            "solve(): barrier_update='adaptive' is an option of IPOPT, not of FATROP"
        )


@dataclass(frozen=True)
class _Search:
    """When to stop, and where to begin."""

    tolerance: float
    max_iterations: int
    deadline: float
    """Clock time (s); infinite without a time limit."""
    initial_barrier: float | None
    barrier_update: BarrierUpdate
    verbose: bool

    def by_fatrop(self, transcribed: TranscribedProblem, stages: StageOrder) -> SolverOutcome:
        """Stage by stage."""
        callbacks = NlpCallbacks(
            stages.program,
            stages.variables,
            stages.rows,
            unit_entries=stages.unit_entries,
            both_triangles=True,
        )
        callbacks.deadline = self.deadline
        own: dict[str, Any] = {
            "tol": self.tolerance,
            "max_iter": self.max_iterations,
            "print_level": 5 if self.verbose else 0,
        }
        if self.initial_barrier is not None:
            own["mu_init"] = self.initial_barrier
        equal = stages.program.lower == stages.program.upper
        options = {
            "fatrop": own,
            "structure_detection": "manual",
            "N": len(stages.states) - 1,
            "nx": stages.states,
            "nu": stages.controls,
            "ng": stages.path_rows,
            "equality": equal[stages.rows].tolist(),
        }
        try:
            iterate, stats = _run(transcribed, callbacks, "fatrop", callbacks.fatrop(), options)
        except RuntimeError as error:
            none = np.zeros(stages.program.rows), np.zeros(stages.program.size)
            message = str(error).strip().splitlines()[-1]
            start = Iterate(transcribed.guess, *none)
            return SolverOutcome(start, SolveStatus.FAILED, message, 0, callbacks.seconds)
        message = str(stats.get("unified_return_status", "failed"))
        count = int(stats.get("iter_count", 0))
        status = SolveStatus.SOLVED if stats.get("success") else SolveStatus.FAILED
        if callbacks.timed_out:
            status = SolveStatus.OUT_OF_TIME
        elif not status.success and count >= self.max_iterations:
            status = SolveStatus.OUT_OF_ITERATIONS
        return SolverOutcome(iterate, status, message, count, callbacks.seconds)

    def by_ipopt(self, transcribed: TranscribedProblem, program: NonlinearProgram) -> SolverOutcome:
        """The whole problem at once."""
        callbacks = NlpCallbacks(program)
        remaining = max(self.deadline - time.perf_counter(), 1e-3)
        options = {"ipopt": self._ipopt_options(transcribed, remaining)}
        iterate, stats = _run(transcribed, callbacks, "ipopt", callbacks.ipopt(), options)
        message = str(stats["return_status"])
        status = STATUS_BY_RETURN_CODE.get(message, SolveStatus.FAILED)
        count = int(stats["iter_count"])
        return SolverOutcome(iterate, status, message, count, callbacks.seconds)

    def _ipopt_options(self, transcribed: TranscribedProblem, seconds: float) -> dict[str, Any]:
        options: dict[str, Any] = {
            "tol": self.tolerance,
            "max_iter": self.max_iterations,
            "print_level": 5 if self.verbose else 0,
            "sb": "yes",
            # Minimum degree: on a step of 34 degrees of freedom it takes a quarter to a third less
            # time than the ordering that MUMPS would choose.
            "mumps_pivot_order": 0,
        }
        if np.isfinite(seconds):
            options["max_wall_time"] = max(seconds, 1e-3)
        if self.barrier_update == "adaptive":
            options |= {"mu_strategy": "adaptive", "adaptive_mu_globalization": "kkt-error"}
        if len(transcribed.parameters) > MAX_LOCAL_PARAMETERS:
            # Parameters in the rows of all intervals fill the factors: nested dissection takes a
            # quarter of the time. A matching of large entries would take as long again, and the
            # problem is scaled already.
            options |= {"mumps_pivot_order": 5, "mumps_permuting_scaling": 0}
        if self.initial_barrier is not None:
            near = ("bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac")
            distance = min(1e-2, self.initial_barrier)
            options |= {"mu_init": self.initial_barrier, **dict.fromkeys(near, distance)}
        return options


def _run(
    transcribed: TranscribedProblem,
    callbacks: NlpCallbacks,
    plugin: str,
    functions: dict[str, NlpCallback],
    options: dict[str, Any],
) -> tuple[Iterate, dict[str, Any]]:
    """The last iterate of a solver, and its statistics."""
    common = {
        "cache": {name: call for name, call in functions.items() if name != "nlp"},
        "print_time": False,
        "error_on_fail": False,
        "calc_lam_p": False,
        "show_eval_warnings": False,
    }
    solver = ca.nlpsol("solver", plugin, functions["nlp"], options | common)
    low, high = callbacks.bounds()
    with single_blas_thread():
        result = solver(
            x0=callbacks.to_solver(transcribed.guess),
            lbx=callbacks.to_solver(transcribed.lower),
            ubx=callbacks.to_solver(transcribed.upper),
            lbg=low,
            ubg=high,
        )
    x, rows, bounds = (np.array(result[key])[:, 0] for key in ("x", "lam_g", "lam_x"))
    multipliers = callbacks.multipliers(rows), callbacks.bound_multipliers(bounds)
    return Iterate(callbacks.from_solver(x), *multipliers), solver.stats()
