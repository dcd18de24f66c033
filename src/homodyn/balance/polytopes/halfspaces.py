"""Vertex enumeration of a set given by inequalities, by duality as a convex hull.

Rows are normalized first: with rows of very different norms other programs misjudge sets as empty
or unbounded.
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
"""A set whose largest inscribed ball is smaller than this fraction of its size is flat."""


@dataclass(frozen=True, eq=False)
class VertexEnumeration:
    """Irredundant rows, equations and vertices."""

    A: np.ndarray
    b: np.ndarray
    E: np.ndarray
    e: np.ndarray
    vertices: np.ndarray


def normalize_rows(
    A: Sequence[Sequence[float]] | np.ndarray, b: Sequence[float] | np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows scaled to norm one; a row of zeros is dropped, or refused if its bound is negative."""
    A = np.atleast_2d(np.asarray(A, dtype=float))
    b = np.zeros(len(A)) if b is None else np.asarray(b, dtype=float).reshape(-1)
    if len(b) != len(A):
        raise NoSolution(f"{len(A)} rows need as many bounds, got {len(b)}")
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise NoSolution("a row of the inequalities is not finite")
    # Two steps, because the squares of very small entries underflow.
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
    """Vertices and irredundant rows of ``{x | A x <= b, E x = e}``, rows of norm one."""
    n = A.shape[1]
    start, basis = _plane(E, e, n)
    if basis.shape[1] < n:
        inner, slack = A @ basis, b - A @ start
        nonzero = np.linalg.norm(inner, axis=1) > 1e-12
        if (slack[~nonzero] < -1e-9 * max(np.abs(b).max(initial=0.0), 1.0)).any():
            raise Infeasible("a row contradicts the equations", np.zeros(0), np.zeros(0))
        if basis.shape[1] == 0:
            return VertexEnumeration(
                np.zeros((0, n)), np.zeros(0), np.eye(n), np.eye(n) @ start, start[None]
            )
        scaled, bounds = normalize_rows(inner[nonzero], slack[nonzero])
        no_equations = np.zeros((0, basis.shape[1]))
        reduced = enumerate_vertices(scaled, bounds, no_equations, np.zeros(0))
        return _embed(reduced, start, basis)
    center, radius, size = chebyshev_center(A, b)
    _require_bounded(A)
    if radius <= RELATIVE_FLATNESS * size:
        tight = _always_tight(A, b, center, size)
        normals = A[tight]
        if not len(normals):
            raise NoSolution("the set is flat, but no row determines the direction")
        return enumerate_vertices(A[~tight], b[~tight], *_independent(normals, normals @ center))
    polar = A / (b - A @ center)[:, None]
    dual = convex_hull(polar)
    if len(dual.E):
        raise Unbounded("the set is unbounded in some direction")
    return VertexEnumeration(
        A[dual.vertices],
        b[dual.vertices],
        np.zeros((0, n)),
        np.zeros(0),
        center + dual.A / dual.b[:, None],
    )


def chebyshev_center(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Center and radius of a largest ball in ``A x <= b``, and the size of the set around it.

    The size is the distance of the farthest row from the center. `Infeasible` if the set is empty.
    """
    n = A.shape[1]
    scale = float(np.abs(b).max(initial=0.0)) or 1.0
    # The last row limits the ball, which could grow without bound in an unbounded set.
    rows = np.vstack([np.c_[A, np.ones(len(A))], np.r_[np.zeros(n), 1.0]])
    optimum = maximize(np.r_[np.zeros(n), 1.0], rows, np.r_[b / scale, 10.0])
    center, radius = optimum.x[:n] * scale, float(optimum.x[n] * scale)
    size = float(np.abs(b - A @ center).max(initial=0.0)) or 1.0
    if radius < -1e-9 * size:
        multipliers = optimum.rows[:-1]
        raise Infeasible("no point satisfies all rows: the set is empty", multipliers, np.zeros(0))
    return center, max(radius, 0.0), size


def _require_bounded(A: np.ndarray) -> None:
    """A set is bounded iff the rows have full rank and positive multiples of all sum to zero."""
    n = A.shape[1]
    if np.linalg.matrix_rank(A, tol=1e-12) < n:
        direction = null_space(A, rcond=1e-12)[:, 0] if len(A) else np.eye(n)[0]
        raise Unbounded("the set is unbounded: no row limits some direction", direction)
    m = len(A)
    # y >= t for all rows, y <= 1, A' y = 0: the largest t is positive iff the set is bounded.
    rows = np.vstack(
        [np.c_[-np.eye(m), np.ones(m)], np.c_[np.eye(m), np.zeros(m)], np.r_[np.zeros(m), 1.0]]
    )
    bounds = np.r_[np.zeros(m), np.ones(m), 1.0]
    optimum = maximize(np.r_[np.zeros(m), 1.0], rows, bounds, np.c_[A.T, np.zeros(n)], np.zeros(n))
    if optimum.value > 1e-12:
        return
    for axis in np.vstack([np.eye(n), -np.eye(n)]):
        try:
            maximize(axis, A, np.zeros(m))
        except Unbounded as error:
            raise Unbounded("the set is unbounded", error.direction) from None


def _always_tight(A: np.ndarray, b: np.ndarray, center: np.ndarray, size: float) -> np.ndarray:
    """(rows,): True for rows that no point of a flat set satisfies strictly.

    Max sum(s) subject to A x + s <= slack t, 0 <= s <= 1, t >= 1: scaled by t, every row that some
    point satisfies strictly admits s = 1, and all such rows at once.
    """
    m, n = A.shape
    slack = np.maximum(b - A @ center, 0.0) / size
    slack = np.where(slack > 1e-10, slack, 0.0)
    block, column = np.zeros((m, n)), np.zeros((m, 1))
    rows = np.vstack(
        [
            np.c_[A, np.eye(m), -slack],
            np.c_[block, np.eye(m), column],
            np.c_[block, -np.eye(m), column],
            np.r_[np.zeros(n + m), -1.0],
        ]
    )
    bounds = np.r_[np.zeros(m), np.ones(m), np.zeros(m), -1.0]
    optimum = maximize(np.r_[np.zeros(n), np.ones(m), 0.0], rows, bounds)
    return np.asarray(optimum.x[n : n + m] <= 0.5)


def _independent(E: np.ndarray, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equivalent equations with orthonormal rows."""
    left, values, axes = np.linalg.svd(E, full_matrices=False)
    nonzero = values > 1e-9 * values.max(initial=0.0)
    return axes[nonzero], (left.T @ e)[nonzero] / values[nonzero]


def _plane(E: np.ndarray, e: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A point of ``E x = e`` and an orthonormal basis (n, k) of its directions."""
    if not len(E):
        return np.zeros(n), np.eye(n)
    rows, offsets = _independent(E, e)
    start = rows.T @ offsets
    if np.abs(E @ start - e).max() > 1e-9 * max(np.abs(e).max(), 1.0):
        raise Infeasible("the equations contradict each other", np.zeros(0), np.zeros(0))
    basis = null_space(rows) if len(rows) < n else np.zeros((n, 0))
    return start, basis


def _embed(inner: VertexEnumeration, start: np.ndarray, basis: np.ndarray) -> VertexEnumeration:
    """A set in a plane, expressed in the surrounding space."""
    A = inner.A @ basis.T
    E = np.vstack([null_space(basis.T).T, inner.E @ basis.T])
    e = np.r_[E[: len(E) - len(inner.E)] @ start, inner.e + (inner.E @ basis.T) @ start]
    return VertexEnumeration(A, inner.b + A @ start, E, e, start + inner.vertices @ basis.T)
