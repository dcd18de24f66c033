"""Nonlinear programs that are sums of many small alike parts, with exact sparse derivatives.

A part is a template, a function of a few numbers, repeated for many choices of unknowns. Its first
and second derivatives are taken once, in the few numbers, and put to their places by constant
sparse matrices. Building the program of a path takes a fraction of a second so; derivatives of the
whole expression would take several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np


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
    """Of each copy."""

    @property
    def copies(self) -> int:
        return len(self.index)


class _Traced:
    """A part with its derivatives, as functions of all unknowns."""

    def __init__(self, part: NlpTerm, unknowns: int) -> None:
        count, n = part.index.shape
        y, p = ca.SX.sym("y", n), ca.SX.sym("p", part.parameters)
        value = ca.densify(part.template(y, p))
        self.rows = value.numel()
        scale = ca.SX.sym("l", self.rows)
        slope = ca.jacobian(value, y)
        bend = ca.triu(ca.hessian(ca.dot(scale, value), y)[0])
        self.value = ca.Function("value", [y, p], [value]).map(count)
        self.slope = ca.Function("slope", [y, p], [_entries(slope)]).map(count)
        self.bend = ca.Function("bend", [y, p, scale], [_entries(bend)]).map(count)
        used = np.nonzero(part.index.ravel() >= 0)[0]
        self.gather = _sparse(
            used, part.index.ravel()[used], part.factor.ravel()[used], (count * n, unknowns)
        )
        self.constant = ca.DM(part.constant.ravel())
        self.shape = (n, count)
        self.parameters = part.parameters

        local_row, local_column = (np.array(x, dtype=int) for x in slope.sparsity().get_triplet())
        copy = np.arange(count)[:, None]
        self.slope_row = (copy * self.rows + local_row).ravel()
        self.slope_column = part.index[:, local_column].ravel()
        self.slope_factor = part.factor[:, local_column].ravel()
        i, j = (np.array(x, dtype=int) for x in bend.sparsity().get_triplet())
        self.bend_row, self.bend_column = part.index[:, i].ravel(), part.index[:, j].ravel()
        # An entry off the diagonal of the part stands for two, which may meet on the diagonal of
        # the whole when one unknown is taken twice.
        twice = np.where((self.bend_row == self.bend_column) & np.tile(i != j, count), 2.0, 1.0)
        self.bend_factor = (part.factor[:, i] * part.factor[:, j]).ravel() * twice

    def local(self, x: Any) -> Any:
        return ca.reshape(self.gather @ x + self.constant, *self.shape)

    def parameters_of(self, p: Any) -> Any:
        return ca.reshape(p, self.parameters, self.shape[1])


SOLVED_STATUSES = ("Solve_Succeeded", "Solved_To_Acceptable_Level")


class SeparableNlp:
    """Minimise the sum of cost parts with all constraint parts in bounds, by IPOPT.

    ``attempts``: further options, each tried when those before did not solve it.
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
        costs = [_Traced(part, unknowns) for part in cost]
        bounds = [_Traced(part, unknowns) for part in constraints]
        x = ca.MX.sym("x", unknowns)
        sizes = [part.parameters * part.shape[1] for part in [*costs, *bounds]]
        p = ca.MX.sym("p", sum(sizes))
        pieces = ca.vertsplit(p, list(np.r_[0, np.cumsum(sizes)].astype(int)))
        told = [
            part.parameters_of(piece) for part, piece in zip([*costs, *bounds], pieces, strict=True)
        ]
        here = [part.local(x) for part in [*costs, *bounds]]
        count = len(costs)
        every = list(zip([*costs, *bounds], here, told, strict=True))
        aim = ca.dot(ca.DM(linear_cost), x)
        for part, y, given in every[:count]:
            aim += ca.sum2(ca.sum1(part.value(y, given)))
        kept = ca.vertcat(*[ca.vec(part.value(y, given)) for part, y, given in every[count:]])
        starts = np.r_[0, np.cumsum([part.rows * part.shape[1] for part in bounds])].astype(int)
        self.sizes = [int(b - a) for a, b in pairwise(starts)]

        gradient = ca.DM(linear_cost)
        for part, y, given in every[:count]:
            entries = ca.vec(part.slope(y, given))
            used = part.slope_column >= 0
            place = _sparse(
                part.slope_column[used],
                np.nonzero(used)[0],
                part.slope_factor[used],
                (unknowns, entries.numel()),
            )
            gradient = gradient + place @ entries
        jacobian = _assemble(
            [ca.vec(part.slope(y, given)) for part, y, given in every[count:]],
            [part.slope_row + start for part, start in zip(bounds, starts, strict=False)],
            [part.slope_column for part in bounds],
            [part.slope_factor for part in bounds],
            (int(starts[-1]), unknowns),
        )
        weight_cost, weights = ca.MX.sym("s"), ca.MX.sym("l", int(starts[-1]))
        bends = [
            ca.vec(part.bend(y, given, weight_cost * ca.DM.ones(part.rows, part.shape[1])))
            for part, y, given in every[:count]
        ]
        shares = ca.vertsplit(weights, list(starts))
        bends += [
            ca.vec(part.bend(y, given, ca.reshape(share, part.rows, part.shape[1])))
            for (part, y, given), share in zip(every[count:], shares, strict=True)
        ]
        traced = [*costs, *bounds]
        hessian = _assemble(
            bends,
            [np.minimum(part.bend_row, part.bend_column) for part in traced],
            [np.maximum(part.bend_row, part.bend_column) for part in traced],
            [part.bend_factor for part in traced],
            (unknowns, unknowns),
        )
        self.functions = {
            "grad_f": ca.Function("grad_f", [x, p], [aim, gradient]),
            "jac_g": ca.Function("jac_g", [x, p], [kept, jacobian]),
            "hess_lag": ca.Function("hess_lag", [x, p, weight_cost, weights], [hessian]),
        }
        self._problem = {"x": x, "p": p, "f": aim, "g": kept}
        self._options = [{**options, **more} for more in attempts]
        self._solvers: list[Any] = []

    def _solver(self, attempt: int) -> Any:
        while len(self._solvers) <= attempt:
            options = self._options[len(self._solvers)]
            given = {"print_time": False, "error_on_fail": False, **self.functions}
            self._solvers.append(
                ca.nlpsol("path", "ipopt", self._problem, {**given, "ipopt": options})
            )
        return self._solvers[attempt]

    def solve(
        self,
        start: np.ndarray,
        parameters: np.ndarray,
        lower: np.ndarray,
        upper: np.ndarray,
        lowest: np.ndarray,
        highest: np.ndarray,
    ) -> tuple[np.ndarray, str, int]:
        """Unknowns, what the solver says, and iterations; bounds of unknowns and constraints."""
        iterations = 0
        for attempt in range(len(self._options)):
            solver = self._solver(attempt)
            found = solver(x0=start, p=parameters, lbx=lower, ubx=upper, lbg=lowest, ubg=highest)
            stats = solver.stats()
            iterations += int(stats["iter_count"])
            status = str(stats["return_status"])
            if status in SOLVED_STATUSES:
                break
        return np.array(found["x"]).ravel(), status, iterations


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
    """The sparse matrix in which entries of parts at the same place are added."""
    row, column = np.concatenate(rows), np.concatenate(columns)
    factor = np.concatenate(factors)
    used = np.nonzero((row >= 0) & (column >= 0))[0]
    # CasADi counts entries column by column.
    place, which = np.unique(column[used] * shape[0] + row[used], return_inverse=True)
    pattern = ca.Sparsity.triplet(
        *shape, [int(r) for r in place % shape[0]], [int(c) for c in place // shape[0]]
    )
    gather = _sparse(which, used, factor[used], (len(place), len(row)))
    return ca.MX(pattern, gather @ ca.vertcat(*entries))
