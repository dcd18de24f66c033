"""Which constraints of an infeasible program are in conflict."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from homodyn.control.programs.quadratic_program import QuadraticProgram, RowKind

FEASIBILITY_TOLERANCE = 1e-7
"""Smallest sum of violations, in units of the rows, that makes a set of constraints infeasible."""


def conflicting_owners(program: QuadraticProgram, bounds_owner: str) -> tuple[str, ...]:
    """A smallest set of tasks and limits that cannot hold together.

    A deletion filter (Chinneck and Dravnieks 1991, ORSA J. Comput. 3:157): each owner of hard rows
    or bounds is left out in turn, and stays out while the rest remains infeasible. Without any of
    the owners that are returned, the others are feasible.

    Args:
        program: One state.
        bounds_owner: Name for the bounds of variables.

    Returns:
        Names, empty where the program is feasible.
    """
    index = program.pattern.indices(RowKind.EQUALITY, RowKind.INEQUALITY)
    owners = [program.row_owners[k] for k in index]
    rows, low, high = program.constraint_bounds()
    names = list(dict.fromkeys([*owners, bounds_owner]))

    def infeasible(kept: list[str]) -> bool:
        chosen = np.array([owner in kept for owner in owners], dtype=bool)
        bounded = bounds_owner in kept
        return _violation(program, rows[chosen], low[chosen], high[chosen], bounded) > (
            FEASIBILITY_TOLERANCE
        )

    if not infeasible(names):
        return ()
    kept = list(names)
    for name in names:
        rest = [other for other in kept if other != name]
        if infeasible(rest):
            kept = rest
    return tuple(kept)


def _violation(
    program: QuadraticProgram, rows: np.ndarray, low: np.ndarray, high: np.ndarray, bounded: bool
) -> float:
    """Smallest sum of violations of rows (and of crossed bounds) that any x has."""
    n, m = program.pattern.variables, len(rows)
    crossed = 0.0
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    if bounded:
        crossed = float(np.clip(program.lower - program.upper, 0, None).sum())
        lower = np.minimum(program.lower, program.upper)
        upper = np.maximum(program.lower, program.upper)
    if not m:
        return crossed
    # One slack per row and side; a row without a bound on a side has none.
    parts = [(-rows, -low), (rows, high)]
    left = np.vstack([np.hstack([part, -np.eye(m)]) for part, _ in parts])
    right = np.concatenate([bound for _, bound in parts])
    finite = np.isfinite(right)
    cost = np.r_[np.zeros(n), np.ones(m)]
    bounds = np.c_[np.r_[lower, np.zeros(m)], np.r_[upper, np.full(m, np.inf)]]
    found = linprog(cost, left[finite], right[finite], bounds=bounds, method="highs")
    return crossed + (float(found.fun) if found.status == 0 else np.inf)
