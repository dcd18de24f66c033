"""Lemke's complementary pivoting with the lexicographic rule, which prevents cycling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class LemkeResult(NamedTuple):
    """The result of Lemke's algorithm."""

    z: np.ndarray | None
    """z with w = M z + q, both non-negative and orthogonal; None if pivoting ended in a ray."""
    pivots: int
    """Number of pivots."""
    finished: bool
    """False if the limit of pivots was reached."""


def lemke(M: np.ndarray, q: np.ndarray, *, pivots: int | None = None) -> LemkeResult:
    """Solve the linear complementarity problem z >= 0, w = M z + q >= 0, z . w = 0.

    For copositive-plus M, as in all friction problems with polyhedral cones, a ray means that there
    is no solution (Cottle, Pang and Stone 1992, theorem 4.4.13).

    Args:
        M: (n, n).
        q: (n,).
        pivots: Maximum number of pivots; None for 50 (n + 1).

    Returns:
        The solution, or None after a ray.
    """
    n = len(q)
    if n == 0 or q.min() >= 0:
        return LemkeResult(np.zeros(n), 0, True)
    limit = 50 * (n + 1) if pivots is None else pivots
    artificial = 2 * n
    # Columns: w (the inverse of the current basis), z, the artificial variable, the constant.
    T = np.hstack([np.eye(n), -M, -np.ones((n, 1)), q[:, None]]).astype(float)
    basis = np.arange(n)
    row = _lexicographic_minimum(T[:, [-1, *range(n)]], np.arange(n))
    entering = artificial
    for count in range(1, limit + 1):
        leaving = basis[row]
        _pivot(T, row, entering)
        basis[row] = entering
        if leaving == artificial:
            z = np.zeros(n)
            inside = (basis >= n) & (basis < artificial)
            z[basis[inside] - n] = T[inside, -1]
            return LemkeResult(np.maximum(z, 0.0), count, True)
        entering = leaving + n if leaving < n else leaving - n
        column = T[:, entering]
        candidates = np.nonzero(column > 1e-11 * max(1.0, np.abs(column).max()))[0]
        if len(candidates) == 0:
            return LemkeResult(None, count, True)
        ratios = T[np.ix_(candidates, [T.shape[1] - 1, *range(n)])] / column[candidates, None]
        # The artificial variable leaves the basis as soon as possible.
        first = ratios[:, 0].min()
        tied = candidates[ratios[:, 0] <= first + 1e-12 * max(1.0, abs(first))]
        at = np.nonzero(basis[tied] == artificial)[0]
        row = int(tied[at[0]]) if len(at) else _lexicographic_minimum(ratios, candidates)
    return LemkeResult(None, limit, False)


def _lexicographic_minimum(ratios: np.ndarray, rows: np.ndarray) -> int:
    """The row with the lexicographically smallest ratios."""
    tied = np.arange(len(rows))
    for column in range(ratios.shape[1]):
        values = ratios[tied, column]
        tied = tied[values <= values.min() + 1e-13 * max(1.0, np.abs(values).max())]
        if len(tied) == 1:
            break
    return int(rows[tied[0]])


def _pivot(T: np.ndarray, row: int, column: int) -> None:
    T[row] /= T[row, column]
    factors = T[:, column].copy()
    factors[row] = 0.0
    T -= np.outer(factors, T[row])
