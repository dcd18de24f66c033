"""Branch-sparse factorization of the mass matrix: H = L^T D L without fill-in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from homodyn.dynamics.tree import Tree
from homodyn.spatial import Array, stack


@dataclass(frozen=True)
class MassFactor:
    """H = L^T D L with unit lower-triangular L whose row i is nonzero only at ancestors of i.

    Featherstone 2005. The pattern of H is that of the tree, so there is no fill-in.
    """

    L: dict[tuple[int, int], Array]
    reciprocal: list[Array]
    above: list[list[int]]

    def solve_transposed(self, b: Array) -> list[Array]:
        """Rows of L^-T b (Kieboom eq. 2.87 prints L^-1), for a vector or a matrix."""
        x = [b[k, :] for k in range(len(self.above))]
        for i in reversed(range(len(x))):
            for j in self.above[i]:
                x[j] = x[j] - self.L[i, j] * x[i]
        return x

    def solve_lower(self, x: list[Array]) -> Array:
        """L^-1 x, from the rows of x."""
        y = list(x)
        for i in range(len(y)):
            for j in self.above[i]:
                y[i] = y[i] - self.L[i, j] * y[j]
        return stack(*y)

    def solve(self, b: Array) -> Array:
        """H^-1 b for a vector or for each column of a matrix."""
        scaled = [x * d for x, d in zip(self.solve_transposed(b), self.reciprocal, strict=True)]
        return self.solve_lower(scaled)

    def inverse(self) -> Array:
        """H^-1, with each pair of symmetric entries computed once."""
        full = self.solve(ca.SX.eye(len(self.above)))
        return ca.triu2symm(ca.triu(full))


def factorize_mass_matrix(tree: Tree, H: Array) -> MassFactor:
    """The factor of a mass matrix, following its pattern of nonzeros."""
    n = H.shape[0]
    entries: dict[tuple[int, int], Any] = {}
    above: list[list[int]] = []
    filled = [{j for j in range(i) if H.has_nz(i, j)} for i in range(n)]
    for i in reversed(range(n)):
        # Coupled coordinates can connect branches: keep their fill-in.
        for j in filled[i]:
            filled[j] |= {k for k in filled[i] if k < j}
    for i in range(n):
        above.append(sorted(filled[i], reverse=True))
        for j in [i, *above[i]]:
            entries[i, j] = H[i, j]
    reciprocal: list[Array] = [0.0] * n
    for k in reversed(range(n)):
        reciprocal[k] = pivot_reciprocal(entries[k, k])
        for i in above[k]:
            a = entries[k, i] * reciprocal[k]
            for j in [i, *[m for m in above[i] if m in filled[k]]]:
                entries[i, j] = entries[i, j] - a * entries[k, j]
            entries[k, i] = a
    L = {key: entry for key, entry in entries.items() if key[0] != key[1]}
    return MassFactor(L, reciprocal, above)


def pivot_reciprocal(pivot: Array) -> Array:
    """1 / pivot for a positive pivot, as a number to multiply with.

    CasADi rewrites x (1 / p) as x / p, and a division takes many times as long as a product. The
    comparison is 1, and its quotient is not rewritten.
    """
    return (pivot > 0) / pivot
