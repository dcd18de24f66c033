"""Functions applied at many places of one long vector of unknowns, with sparse derivatives.

Everything a transcription writes down is a `Block`: one symbolic function of a short vector ``z``
(the unknowns of one interval, of one boundary, ...) that is applied at ``count`` places. Its
Jacobian and its Lagrangian's Hessian are derived once, for the short vector; the entries for all
places are then moved to where they belong in the matrices of the whole problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np


@dataclass(frozen=True, eq=False)
class Block:
    """Costs and rows as functions of ``z`` and ``data``, at each of several places."""

    name: str
    z: ca.SX
    data: ca.SX
    costs: ca.SX
    """One entry for each of ``terms``."""
    rows: ca.SX
    terms: tuple[str, ...]
    row_names: tuple[str, ...]
    index: np.ndarray
    """(places, len(z)): which unknowns ``z`` stands for; none of them twice in one place."""
    values: np.ndarray
    """(places, len(data)): numbers that differ from place to place."""
    lower: np.ndarray
    """(places, rows)."""
    upper: np.ndarray
    places: tuple[str, ...]
    """What to call each place."""

    @property
    def count(self) -> int:
        """Number of places."""
        return len(self.places)

    @cached_property
    def _value(self) -> ca.Function:
        return ca.Function("value", [self.z, self.data], [self.costs, self.rows])

    @cached_property
    def _jacobian(self) -> ca.SX:
        return ca.jacobian(self.rows, self.z)

    @cached_property
    def _gradient(self) -> ca.Function:
        gradient = ca.densify(ca.gradient(ca.sum1(self.costs), self.z))
        return ca.Function("gradient", [self.z, self.data], [gradient])

    @cached_property
    def _slope(self) -> ca.Function:
        return ca.Function("slope", [self.z, self.data], [self._jacobian.nz[:]])

    @cached_property
    def _curvature(self) -> tuple[ca.Function, np.ndarray, np.ndarray]:
        """Entries of the Hessian of ``weight costs + multipliers . rows`` and their places."""
        weight, multipliers = ca.SX.sym("weight"), ca.SX.sym("multipliers", self.rows.shape[0])
        total = weight * ca.sum1(self.costs) + ca.dot(multipliers, self.rows)
        hessian = ca.triu(ca.hessian(total, self.z)[0])
        rows, columns = hessian.sparsity().get_triplet()
        function = ca.Function(
            "curvature", [self.z, self.data, weight, multipliers], [hessian.nz[:]]
        )
        return function, np.array(rows, dtype=int), np.array(columns, dtype=int)

    def at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs (places, terms) and rows (places, rows) at numbers for all unknowns."""
        costs, rows = self._value.map(self.count)(x[self.index].T, self.values.T)
        return np.array(ca.DM(costs)).T, np.array(ca.DM(rows)).T

    def gathered(self, x: ca.MX) -> ca.MX:
        """The columns ``z`` of all places."""
        flat = x[self.index.reshape(-1).tolist()]
        return ca.reshape(flat, self.index.shape[1], self.count)


class Program:
    """The problem ``min f(x), lower <= g(x) <= upper`` that blocks add up to, and its derivatives.

    Unknowns and rows are measured in units of ``scale`` and ``row_scale``.
    """

    def __init__(
        self, blocks: list[Block], size: int, scale: np.ndarray, row_scale: np.ndarray | None = None
    ) -> None:
        self.blocks = blocks
        self.size = size
        self.scale = scale
        self.offsets = np.cumsum([0, *(b.count * b.rows.shape[0] for b in blocks)])
        self.rows = int(self.offsets[-1])
        self.row_scale = np.ones(self.rows) if row_scale is None else row_scale
        self.lower = np.concatenate([b.lower.reshape(-1) for b in blocks] or [np.zeros(0)])
        self.upper = np.concatenate([b.upper.reshape(-1) for b in blocks] or [np.zeros(0)])

    def evaluate(self, x: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        """Costs of each block (places, terms), and all rows, at unknowns in their own units."""
        results = [block.at(x) for block in self.blocks]
        rows = [rows.reshape(-1) for _, rows in results]
        return [costs for costs, _ in results], np.concatenate(rows or [np.zeros(0)])

    def row_name(self, row: int) -> tuple[str, str]:
        """Where a row stands and what it says."""
        k = int(np.searchsorted(self.offsets, row, side="right")) - 1
        block = self.blocks[k]
        place, entry = divmod(row - int(self.offsets[k]), block.rows.shape[0])
        return block.places[place], block.row_names[entry]

    @cached_property
    def _jacobian_places(self) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = [], []
        for block, offset in zip(self.blocks, self.offsets, strict=False):
            r, c = (np.array(part, int) for part in block._jacobian.sparsity().get_triplet())
            first = offset + np.arange(block.count)[:, None] * block.rows.shape[0]
            rows.append((first + r).reshape(-1))
            columns.append(block.index[:, c].reshape(-1))
        return np.concatenate(rows), np.concatenate(columns)

    def jacobian_values(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row, column and value of each entry of the Jacobian, in own units."""
        values = []
        for block in self.blocks:
            entries = block._slope.map(block.count)(x[block.index].T, block.values.T)
            values.append(np.array(ca.DM(entries)).T.reshape(-1))
        return (*self._jacobian_places, np.concatenate(values))

    def scaled_by_jacobian(self, x: np.ndarray) -> Program:
        """The same with each row divided by its largest derivative towards a scaled unknown."""
        rows, columns, values = self.jacobian_values(x)
        largest = np.zeros(self.rows)
        np.maximum.at(largest, rows, np.abs(values * self.scale[columns]))
        sizes = np.where(largest > 0, largest, 1.0)
        return Program(self.blocks, self.size, self.scale, 1 / sizes)

    @cached_property
    def nonzeros(self) -> tuple[int, int]:
        """Entries of the Jacobian and of the upper triangle of the Hessian."""
        return len(self._jacobian_places[0]), self._hessian_pattern[0].nnz()

    @cached_property
    def _hessian_pattern(self) -> tuple[ca.Sparsity, ca.DM]:
        """Sparsity of the upper triangle, and the sums of block entries that its entries are."""
        rows, columns = [], []
        for block in self.blocks:
            _, r, c = block._curvature
            one, two = block.index[:, r].reshape(-1), block.index[:, c].reshape(-1)
            rows.append(np.minimum(one, two))
            columns.append(np.maximum(one, two))
        row, column = np.concatenate(rows), np.concatenate(columns)
        places, inverse = np.unique(column * self.size + row, return_inverse=True)
        pattern = _pattern(self.size, self.size, places % self.size, places // self.size)
        order = np.argsort(inverse, kind="stable")
        sums = ca.Sparsity(
            len(row),
            len(places),
            [0, *np.cumsum(np.bincount(inverse, minlength=len(places))).tolist()],
            order.tolist(),
        )
        scale = self.scale[row] * self.scale[column]
        return pattern, ca.DM(sums, ca.DM(scale[order])).T

    def functions(self) -> dict[str, ca.Function]:
        """``nlp``, ``grad_f``, ``jac_g`` and ``hess_lag`` in the form that IPOPT takes."""
        y, p = ca.MX.sym("x", self.size), ca.MX.sym("p", 0)
        weight, multipliers = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self.rows)
        x = y * ca.DM(self.scale)
        objective, gradient = ca.MX(0), ca.MX.zeros(self.size)
        rows, entries, curvatures = [], [], []
        for k, block in enumerate(self.blocks):
            z = block.gathered(x)
            data = ca.DM(block.values.T)
            costs, values = block._value.map(block.count)(z, data)
            objective = objective + ca.sum1(ca.sum2(costs))
            rows.append(ca.vec(values))
            slopes = block._gradient.map(block.count)(z, data)
            gradient = gradient + _added(block.index, self.size) @ ca.vec(slopes)
            entries.append(ca.vec(block._slope.map(block.count)(z, data)))
            own = slice(int(self.offsets[k]), int(self.offsets[k + 1]))
            lam = (multipliers * ca.DM(self.row_scale))[own]
            lam = ca.reshape(lam, block.rows.shape[0], block.count)
            weights = ca.repmat(weight, 1, block.count)
            function = block._curvature[0]
            curvatures.append(ca.vec(function.map(block.count)(z, data, weights, lam)))
        g = ca.vertcat(*rows) * ca.DM(self.row_scale)
        row, column = self._jacobian_places
        order = np.lexsort((row, column))
        sparsity = _pattern(self.rows, self.size, row[order], column[order])
        scale = (self.row_scale[row] * self.scale[column])[order]
        slope = ca.MX(sparsity, ca.vertcat(*entries)[order.tolist()] * ca.DM(scale))
        pattern, sums = self._hessian_pattern
        hessian = ca.MX(pattern, sums @ ca.vertcat(*curvatures))
        return {
            "nlp": ca.Function("nlp", [y, p], [objective, g], ["x", "p"], ["f", "g"]),
            "grad_f": ca.Function("grad_f", [y, p], [objective, gradient * ca.DM(self.scale)]),
            "jac_g": ca.Function("jac_g", [y, p], [g, slope]),
            "hess_lag": ca.Function("hess_lag", [y, p, weight, multipliers], [hessian]),
        }


def _pattern(rows: int, columns: int, row: np.ndarray, column: np.ndarray) -> ca.Sparsity:
    """The sparsity of entries that are sorted by column, then row."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=columns))])
    return ca.Sparsity(rows, columns, starts.tolist(), row.tolist())


def _added(index: np.ndarray, size: int) -> ca.DM:
    """The matrix that adds entries up at the unknowns they belong to."""
    flat = index.reshape(-1)
    starts = list(range(len(flat) + 1))
    return ca.DM(ca.Sparsity(size, len(flat), starts, flat.tolist()), np.ones(len(flat)))
