"""Elimination of unsymmetric matrices with the pattern of a mass matrix, without fill-in.

The equations of a step have this pattern, but where the friction of a sliding contact follows its
normal force they are not symmetric. Coordinates are eliminated from the leaves inward, as in
`homodyn.dynamics.mass_factor`, without pivoting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from homodyn.dynamics.mass_factor import pivot_reciprocal
from homodyn.spatial import Array, stack

Entries = dict[tuple[int, int], Array]
"""Entries of a matrix by row and column."""


@dataclass(frozen=True, eq=False)
class TreeElimination:
    """Factors of a matrix with a symmetric pattern, A = U L with a unit upper triangle."""

    entries: Entries
    """Factors above the diagonal, and the eliminated rows below and on it."""
    above: list[set[int]]
    """Columns to the left of the diagonal with an entry, by row."""
    reciprocal: list[Array]
    """One over each pivot."""

    def solve(self, b: Array) -> Array:
        """The solution x of ``A x = b``.

        Args:
            b: Right-hand side, (n,).

        Returns:
            x, (n,).
        """
        x: list[Array] = [b[k] for k in range(len(self.above))]
        for k in reversed(range(len(x))):
            for i in sorted(self.above[k], reverse=True):
                if (i, k) in self.entries:
                    x[i] = x[i] - self.entries[i, k] * x[k]
        for k in range(len(x)):
            for j in sorted(self.above[k], reverse=True):
                if (k, j) in self.entries:
                    x[k] = x[k] - self.entries[k, j] * x[j]
            x[k] = x[k] * self.reciprocal[k]
        return stack(*x)


def eliminate_along_tree(
    matrix: Mapping[tuple[int, int], Array], n: int, *, any_sign: bool = False
) -> TreeElimination:
    """Factorize a matrix with a symmetric pattern.

    Args:
        matrix: Entries of A by row and column; both (i, j) and (j, i), or neither, are present.
        n: Number of rows.
        any_sign: Whether negative pivots count as well. Friction that follows a normal force makes
            them regularly; by default they count as zero, and the solution is then useless.

    Returns:
        The factors.
    """
    entries: Entries = dict(matrix)
    above = [{j for j in range(i) if (i, j) in entries} for i in range(n)]
    for i in reversed(range(n)):
        # Rows of two bodies can connect branches: keep their fill-in.
        for j in above[i]:
            above[j] |= {k for k in above[i] if k < j}
    reciprocal: list[Array] = [0.0] * n
    for k in reversed(range(n)):
        ancestors = sorted(above[k], reverse=True)
        pivot = entries[k, k]
        # As in `pivot_reciprocal`, the comparison keeps CasADi from dividing by the pivot later.
        reciprocal[k] = (pivot != 0) / pivot if any_sign else pivot_reciprocal(pivot)
        for i in ancestors:
            if (i, k) not in entries:
                continue
            factor = entries[i, k] = entries[i, k] * reciprocal[k]
            for j in ancestors:
                if (k, j) in entries:
                    product = factor * entries[k, j]
                    entries[i, j] = entries[i, j] - product if (i, j) in entries else -product
    return TreeElimination(entries, above, reciprocal)


def solve_along_tree(matrix: Mapping[tuple[int, int], Array], b: Array) -> Array:
    """The solution x of ``A x = b`` for a matrix with a symmetric pattern.

    Args:
        matrix: Entries of A by row and column; both (i, j) and (j, i), or neither, are present.
        b: Right-hand side, (n,).

    Returns:
        x, (n,).
    """
    return eliminate_along_tree(matrix, b.numel()).solve(b)
