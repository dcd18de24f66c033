"""IPOPT or FATROP on a built problem, with sparse derivatives of its blocks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, get_args

import casadi as ca
import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.text import unknown_name
from homodyn.optimal.build import Built
from homodyn.optimal.calls import Call, Calls
from homodyn.optimal.one_thread import one_thread
from homodyn.optimal.program import Hessian, Method, Program
from homodyn.optimal.solution import Solution, Status, solution_of
from homodyn.optimal.stages import Stages, arranged

BETWEEN = 0.02
"""rad, m: how far an interval may arrive from the next node."""

SHARED = 8
"""Parameters of a problem, above which its equations are ordered for being coupled by them."""

HESSIANS, METHODS = get_args(Hessian), get_args(Method)

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


@dataclass(frozen=True, eq=False)
class _Found:
    """Unknowns, multipliers of rows and multipliers of bounds, in own units."""

    x: np.ndarray
    multipliers: np.ndarray
    bound_multipliers: np.ndarray


@dataclass(frozen=True, eq=False)
class _Ending:
    """Numbers that a solver ended with, and how it did."""

    found: _Found
    status: Status
    word: str
    iterations: int
    functions: float
    """Seconds spent in functions."""


def solve(
    built: Built,
    *,
    tolerance: float = 1e-6,
    iterations: int = 300,
    seconds: float = 600.0,
    between: float | None = BETWEEN,
    barrier: float | None = None,
    hessian: Hessian = "exact",
    method: Method = "ipopt",
    verbose: bool = False,
) -> Solution:
    """Search from the guess of a built problem; always ends, and says how.

    ``tolerance`` is that of the solver, in the units of the scaled problem; ``seconds`` bounds the
    time. An answer counts as solved only when each of its intervals, run again by forward dynamics,
    arrives within ``between`` (rad, m) of the next node and misses no condition on the way by more
    than its slack; ``None`` leaves that out. ``barrier`` is
    where that of the interior-point method begins: a small one keeps near a guess that is nearly
    an answer, bounds that it touches included.

    ``hessian`` is ``"exact"``, or ``"gauss-newton"``, which leaves out the curvature of conditions.
    ``method`` is ``"ipopt"``, or ``"fatrop"`` for problems that fall into stages (see
    `homodyn.optimal.stages`). The latter takes every stage for dense; on whole bodies that costs
    twice the time of IPOPT, whose linear solver sees which accelerations, torques and forces stand
    in which rows.
    """
    known = {"hessian": (hessian, HESSIANS), "method": (method, METHODS)}
    for name, (given, allowed) in known.items():
        if given not in allowed:
            raise HomodynError(f"solve(): {unknown_name(name, given, allowed)}")
    began = time.perf_counter()
    program = built.program.with_hessian(hessian)
    staged = arranged(built, program) if method == "fatrop" else None
    if isinstance(staged, str):
        raise HomodynError(f"FATROP needs a problem that falls into stages: {staged}")
    prepared = time.perf_counter()
    search = _Search(tolerance, iterations, prepared + max(seconds, 1e-3), barrier, verbose)
    end = search.by_ipopt(built, program) if staged is None else search.by_fatrop(built, staged)
    ended = time.perf_counter()
    return solution_of(
        built,
        end.found.x,
        multipliers=end.found.multipliers,
        bound_multipliers=end.found.bound_multipliers,
        status=end.status,
        ending=end.word,
        iterations=end.iterations,
        seconds={
            "preparing": prepared - began,
            "functions": end.functions,
            # What a solver does itself is hardly anything else.
            "linear algebra": ended - prepared - end.functions,
            "solving": ended - prepared,
        },
        between=between,
    )


@dataclass(frozen=True)
class _Search:
    """When to stop, and where to begin."""

    tolerance: float
    iterations: int
    deadline: float
    """On the clock (s)."""
    barrier: float | None
    verbose: bool

    def by_fatrop(self, built: Built, staged: Stages) -> _Ending:
        """Stage by stage."""
        calls = Calls(
            staged.program, staged.unknowns, staged.rows, ones=staged.ones, both_triangles=True
        )
        calls.deadline = self.deadline
        own: dict[str, Any] = {
            "tol": self.tolerance,
            "max_iter": self.iterations,
            "print_level": 5 if self.verbose else 0,
        }
        if self.barrier is not None:
            own["mu_init"] = self.barrier
        equal = staged.program.lower == staged.program.upper
        options = {
            "fatrop": own,
            "structure_detection": "manual",
            "N": len(staged.states) - 1,
            "nx": staged.states,
            "nu": staged.controls,
            "ng": staged.own,
            "equality": equal[staged.rows].tolist(),
        }
        try:
            found, stats = _run(built, calls, "fatrop", calls.fatrop(), options)
        except RuntimeError as error:
            none = np.zeros(staged.program.rows), np.zeros(staged.program.size)
            word = str(error).strip().splitlines()[-1]
            return _Ending(_Found(built.guess, *none), Status.FAILED, word, 0, calls.seconds)
        word = str(stats.get("unified_return_status", "failed"))
        count = int(stats.get("iter_count", 0))
        status = Status.SOLVED if stats.get("success") else Status.FAILED
        if calls.late:
            status = Status.OUT_OF_TIME
        elif not status.good and count >= self.iterations:
            status = Status.OUT_OF_ITERATIONS
        return _Ending(found, status, word, count, calls.seconds)

    def by_ipopt(self, built: Built, program: Program) -> _Ending:
        """All at once."""
        calls = Calls(program)
        left = max(self.deadline - time.perf_counter(), 1e-3)
        options = {"ipopt": self._ipopt(built, left)}
        found, stats = _run(built, calls, "ipopt", calls.ipopt(), options)
        word = str(stats["return_status"])
        status = ENDINGS.get(word, Status.FAILED)
        return _Ending(found, status, word, int(stats["iter_count"]), calls.seconds)

    def _ipopt(self, built: Built, seconds: float) -> dict[str, Any]:
        options: dict[str, Any] = {
            "tol": self.tolerance,
            "max_iter": self.iterations,
            "max_wall_time": max(seconds, 1e-3),
            "print_level": 5 if self.verbose else 0,
            "sb": "yes",
            # Minimum degree: on a step of 34 degrees of freedom a quarter to a third less time
            # than with the ordering that MUMPS would choose.
            "mumps_pivot_order": 0,
        }
        if len(built.parameters) > SHARED:
            # Parameters that stand in the rows of all intervals fill its factors up: nested
            # dissection takes a quarter of the time. A matching of large entries would take as
            # long again, and units fit already.
            options |= {"mumps_pivot_order": 5, "mumps_permuting_scaling": 0}
        if self.barrier is not None:
            near = ("bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac")
            options |= {"mu_init": self.barrier, **dict.fromkeys(near, min(1e-2, self.barrier))}
        return options


def _run(
    built: Built, calls: Calls, plugin: str, functions: dict[str, Call], options: dict[str, Any]
) -> tuple[_Found, dict[str, Any]]:
    """What a solver finds, and what it tells."""
    usual = {
        "cache": {name: call for name, call in functions.items() if name != "nlp"},
        "print_time": False,
        "error_on_fail": False,
        "calc_lam_p": False,
        "show_eval_warnings": False,
    }
    solver = ca.nlpsol("solver", plugin, functions["nlp"], options | usual)
    low, high = calls.bounds()
    with one_thread():
        result = solver(
            x0=calls.start(built.guess),
            lbx=calls.start(built.lower),
            ubx=calls.start(built.upper),
            lbg=low,
            ubg=high,
        )
    x, rows, bounds = (np.array(result[key])[:, 0] for key in ("x", "lam_g", "lam_x"))
    multipliers = calls.multipliers(rows), calls.bound_multipliers(bounds)
    return _Found(calls.result(x), *multipliers), solver.stats()
