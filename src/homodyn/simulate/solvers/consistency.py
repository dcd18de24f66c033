"""Consistency of rows: whether any motion satisfies them, tested when a solver fails."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from homodyn.simulate.solvers.cone_problem import ConeProblem


def is_contradictory(problem: ConeProblem, slack: float = 1e-9) -> bool:
    """Whether no motion A x + b with any x satisfies w >= 0 at contacts and w = 0 at equations.

    Rows with two finite bounds and tangents can yield and contradict nothing. The smallest common
    violation is a linear program; more than ``slack`` times the largest entry of b is a
    contradiction.
    """
    A, b, m = problem.A, problem.b, problem.size
    if not (np.isfinite(A).all() and np.isfinite(b).all()) or not m:
        return False
    rows, low = [], []
    for i in problem.bounded:
        if np.isinf(problem.upper[i]):
            rows.append(A[i])
            low.append(-b[i])
        if np.isinf(problem.lower[i]):
            rows.append(-A[i])
            low.append(b[i])
    for cone in problem.cones:
        rows.append(A[cone[0]])
        low.append(-b[cone[0]])
    if not rows:
        return False
    size = max(np.abs(b).max(), 1e-300)
    scale = max(np.abs(A).max(), 1e-300)
    # -(row x) - t <= -low with the smallest t >= 0, scaled to the order of one.
    G = np.hstack([-np.array(rows) / scale, -np.ones((len(rows), 1))])
    answer = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=G,
        b_ub=-np.array(low) / size,
        bounds=[(None, None)] * m + [(0, None)],
    )
    return bool(answer.status == 0 and answer.fun > slack)
