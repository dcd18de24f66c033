"""Lemke's complementary pivoting with the lexicographic rule, so that degenerate steps end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class LemkeResult(NamedTuple):
    """z with w = M z + q, both non-negative and orthogonal; None when pivoting ended in a ray."""

    z: np.ndarray | None
    pivots: int
    finished: bool
    """False when the number of pivots ran out."""


def lemke(M: np.ndarray, q: np.ndarray, *, pivots: int | None = None) -> LemkeResult:
    """Solve the linear complementarity problem z >= 0, w = M z + q >= 0, z . w = 0.

    For copositive-plus M (all friction problems with polyhedral cones are) a ray means that there
    is no solution (Cottle, Pang and Stone 1992, theorem 4.4.13).
    """
    n = len(q)
    if n == 0 or q.min() >= 0:
        return LemkeResult(np.zeros(n), 0, True)
    limit = 50 * (n + 1) if pivots is None else pivots
    artificial = 2 * n
    # Columns: w (the inverse of the basis as it changes), z, the artificial variable, the constant.
    T = np.hstack([np.eye(n), -M, -np.ones((n, 1)), q[:, None]]).astype(float)
    basis = np.arange(n)
    row = _lexicographic_least(T[:, [-1, *range(n)]], np.arange(n))
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
        able = np.nonzero(column > 1e-11 * max(1.0, np.abs(column).max()))[0]
        if len(able) == 0:
            return LemkeResult(None, count, True)
        ratios = T[np.ix_(able, [T.shape[1] - 1, *range(n)])] / column[able, None]
        # The artificial variable leaves as soon as it may.
        first = ratios[:, 0].min()
        tied = able[ratios[:, 0] <= first + 1e-12 * max(1.0, abs(first))]
        at = np.nonzero(basis[tied] == artificial)[0]
        row = int(tied[at[0]]) if len(at) else _lexicographic_least(ratios, able)
    return LemkeResult(None, limit, False)


def _lexicographic_least(ratios: np.ndarray, rows: np.ndarray) -> int:
    left = np.arange(len(rows))
    for column in range(ratios.shape[1]):
        values = ratios[left, column]
        left = left[values <= values.min() + 1e-13 * max(1.0, np.abs(values).max())]
        if len(left) == 1:
            break
    return int(rows[left[0]])


def _pivot(T: np.ndarray, row: int, column: int) -> None:
    T[row] /= T[row, column]
    factors = T[:, column].copy()
    factors[row] = 0.0
    T -= np.outer(factors, T[row])
