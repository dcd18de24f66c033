"""Elimination of unsymmetric matrices with the pattern of a mass matrix, without fill-in.

The equations of a step have this pattern, but where the friction of a sliding contact follows its
normal force they are not symmetric. Coordinates are eliminated from the leaves inward, as in
`homodyn.dynamics.mass_factor`, without pivoting.
"""

from __future__ import annotations

from collections.abc import Mapping

from homodyn.dynamics.mass_factor import pivot_reciprocal
from homodyn.spatial import Array, stack

Entries = dict[tuple[int, int], Array]
"""Entries of a matrix by row and column."""


def solve_along_tree(matrix: Mapping[tuple[int, int], Array], b: Array) -> Array:
    """The solution x of ``A x = b`` for a matrix with a symmetric pattern.

    Args:
        matrix: Entries of A by row and column; both (i, j) and (j, i), or neither, are present.
        b: Right-hand side, (n,).

    Returns:
        x, (n,).
    """
    n = b.numel()
    entries: Entries = dict(matrix)
    above = [{j for j in range(i) if (i, j) in entries} for i in range(n)]
    for i in reversed(range(n)):
        # Rows of two bodies can connect branches: keep their fill-in.
        for j in above[i]:
            above[j] |= {k for k in above[i] if k < j}
    x: list[Array] = [b[k] for k in range(n)]
    reciprocal: list[Array] = [0.0] * n
    for k in reversed(range(n)):
        ancestors = sorted(above[k], reverse=True)
        # Where friction almost cancels a pivot its sign is kept; the step is then not accepted.
        reciprocal[k] = pivot_reciprocal(entries[k, k])
        for i in ancestors:
            if (i, k) not in entries:
                continue
            factor = entries[i, k] * reciprocal[k]
            x[i] = x[i] - factor * x[k]
            for j in ancestors:
                if (k, j) in entries:
                    product = factor * entries[k, j]
                    entries[i, j] = entries[i, j] - product if (i, j) in entries else -product
    for k in range(n):
        for j in sorted(above[k], reverse=True):
            if (k, j) in entries:
                x[k] = x[k] - entries[k, j] * x[j]
        x[k] = x[k] * reciprocal[k]
    return stack(*x)
