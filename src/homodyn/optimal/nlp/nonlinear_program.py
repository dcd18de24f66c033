"""The nonlinear program that blocks add up to: values and sparse derivatives.

Variables and rows are scaled, so that their derivatives are about one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from homodyn.optimal.transcription.block import Block
from homodyn.symbolic.lazy_kernel import LazyKernel

HessianKind = Literal["exact", "gauss-newton"]
"""Kind of second derivatives for the solver."""
SolverName = Literal["ipopt", "fatrop"]
"""Solvers by name."""


class NonlinearProgram:
    """``min f(x), lower <= g(x) <= upper``, its derivatives, and a label for each row.

    The solver sees ``x / scale`` and ``g * row_scale``.
    """

    def __init__(
        self,
        blocks: list[Block],
        size: int,
        scale: np.ndarray,
        row_scale: np.ndarray | None = None,
        hessian: HessianKind = "exact",
    ) -> None:
        self.blocks = blocks
        self.size = size
        self.scale = scale
        self.hessian = hessian
        self.offsets = np.cumsum([0, *(b.count * b.rows.shape[0] for b in blocks)])
        self.rows = int(self.offsets[-1])
        self.row_scale = np.ones(self.rows) if row_scale is None else row_scale
        self.lower = np.concatenate([b.lower.reshape(-1) for b in blocks] or [np.zeros(0)])
        self.upper = np.concatenate([b.upper.reshape(-1) for b in blocks] or [np.zeros(0)])

    def evaluate(self, x: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        """Costs of each block (points, terms), and all rows, for unscaled variables."""
        results = [block.evaluate(x) for block in self.blocks]
        rows = [rows.reshape(-1) for _, rows in results]
        return [costs for costs, _ in results], np.concatenate(rows or [np.zeros(0)])

    def row_label(self, row: int) -> tuple[str, str]:
        """Point and name of a row."""
        k = int(np.searchsorted(self.offsets, row, side="right")) - 1
        block = self.blocks[k]
        point, entry = divmod(row - int(self.offsets[k]), block.rows.shape[0])
        return block.point_labels[point], block.row_names[entry]

    # -- first derivatives

    def first_derivatives(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Entries of the gradients of all blocks, and of their Jacobians, unscaled."""
        results = [block.jacobian(x[block.index], block.values) for block in self.blocks]
        gradients, entries = ([r[k].reshape(-1) for r in results] for k in (0, 1))
        none = [np.zeros(0)]
        return np.concatenate(gradients or none), np.concatenate(entries or none)

    @cached_property
    def gradient_sums(self) -> csr_array:
        """The matrix that adds up entries of gradients by decision variable."""
        flat = np.concatenate([b.index.reshape(-1) for b in self.blocks] or [np.zeros(0, int)])
        entries = (self.scale[flat], (flat, np.arange(len(flat))))
        return csr_array(entries, shape=(self.size, len(flat)))

    @cached_property
    def jacobian_entries(self) -> tuple[np.ndarray, np.ndarray]:
        """Row and column of each entry of the Jacobians of all blocks."""
        rows, columns = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
        for block, offset in zip(self.blocks, self.offsets, strict=False):
            r, c = block.jacobian.entries
            first = offset + np.arange(block.count)[:, None] * block.rows.shape[0]
            rows.append((first + r).reshape(-1))
            columns.append(block.index[:, c].reshape(-1))
        return np.concatenate(rows), np.concatenate(columns)

    def scaled_by_jacobian(self, x: np.ndarray) -> NonlinearProgram:
        """The same with each row divided by its largest derivative in a scaled variable."""
        rows, columns = self.jacobian_entries
        _, values = self.first_derivatives(x)
        largest = np.zeros(self.rows)
        np.maximum.at(largest, rows, np.abs(values * self.scale[columns]))
        sizes = np.where(largest > 0, largest, 1.0)
        return NonlinearProgram(self.blocks, self.size, self.scale, 1 / sizes, self.hessian)

    def with_hessian(self, hessian: HessianKind) -> NonlinearProgram:
        """The same with another kind of second derivatives."""
        return NonlinearProgram(self.blocks, self.size, self.scale, self.row_scale, hessian)

    # -- second derivatives

    @property
    def hessian_kernels(self) -> list[LazyKernel]:
        """The kernels of second derivatives, one for each block."""
        exact = self.hessian == "exact"
        return [block.hessian if exact else block.gauss_newton for block in self.blocks]

    def second_derivatives(
        self, x: np.ndarray, weight: float, multipliers: np.ndarray
    ) -> np.ndarray:
        """Entries of the Hessians of all blocks, unscaled."""
        values = [np.zeros(0)]
        for k, (block, kernel) in enumerate(zip(self.blocks, self.hessian_kernels, strict=True)):
            if not kernel.entries.shape[1]:
                continue
            given = [x[block.index], block.values, np.full((block.count, 1), weight)]
            if self.hessian == "exact":
                own = slice(int(self.offsets[k]), int(self.offsets[k + 1]))
                given.append(multipliers[own].reshape(block.count, -1))
            values.append(kernel(*given)[0].reshape(-1))
        return np.concatenate(values)

    @cached_property
    def hessian_sums(self) -> tuple[np.ndarray, np.ndarray, csr_array]:
        """Rows and columns of the upper triangle, sorted by column, and the matrix of sums."""
        rows, columns = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
        for block, kernel in zip(self.blocks, self.hessian_kernels, strict=True):
            r, c = kernel.entries
            one, two = block.index[:, r].reshape(-1), block.index[:, c].reshape(-1)
            rows.append(np.minimum(one, two))
            columns.append(np.maximum(one, two))
        row, column = np.concatenate(rows), np.concatenate(columns)
        places, inverse = np.unique(column * self.size + row, return_inverse=True)
        entries = (self.scale[row] * self.scale[column], (inverse, np.arange(len(row))))
        sums = csr_array(entries, shape=(len(places), len(row)))
        return places % self.size, places // self.size, sums

    @property
    def nonzeros(self) -> tuple[int, int]:
        """Number of nonzeros of the Jacobian and of the upper triangle of the Hessian."""
        return len(self.jacobian_entries[0]), len(self.hessian_sums[0])

    # -- native code

    @property
    def kernels(self) -> list[LazyKernel]:
        """All distinct functions that a solver calls, second derivatives last."""
        firsts = [k for block in self.blocks for k in (block.value, block.jacobian)]
        wanted = [*firsts, *(kernel for kernel in self.hessian_kernels if kernel.entries.shape[1])]
        bare = (getattr(kernel, "kernel", kernel) for kernel in wanted)
        return list({kernel.identity: kernel for kernel in bare}.values())
