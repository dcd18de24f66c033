"""Vertices of a set given by inequalities: by duality a convex hull, after the traps are cleared.

Rows are normalised first: rows of unlike lengths are what makes other programs call a set empty or
endless that is neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space

from homodyn.balance.polytopes.convex_hull import convex_hull
from homodyn.balance.polytopes.linear_program import Infeasible, Unbounded, maximize
from homodyn.errors import NoSolution

RELATIVE_FLATNESS = 1e-10
"""A set whose largest ball is smaller than this share of its size is flat."""


@dataclass(frozen=True, eq=False)
class VertexEnumeration:
    """Rows that matter, equations and vertices."""

    A: np.ndarray
    b: np.ndarray
    E: np.ndarray
    e: np.ndarray
    vertices: np.ndarray


def normalize_rows(
    A: Sequence[Sequence[float]] | np.ndarray, b: Sequence[float] | np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows scaled to norm one; a row of zeros is dropped when true and refused when not."""
    A = np.atleast_2d(np.asarray(A, dtype=float))
    b = np.zeros(len(A)) if b is None else np.asarray(b, dtype=float).reshape(-1)
    if len(b) != len(A):
        raise NoSolution(f"{len(A)} rows need as many bounds, got {len(b)}")
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise NoSolution("a row of the inequalities is not finite")
    # Two steps: the squares of tiny entries would vanish.
    largest = np.abs(A).max(axis=1, initial=0.0)
    empty = largest == 0
    if (b[empty] < 0).any():
        first = int(np.flatnonzero(empty & (b < 0))[0])
        proof = np.eye(len(A))[first]
        raise Infeasible(f"row {first} says 0 <= {b[first]:g}", proof, np.zeros(0))
    A, b = A[~empty] / largest[~empty, None], b[~empty] / largest[~empty]
    length = np.linalg.norm(A, axis=1)
    return A / length[:, None], b / length


def enumerate_vertices(
    A: np.ndarray, b: np.ndarray, E: np.ndarray, e: np.ndarray
) -> VertexEnumeration:
    """Vertices and needed rows of ``{x | A x <= b, E x = e}``, rows of norm one."""
    n = A.shape[1]
    start, basis = _plane(E, e, n)
    if basis.shape[1] < n:
        inner, free = A @ basis, b - A @ start
        kept = np.linalg.norm(inner, axis=1) > 1e-12
        if (free[~kept] < -1e-9 * max(np.abs(b).max(initial=0.0), 1.0)).any():
            raise Infeasible("a row contradicts the equations", np.zeros(0), np.zeros(0))
        if basis.shape[1] == 0:
            return VertexEnumeration(
                np.zeros((0, n)), np.zeros(0), np.eye(n), np.eye(n) @ start, start[None]
            )
        scaled, bounds = normalize_rows(inner[kept], free[kept])
        none = np.zeros((0, basis.shape[1]))
        found = enumerate_vertices(scaled, bounds, none, np.zeros(0))
        return _embed(found, start, basis)
    center, radius, size = chebyshev_center(A, b)
    _require_bounded(A)
    if radius <= RELATIVE_FLATNESS * size:
        tight = _always_tight(A, b, center, size)
        normals = A[tight]
        if not len(normals):
            raise NoSolution("the set is flat, but no row says in which direction")
        return enumerate_vertices(A[~tight], b[~tight], *_independent(normals, normals @ center))
    polar = A / (b - A @ center)[:, None]
    dual = convex_hull(polar)
    if len(dual.E):
        raise Unbounded("the set has no end in some direction")
    return VertexEnumeration(
        A[dual.vertices],
        b[dual.vertices],
        np.zeros((0, n)),
        np.zeros(0),
        center + dual.A / dual.b[:, None],
    )


def chebyshev_center(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Centre and radius of a largest ball in ``A x <= b``, and the size of the set around it.

    The size is the distance of the farthest row from the centre. ``Infeasible`` when it is empty.
    """
    n = A.shape[1]
    scale = float(np.abs(b).max(initial=0.0)) or 1.0
    # A ball may be as large as it likes in a set without end: the last row stops it.
    rows = np.vstack([np.c_[A, np.ones(len(A))], np.r_[np.zeros(n), 1.0]])
    found = maximize(np.r_[np.zeros(n), 1.0], rows, np.r_[b / scale, 10.0])
    center, radius = found.x[:n] * scale, float(found.x[n] * scale)
    size = float(np.abs(b - A @ center).max(initial=0.0)) or 1.0
    if radius < -1e-9 * size:
        multipliers = found.rows[:-1]
        raise Infeasible("no point satisfies all rows: the set is empty", multipliers, np.zeros(0))
    return center, max(radius, 0.0), size


def _require_bounded(A: np.ndarray) -> None:
    """A set ends iff positive multiples of all rows sum to zero and the rows span the space."""
    n = A.shape[1]
    if np.linalg.matrix_rank(A, tol=1e-12) < n:
        direction = null_space(A, rcond=1e-12)[:, 0] if len(A) else np.eye(n)[0]
        raise Unbounded("the set has no end: no row stops some direction", direction)
    m = len(A)
    # y >= t for all rows, y <= 1, A' y = 0: the largest t is positive iff the set ends.
    rows = np.vstack(
        [np.c_[-np.eye(m), np.ones(m)], np.c_[np.eye(m), np.zeros(m)], np.r_[np.zeros(m), 1.0]]
    )
    bounds = np.r_[np.zeros(m), np.ones(m), 1.0]
    found = maximize(np.r_[np.zeros(m), 1.0], rows, bounds, np.c_[A.T, np.zeros(n)], np.zeros(n))
    if found.value > 1e-12:
        return
    for axis in np.vstack([np.eye(n), -np.eye(n)]):
        try:
            maximize(axis, A, np.zeros(m))
        except Unbounded as error:
            raise Unbounded("the set has no end", error.direction) from None


def _always_tight(A: np.ndarray, b: np.ndarray, center: np.ndarray, size: float) -> np.ndarray:
    """(rows,): True for rows that no point of a flat set satisfies strictly.

    Max sum(s) subject to A x + s <= left t, 0 <= s <= 1, t >= 1: blown up by t, every row that some
    point satisfies strictly leaves room for s = 1, and for all of them at once.
    """
    m, n = A.shape
    left = np.maximum(b - A @ center, 0.0) / size
    left = np.where(left > 1e-10, left, 0.0)
    none, column = np.zeros((m, n)), np.zeros((m, 1))
    rows = np.vstack(
        [
            np.c_[A, np.eye(m), -left],
            np.c_[none, np.eye(m), column],
            np.c_[none, -np.eye(m), column],
            np.r_[np.zeros(n + m), -1.0],
        ]
    )
    bounds = np.r_[np.zeros(m), np.ones(m), np.zeros(m), -1.0]
    found = maximize(np.r_[np.zeros(n), np.ones(m), 0.0], rows, bounds)
    return np.asarray(found.x[n : n + m] <= 0.5)


def _independent(E: np.ndarray, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal equations that say the same."""
    left, values, axes = np.linalg.svd(E, full_matrices=False)
    kept = values > 1e-9 * values.max(initial=0.0)
    return axes[kept], (left.T @ e)[kept] / values[kept]


def _plane(E: np.ndarray, e: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A point of ``E x = e`` and an orthonormal basis (n, k) of its directions."""
    if not len(E):
        return np.zeros(n), np.eye(n)
    own, height = _independent(E, e)
    start = own.T @ height
    if np.abs(E @ start - e).max() > 1e-9 * max(np.abs(e).max(), 1.0):
        raise Infeasible("the equations contradict each other", np.zeros(0), np.zeros(0))
    basis = null_space(own) if len(own) < n else np.zeros((n, 0))
    return start, basis


def _embed(found: VertexEnumeration, start: np.ndarray, basis: np.ndarray) -> VertexEnumeration:
    """A set in a plane, told in the space around it."""
    A = found.A @ basis.T
    E = np.vstack([null_space(basis.T).T, found.E @ basis.T])
    e = np.r_[E[: len(E) - len(found.E)] @ start, found.e + (found.E @ basis.T) @ start]
    return VertexEnumeration(A, found.b + A @ start, E, e, start + found.vertices @ basis.T)
