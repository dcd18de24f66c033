"""Linear programs with their dual solutions, which prove every result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from homodyn.errors import NoSolution

SOLVER_TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Infeasible(NoSolution):
    """No point satisfies the constraints; ``rows`` and ``equations`` are the Farkas multipliers.

    They prove it: ``rows >= 0``, ``rows' A + equations' E = 0`` and ``rows' b + equations' e < 0``.
    """

    def __init__(self, message: str, rows: np.ndarray, equations: np.ndarray) -> None:
        super().__init__(message)
        self.rows = rows
        self.equations = equations


class Unbounded(NoSolution):
    """The set is unbounded along ``direction``."""

    def __init__(self, message: str, direction: np.ndarray | None = None) -> None:
        super().__init__(message)
        self.direction = direction


@dataclass(frozen=True, eq=False)
class Optimum:
    """``max c'x`` subject to ``A x <= b`` and ``E x = e``, with the dual values that prove it.

    ``c = rows' A + equations' E`` with ``rows >= 0``, so that ``c'x <= rows' b + equations' e`` for
    every feasible x, with equality at ``x``.
    """

    value: float
    """Largest value of the objective."""
    x: np.ndarray
    """Where it is attained."""
    rows: np.ndarray
    """Dual values of the inequalities."""
    equations: np.ndarray
    """Dual values of the equations."""


def maximize(
    c: np.ndarray,
    A: np.ndarray,
    b: np.ndarray,
    E: np.ndarray | None = None,
    e: np.ndarray | None = None,
) -> Optimum:
    """Solve a linear program by HiGHS; `Infeasible` and `Unbounded` contain their proofs."""
    c, A, b = np.asarray(c, float), np.asarray(A, float), np.asarray(b, float)
    E = np.zeros((0, len(c))) if E is None else np.asarray(E, float)
    e = np.zeros(len(E)) if e is None else np.asarray(e, float)
    answer = _highs(-c, A, b, E, e)
    if answer.status == 0:
        rows = np.maximum(-answer.ineqlin.marginals, 0.0) if len(A) else np.zeros(0)
        equations = -answer.eqlin.marginals if len(E) else np.zeros(0)
        return Optimum(float(-answer.fun), answer.x, rows, equations)
    if answer.status in (2, 4) and (proof := _farkas(A, b, E, e)) is not None:
        raise Infeasible("no point satisfies all rows", *proof)
    if (direction := _ray(c, A, E)) is not None:
        raise Unbounded("the objective grows without bound", direction)
    raise NoSolution(f"the linear program was not solved: {answer.message}")


def _highs(c: np.ndarray, A: np.ndarray, b: np.ndarray, E: np.ndarray, e: np.ndarray) -> Any:
    bounds = (None, None)
    given = {"A_ub": A, "b_ub": b} if len(A) else {}
    given |= {"A_eq": E, "b_eq": e} if len(E) else {}
    for method in ("highs-ds", "highs-ipm"):
        answer = linprog(c, **given, bounds=bounds, method=method, options=SOLVER_TOLERANCES)
        if answer.status in (0, 2, 3):
            break
    return answer


def _farkas(
    A: np.ndarray, b: np.ndarray, E: np.ndarray, e: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Multipliers that combine the rows to ``0 <= negative``; None if there are none."""
    m, k = len(A), len(E)
    n = A.shape[1] if m else E.shape[1]
    scale = max(np.abs(b).max(initial=0.0), np.abs(e).max(initial=0.0), 1e-300)
    rows = np.vstack([A, E]).T if n else np.zeros((0, m + k))
    answer = linprog(
        np.concatenate([b, e]) / scale,
        A_eq=rows,
        b_eq=np.zeros(len(rows)),
        bounds=[(0, 1)] * m + [(-1, 1)] * k,
        method="highs-ds",
        options=SOLVER_TOLERANCES,
    )
    if answer.status != 0 or answer.fun > -1e-12:
        return None
    return answer.x[:m], answer.x[m:]


def _ray(c: np.ndarray, A: np.ndarray, E: np.ndarray) -> np.ndarray | None:
    """A feasible direction along which the objective grows without bound; None if there is none."""
    answer = linprog(
        -c,
        A_ub=A if len(A) else None,
        b_ub=np.zeros(len(A)) if len(A) else None,
        A_eq=E if len(E) else None,
        b_eq=np.zeros(len(E)) if len(E) else None,
        bounds=(-1, 1),
        method="highs-ds",
        options=SOLVER_TOLERANCES,
    )
    if answer.status != 0 or answer.fun > -1e-9 * max(np.abs(c).max(initial=0.0), 1e-300):
        return None
    return np.asarray(answer.x)
