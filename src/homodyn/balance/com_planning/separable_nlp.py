"""Nonlinear programs that are sums of many similar small terms, with exact sparse derivatives.

A term is a template, a function of a few numbers, that is repeated for many choices of unknowns.
Its first and second derivatives are computed once, in the few numbers, and assembled by constant
sparse matrices. Building the program of a path this way takes a fraction of a second; derivatives
of the whole expression would take several seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

SOLVED_STATUSES = ("Solve_Succeeded", "Solved_To_Acceptable_Level")


@dataclass(frozen=True, eq=False)
class NlpTerm:
    """``template(y, p)`` for each row of ``index``: ``y = factor * x[index] + constant``.

    An index of -1 takes the constant alone.
    """

    template: Callable[[Any, Any], Any]
    """Of symbols (n,) and (parameters,): an expression (m,)."""
    index: np.ndarray
    """(copies, n): unknowns of the program."""
    factor: np.ndarray
    """(copies, n)."""
    constant: np.ndarray
    """(copies, n)."""
    parameters: int = 0
    """Number of parameters of each copy."""

    @property
    def copies(self) -> int:
        """Number of copies."""
        return len(self.index)


class _TracedTerm:
    """A term with its derivatives, as functions of all unknowns."""

    def __init__(self, term: NlpTerm, unknowns: int) -> None:
        count, n = term.index.shape
        y, p = ca.SX.sym("y", n), ca.SX.sym("p", term.parameters)
        value = ca.densify(term.template(y, p))
        self.rows = value.numel()
        multiplier = ca.SX.sym("l", self.rows)
        slope = ca.jacobian(value, y)
        curvature = ca.triu(ca.hessian(ca.dot(multiplier, value), y)[0])
        self.value = ca.Function("value", [y, p], [value]).map(count)
        self.slope = ca.Function("slope", [y, p], [_entries(slope)]).map(count)
        self.curvature = ca.Function("bend", [y, p, multiplier], [_entries(curvature)]).map(count)
        used = np.nonzero(term.index.ravel() >= 0)[0]
        self.gather = _sparse(
            used, term.index.ravel()[used], term.factor.ravel()[used], (count * n, unknowns)
        )
        self.constant = ca.DM(term.constant.ravel())
        self.shape = (n, count)
        self.parameters = term.parameters

        local_row, local_column = (np.array(x, dtype=int) for x in slope.sparsity().get_triplet())
        copy = np.arange(count)[:, None]
        self.slope_row = (copy * self.rows + local_row).ravel()
        self.slope_column = term.index[:, local_column].ravel()
        self.slope_factor = term.factor[:, local_column].ravel()
        i, j = (np.array(x, dtype=int) for x in curvature.sparsity().get_triplet())
        self.curvature_row = term.index[:, i].ravel()
        self.curvature_column = term.index[:, j].ravel()
        # An off-diagonal entry of the term represents two. They coincide on the diagonal of the
        # whole Hessian if the term uses one unknown twice.
        on_diagonal = (self.curvature_row == self.curvature_column) & np.tile(i != j, count)
        multiplicity = np.where(on_diagonal, 2.0, 1.0)
        self.curvature_factor = (term.factor[:, i] * term.factor[:, j]).ravel() * multiplicity

    @property
    def value_count(self) -> int:
        """Number of values of all copies."""
        return int(self.rows * self.shape[1])

    def local_unknowns(self, x: Any) -> Any:
        """The numbers of each copy, (n, copies)."""
        return ca.reshape(self.gather @ x + self.constant, *self.shape)

    def local_parameters(self, p: Any) -> Any:
        """The parameters of each copy, (parameters, copies)."""
        return ca.reshape(p, self.parameters, self.shape[1])


@dataclass(frozen=True, eq=False)
class _TermInput:
    """A term with its unknowns and parameters in the program."""

    term: _TracedTerm
    y: Any
    p: Any

    def values(self) -> Any:
        return self.term.value(self.y, self.p)

    def slopes(self) -> Any:
        return ca.vec(self.term.slope(self.y, self.p))

    def curvatures(self, multipliers: Any) -> Any:
        return ca.vec(self.term.curvature(self.y, self.p, multipliers))


class SeparableNlp:
    """Minimize the sum of cost terms with all constraint terms in bounds, by IPOPT.

    Args:
        unknowns: Number of unknowns.
        cost: Terms of the objective.
        linear_cost: Coefficients of the linear part of the objective, (unknowns,).
        constraints: Terms whose values are bounded.
        options: Options of IPOPT.
        attempts: Further options; each entry is tried if those before did not succeed.
    """

    def __init__(
        self,
        unknowns: int,
        cost: Sequence[NlpTerm],
        linear_cost: np.ndarray,
        constraints: Sequence[NlpTerm],
        options: dict[str, Any],
        attempts: Sequence[dict[str, Any]] = ({},),
    ) -> None:
        terms = [_TracedTerm(term, unknowns) for term in (*cost, *constraints)]
        x = ca.MX.sym("x", unknowns)
        sizes = [term.parameters * term.shape[1] for term in terms]
        p = ca.MX.sym("p", sum(sizes))
        blocks = ca.vertsplit(p, list(np.r_[0, np.cumsum(sizes)].astype(int)))
        inputs = [
            _TermInput(term, term.local_unknowns(x), term.local_parameters(block))
            for term, block in zip(terms, blocks, strict=True)
        ]
        costs, limits = inputs[: len(cost)], inputs[len(cost) :]
        starts = np.r_[0, np.cumsum([each.term.value_count for each in limits])].astype(int)
        self.sizes = [int(b - a) for a, b in pairwise(starts)]
        objective = ca.dot(ca.DM(linear_cost), x)
        for each in costs:
            objective += ca.sum2(ca.sum1(each.values()))
        values = ca.vertcat(*[ca.vec(each.values()) for each in limits])
        factor, multipliers = ca.MX.sym("s"), ca.MX.sym("l", int(starts[-1]))
        gradient = _gradient(costs, linear_cost)
        jacobian = _constraint_jacobian(limits, starts, unknowns)
        hessian = _hessian(costs, limits, factor, ca.vertsplit(multipliers, list(starts)), unknowns)
        self.functions = {
            "grad_f": ca.Function("grad_f", [x, p], [objective, gradient]),
            "jac_g": ca.Function("jac_g", [x, p], [values, jacobian]),
            "hess_lag": ca.Function("hess_lag", [x, p, factor, multipliers], [hessian]),
        }
        self._problem = {"x": x, "p": p, "f": objective, "g": values}
        self._options = [{**options, **more} for more in attempts]
        self._solvers: list[Any] = []

    def _solver(self, attempt: int) -> Any:
        while len(self._solvers) <= attempt:
            options = self._options[len(self._solvers)]
            settings = {"print_time": False, "error_on_fail": False, **self.functions}
            self._solvers.append(
                ca.nlpsol("path", "ipopt", self._problem, {**settings, "ipopt": options})
            )
        return self._solvers[attempt]

    def solve(
        self,
        start: np.ndarray,
        parameters: np.ndarray,
        unknown_bounds: tuple[np.ndarray, np.ndarray],
        constraint_bounds: tuple[np.ndarray, np.ndarray],
    ) -> tuple[np.ndarray, str, int]:
        """Solve the program.

        Args:
            start: Initial unknowns, (unknowns,).
            parameters: Parameters of all copies of all terms.
            unknown_bounds: Lower and upper bounds of the unknowns.
            constraint_bounds: Lower and upper bounds of the constraints.

        Returns:
            Unknowns, status of the solver and number of iterations.
        """
        iterations = 0
        for attempt in range(len(self._options)):
            solver = self._solver(attempt)
            solution = solver(
                x0=start,
                p=parameters,
                lbx=unknown_bounds[0],
                ubx=unknown_bounds[1],
                lbg=constraint_bounds[0],
                ubg=constraint_bounds[1],
            )
            stats = solver.stats()
            iterations += int(stats["iter_count"])
            status = str(stats["return_status"])
            if status in SOLVED_STATUSES:
                break
        return np.array(solution["x"]).ravel(), status, iterations


def _gradient(costs: Sequence[_TermInput], linear_cost: np.ndarray) -> Any:
    """Gradient of the objective."""
    gradient = ca.DM(linear_cost)
    for each in costs:
        entries = each.slopes()
        used = each.term.slope_column >= 0
        place = _sparse(
            each.term.slope_column[used],
            np.nonzero(used)[0],
            each.term.slope_factor[used],
            (len(linear_cost), entries.numel()),
        )
        gradient = gradient + place @ entries
    return gradient


def _constraint_jacobian(limits: Sequence[_TermInput], starts: np.ndarray, unknowns: int) -> Any:
    """Jacobian of the constraints; ``starts`` are the rows at which the terms begin."""
    return _assemble(
        [each.slopes() for each in limits],
        [each.term.slope_row + start for each, start in zip(limits, starts, strict=False)],
        [each.term.slope_column for each in limits],
        [each.term.slope_factor for each in limits],
        (int(starts[-1]), unknowns),
    )


def _hessian(
    costs: Sequence[_TermInput],
    limits: Sequence[_TermInput],
    factor: Any,
    multipliers: Sequence[Any],
    unknowns: int,
) -> Any:
    """Upper triangle of the Hessian of the Lagrangian."""
    entries = [
        each.curvatures(factor * ca.DM.ones(each.term.rows, each.term.shape[1])) for each in costs
    ]
    entries += [
        each.curvatures(ca.reshape(part, each.term.rows, each.term.shape[1]))
        for each, part in zip(limits, multipliers, strict=True)
    ]
    terms = [each.term for each in (*costs, *limits)]
    return _assemble(
        entries,
        [np.minimum(term.curvature_row, term.curvature_column) for term in terms],
        [np.maximum(term.curvature_row, term.curvature_column) for term in terms],
        [term.curvature_factor for term in terms],
        (unknowns, unknowns),
    )


def _entries(matrix: Any) -> Any:
    """The entries of a sparse matrix as a full column."""
    return ca.vertcat(*matrix.nonzeros()) if matrix.nnz() else ca.SX(0, 1)


def _sparse(
    rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
) -> ca.DM:
    return ca.DM.triplet(
        [int(r) for r in rows], [int(c) for c in columns], ca.DM(values), shape[0], shape[1]
    )


def _assemble(
    entries: list[Any],
    rows: list[np.ndarray],
    columns: list[np.ndarray],
    factors: list[np.ndarray],
    shape: tuple[int, int],
) -> Any:
    """The sparse matrix in which entries of terms at the same place are added."""
    row, column = np.concatenate(rows), np.concatenate(columns)
    factor = np.concatenate(factors)
    used = np.nonzero((row >= 0) & (column >= 0))[0]
    # CasADi orders entries column by column.
    place, which = np.unique(column[used] * shape[0] + row[used], return_inverse=True)
    pattern = ca.Sparsity.triplet(
        *shape, [int(r) for r in place % shape[0]], [int(c) for c in place // shape[0]]
    )
    gather = _sparse(which, used, factor[used], (len(place), len(row)))
    return ca.MX(pattern, gather @ ca.vertcat(*entries))
