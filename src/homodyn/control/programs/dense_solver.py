"""Quadratic programs by daqp, a dual active-set method, one state after the other.

Source of the method: Arnstrom, Bemporad and Axehill 2022, IEEE Trans. Autom. Control 67:4362.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import casadi as ca
import numpy as np

from homodyn.control.programs.quadratic_program import QuadraticProgram

FEASIBILITY_TOLERANCE = 1e-6
"""Violation of a bound or row, relative to its size, above which a program counts as unsolved."""
OPTIMALITY_TOLERANCE = 1e-5
"""Gradient of the Lagrangian, relative to the gradients it balances, in the same role."""

PROXIMAL_CURVATURE = 1e-4
"""Curvature of the proximal iterations that follow where daqp fails: they bear small curvatures."""
MAX_PROXIMAL_ITERATIONS = 5000
"""Largest number of active-set iterations of all proximal iterations."""

ROW_BLOCK = 8
"""Numbers of rows are rounded up to multiples of it, so that few solvers serve all programs."""

TIGHT_TOLERANCE = 1e-9
"""Violation of constraints that daqp accepts. Its own, 1e-6, is the size of steps near the
end of a search; along directions of small curvature it leaves bounds violated by 1e-3."""


@dataclass(frozen=True, eq=False)
class DenseSolution:
    """Solution of one dense program."""

    x: np.ndarray
    """(variables,)."""
    row_multipliers: np.ndarray
    """(constraints,): positive at the upper bound."""
    bound_multipliers: np.ndarray
    """(variables,): positive at the upper bound."""
    solved: bool
    """Whether x satisfies the conditions of an optimum."""


class DenseSolver:
    """A solver of dense programs of one size, with its arrays at fixed addresses.

    Minimize ``x . P x / 2 + c . x`` subject to bounds of x and of rows.

    Args:
        variables: Number of variables.
        constraints: Number of rows.
    """

    def __init__(self, variables: int, constraints: int) -> None:
        n, m = variables, constraints
        shape = {"h": ca.Sparsity.dense(n, n), "a": ca.Sparsity.dense(m, n)}
        common = {"error_on_fail": False, "record_time": False}
        self._methods = []
        proximal = {"eps_prox": PROXIMAL_CURVATURE, "iter_limit": MAX_PROXIMAL_ITERATIONS}
        tight = {"primal_tol": TIGHT_TOLERANCE}
        for daqp in (tight, {}, proximal, {**proximal, **tight}):
            solver = ca.conic("daqp", "daqp", shape, {**common, "daqp": daqp})
            self._methods.append((solver, *solver.buffer()))
        self.hessian = np.zeros((n, n), order="F")
        self.linear = np.zeros(n)
        self.rows = np.zeros((m, n), order="F")
        self.row_lower, self.row_upper = np.zeros(m), np.zeros(m)
        self.lower, self.upper = np.zeros(n), np.zeros(n)
        self._x, self._row, self._bound = np.zeros(n), np.zeros(m), np.zeros(n)
        inputs = (self.hessian, self.linear, self.rows, self.row_lower, self.row_upper)
        for _, buffer, _ in self._methods:
            for k, array in enumerate((*inputs, self.lower, self.upper)):
                buffer.set_arg(k, memoryview(array.ravel(order="K").data))
            for k, array in ((0, self._x), (2, self._row), (3, self._bound)):
                buffer.set_res(k, memoryview(array.data))

    def solve(self) -> DenseSolution:
        """Solve the program that the arrays of this object hold.

        Returns:
            The solution; the conditions of an optimum are checked here, whatever daqp says.
        """
        if (self.lower > self.upper).any() or (self.row_lower > self.row_upper).any():
            return self._solution(False)
        for _, _, evaluate in self._methods:
            self._x[:] = np.nan
            evaluate()
            solution = self._check_solution()
            if solution.solved:
                break
            if np.isfinite(self._x).all():
                polished = self._polish_solution()
                if polished.solved:
                    return polished
        return solution

    def _polish_solution(self) -> DenseSolution:
        """The optimum of the active bounds and rows that daqp found, without its tolerances.

        Tolerances of daqp are absolute: near the end of a search its steps are of their size.
        """
        n = len(self._x)
        # daqp returns multipliers of the size of rounding for limits at infinity: not active.
        edge = np.where(self._bound > 0, self.upper, self.lower)
        row_edge = np.where(self._row > 0, self.row_upper, self.row_lower)
        active = (self._bound != 0) & np.isfinite(edge)
        rows = np.flatnonzero((self._row != 0) & np.isfinite(row_edge))
        free, fixed = np.flatnonzero(~active), np.flatnonzero(active)
        x, row, bound = np.zeros(n), np.zeros_like(self._row), np.zeros(n)
        x[fixed], target = edge[fixed], row_edge[rows]
        matrix = np.zeros((len(free) + len(rows),) * 2)
        count = len(free)
        matrix[:count, :count] = self.hessian[np.ix_(free, free)]
        matrix[count:, :count] = self.rows[np.ix_(rows, free)]
        matrix[:count, count:] = matrix[count:, :count].T
        right = np.r_[-self.linear[free] - self.hessian[free] @ x, target - self.rows[rows] @ x]
        try:
            found = np.linalg.solve(matrix, right)
        except np.linalg.LinAlgError:
            return self._solution(False)
        x[free], row[rows] = found[:count], found[count:]
        bound[fixed] = -(self.hessian[fixed] @ x + self.linear[fixed] + self.rows[:, fixed].T @ row)
        signs = (row * self._row >= 0).all() and (bound * self._bound >= 0).all()
        if not (signs and np.isfinite(x).all()):
            return self._solution(False)
        before = self._x.copy(), self._row.copy(), self._bound.copy()
        self._x[:], self._row[:], self._bound[:] = x, row, bound
        solution = self._check_solution()
        self._x[:], self._row[:], self._bound[:] = before
        return solution

    def _check_solution(self) -> DenseSolution:
        """The values of the buffers, with the conditions of an optimum."""
        x = self._x
        value = self.rows @ x
        scale = 1 + np.abs(self.rows).sum(axis=1, initial=0.0)
        slack = FEASIBILITY_TOLERANCE * scale
        feasible = (
            (value >= self.row_lower - slack).all()
            and (value <= self.row_upper + slack).all()
            and (x >= self.lower - FEASIBILITY_TOLERANCE).all()
            and (x <= self.upper + FEASIBILITY_TOLERANCE).all()
        )
        if not feasible:
            return self._solution(False)
        parts = (self.hessian @ x, self.linear, self.rows.T @ self._row, self._bound)
        gradient = np.abs(np.add.reduce(parts)).max()
        size = max(float(np.abs(part).max()) for part in parts)
        return self._solution(bool(gradient <= OPTIMALITY_TOLERANCE * max(size, 1e-12)))

    def _solution(self, solved: bool) -> DenseSolution:
        return DenseSolution(self._x.copy(), self._row.copy(), self._bound.copy(), solved)


@lru_cache(maxsize=64)
def dense_solver(variables: int, constraints: int) -> DenseSolver:
    """The solver of a size.

    Args:
        variables: Number of variables.
        constraints: Number of rows.

    Returns:
        The same object for the same size.
    """
    return DenseSolver(variables, constraints)


def solve_by_daqp(program: QuadraticProgram) -> list[DenseSolution]:
    """Solve every state of a program.

    Args:
        program: For one state or a batch.

    Returns:
        One solution per state, in the order of the flattened batch.
    """
    n = program.pattern.variables
    rows, low, high = program.constraint_bounds()
    m = rows.shape[-2]
    count = math.prod(program.batch)
    hessian, linear = program.hessian.reshape(count, n, n), program.linear.reshape(count, n)
    rows, low, high = rows.reshape(count, m, n), low.reshape(count, m), high.reshape(count, m)
    lower, upper = program.lower.reshape(count, n), program.upper.reshape(count, n)
    solutions = []
    for k in range(count):
        used = np.flatnonzero(np.isfinite(low[k]) | np.isfinite(high[k]))
        size = len(used)
        solver = dense_solver(n, -(-size // ROW_BLOCK) * ROW_BLOCK)
        solver.hessian[:], solver.linear[:] = hessian[k], linear[k]
        solver.rows[:size], solver.rows[size:] = rows[k, used], 0.0
        solver.row_lower[:size], solver.row_lower[size:] = low[k, used], -np.inf
        solver.row_upper[:size], solver.row_upper[size:] = high[k, used], np.inf
        solver.lower[:], solver.upper[:] = lower[k], upper[k]
        found = solver.solve()
        multipliers = np.zeros(m)
        multipliers[used] = found.row_multipliers[:size]
        solutions.append(replace(found, row_multipliers=multipliers))
    return solutions
