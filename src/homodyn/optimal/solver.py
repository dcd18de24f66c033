"""IPOPT or FATROP on a built problem, with sparse derivatives of its blocks."""

from __future__ import annotations

import time
from typing import Any, Literal

import casadi as ca
import numpy as np

from homodyn.errors import HomodynError
from homodyn.optimal.build import Built
from homodyn.optimal.calls import Calls
from homodyn.optimal.program import Hessian
from homodyn.optimal.solution import Solution, Status, solution_of
from homodyn.optimal.stages import Stages, arranged

BETWEEN = 0.02
"""rad, m: how far an interval may arrive from the next node."""

SHARED = 8
"""Parameters of a problem, above which its equations are ordered for being coupled by them."""

ENDINGS = {
    "Solve_Succeeded": Status.SOLVED,
    "Solved_To_Acceptable_Level": Status.ACCEPTABLE,
    "Infeasible_Problem_Detected": Status.INFEASIBLE,
    "Maximum_Iterations_Exceeded": Status.OUT_OF_ITERATIONS,
    "Maximum_CpuTime_Exceeded": Status.OUT_OF_TIME,
    "Maximum_WallTime_Exceeded": Status.OUT_OF_TIME,
    "Restoration_Failed": Status.INFEASIBLE,
    "Invalid_Number_Detected": Status.NOT_A_NUMBER,
}


FATROP = {0: Status.SOLVED}
"""Of the numbers that FATROP ends with, what they mean; any other is a failure."""

Method = Literal["auto", "ipopt", "fatrop"]


def solve(
    built: Built,
    *,
    tolerance: float = 1e-6,
    iterations: int = 300,
    seconds: float = 600.0,
    between: float | None = BETWEEN,
    barrier: float | None = None,
    hessian: Hessian = "exact",
    method: Method = "auto",
    verbose: bool = False,
) -> Solution:
    """Search from the guess of a built problem; always ends, and says how.

    ``tolerance`` is that of the solver, in the units of the scaled problem; ``seconds`` bounds the
    time. An answer counts as solved only when each of its intervals, run again by forward dynamics,
    arrives within ``between`` (rad, m) of the next node; ``None`` leaves that out. ``barrier`` is
    where that of the interior-point method begins: a small one keeps near a guess that is nearly
    an answer, bounds that it touches included. ``hessian`` is ``"exact"``, or ``"gauss-newton"``,
    which leaves out the curvature of conditions. ``method`` is ``"ipopt"``, ``"fatrop"`` for
    problems that fall into stages, or ``"auto"``.
    """
    began = time.perf_counter()
    program = built.program.with_hessian(hessian)
    if method == "fatrop":
        staged = arranged(built, program)
        if isinstance(staged, str):
            raise HomodynError(f"FATROP needs a problem that falls into stages: {staged}")
        calls = Calls(staged.program, staged.unknowns, staged.rows, both_triangles=True)
        functions = calls.fatrop()
        options = _fatrop(staged, tolerance, iterations, barrier, verbose)
    else:
        calls = Calls(program)
        functions = calls.ipopt()
        options = {"ipopt": _ipopt(built, tolerance, iterations, seconds, barrier, verbose)}
    plugin = "fatrop" if method == "fatrop" else "ipopt"
    options |= {
        "cache": {name: call for name, call in functions.items() if name != "nlp"},
        "print_time": False,
        "error_on_fail": False,
        "calc_lam_p": False,
        "show_eval_warnings": False,
    }
    solver = ca.nlpsol("solver", plugin, functions["nlp"], options)
    prepared = time.perf_counter()
    low, high = calls.bounds()
    result = solver(
        x0=calls.start(built.guess),
        lbx=calls.start(built.lower),
        ubx=calls.start(built.upper),
        lbg=low,
        ubg=high,
    )
    stats = solver.stats()
    ended = time.perf_counter()
    ending = str(stats["return_status"])
    known = FATROP if plugin == "fatrop" else ENDINGS
    return solution_of(
        built,
        calls.result(np.array(result["x"])[:, 0]),
        multipliers=calls.multipliers(np.array(result["lam_g"])[:, 0]),
        status=known.get(stats["return_status"], Status.FAILED),
        ending=ending,
        iterations=int(stats["iter_count"]),
        seconds={
            "preparing": prepared - began,
            "functions": calls.seconds,
            "solving": ended - prepared,
        },
        between=between,
    )


def _ipopt(
    built: Built,
    tolerance: float,
    iterations: int,
    seconds: float,
    barrier: float | None,
    verbose: bool,
) -> dict[str, Any]:
    options: dict[str, Any] = {
        "tol": tolerance,
        "max_iter": iterations,
        "max_wall_time": max(seconds, 1e-3),
        "print_level": 5 if verbose else 0,
        "sb": "yes",
        # Minimum degree: on a step of 34 degrees of freedom a quarter to a third less time
        # than with the ordering that MUMPS would choose. Parameters that stand in the rows of
        # all intervals fill its factors up: nested dissection then takes a quarter of the time.
        "mumps_pivot_order": 0 if len(built.parameters) <= SHARED else 5,
    }
    if barrier is not None:
        near = ("bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac")
        options |= {"mu_init": barrier, **dict.fromkeys(near, min(1e-2, barrier))}
    return options


def _fatrop(
    staged: Stages, tolerance: float, iterations: int, barrier: float | None, verbose: bool
) -> dict[str, Any]:
    own: dict[str, Any] = {
        "tol": tolerance,
        "max_iter": iterations,
        "print_level": 5 if verbose else 0,
    }
    if barrier is not None:
        own["mu_init"] = barrier
    equal = staged.program.lower == staged.program.upper
    return {
        "fatrop": own,
        "structure_detection": "manual",
        "N": len(staged.states) - 1,
        "nx": staged.states,
        "nu": staged.controls,
        "ng": staged.own,
        "equality": equal[staged.rows].tolist(),
    }
