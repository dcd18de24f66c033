"""Affine images of polytopes given by inequalities or by a support function, without vertices.

Ray shooting: the hull of a few points of the image is an inner approximation. For the normal of
each of its facets the support function gives the extent of the image. If the image extends beyond
the facet, a new point is found; otherwise the facet is one of the image, and the dual of the
support function proves it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn.balance.polytopes.convex_hull import Hull, convex_hull, whiten
from homodyn.balance.polytopes.linear_program import Optimum, maximize
from homodyn.balance.polytopes.polytope import Polytope
from homodyn.errors import NoSolution
from homodyn.foundation.record import Record, record

SupportFunction = Callable[[np.ndarray], np.ndarray]
"""For directions (m, n), the extreme points (m, n) of a set along each direction."""
RELATIVE_GAIN = 1e-8
"""Fraction of the width of a set by which a point must lie outside to count as new."""
CHUNK_DIRECTIONS = 1000
"""Directions evaluated before the number of vertices is compared with its limit."""
MAX_ROUNDS = 200


class TooManyVertices(NoSolution):
    """A set has more vertices than the limit."""


@record
class PolytopeProjection(Record):
    """The image of ``{x | A x <= b, E x = e}`` under ``y = M x + shift``, with its proof.

    ``preimages[k]`` satisfies the rows and maps to vertex k. ``rows[k] >= 0`` and ``equations[k]``
    prove facet k: ``rows' A + equations' E = facet' M`` and ``rows' b + equations' e + facet'
    shift`` is its bound.
    """

    polytope: Polytope
    preimages: np.ndarray
    """(vertices, n)."""
    rows: np.ndarray
    """(facets, rows of A): multipliers."""
    equations: np.ndarray
    """(facets, rows of E): multipliers."""


def project(
    A: np.ndarray,
    b: np.ndarray,
    M: np.ndarray,
    shift: np.ndarray | float = 0.0,
    *,
    E: np.ndarray | None = None,
    e: np.ndarray | None = None,
    max_vertices: int | None = None,
) -> PolytopeProjection:
    """Compute the image of ``{x | A x <= b, E x = e}`` under ``y = M x + shift`` by ray shooting.

    Each vertex and facet of the image takes one linear program. The vertices of the original set,
    of which there may be very many, are not enumerated.

    Args:
        A: Inequality rows, (rows, n).
        b: Inequality bounds, (rows,).
        M: Linear map, (m, n).
        shift: Translation of the image, (m,) or a number.
        E: Equation rows, (equations, n); None for no equations.
        e: Right-hand sides of the equations, (equations,).
        max_vertices: Maximum number of vertices of the image; None for no limit.

    Returns:
        The image, a preimage of every vertex and the multipliers that prove every facet.

    Raises:
        Infeasible: The set is empty.
        Unbounded: The image is unbounded.
        NoSolution: The image has more than ``max_vertices`` vertices, or the proof of a vertex
            fails.
    """
    M = np.asarray(M, dtype=float)

    def extreme(direction: np.ndarray) -> Optimum:
        return maximize(direction @ M, A, b, E, e)

    def support(directions: np.ndarray) -> np.ndarray:
        return np.array([M @ extreme(d).x for d in directions]) + shift

    shape = polytope_from_support_function(support, len(M), max_vertices=max_vertices)
    optima = [extreme(row) for row in shape.A]
    tolerance = 1e-6 * max(shape.size, 1e-300)
    preimages = [extreme(_vertex_direction(shape, k)).x for k in range(len(shape.vertices))]
    images = np.array(preimages) @ M.T + shift
    if np.linalg.norm(images - shape.vertices, axis=1).max(initial=0.0) > tolerance:
        raise NoSolution("a vertex of the projection has no preimage: its proof fails")
    count = (len(A), 0 if E is None else len(E))
    return PolytopeProjection(
        shape,
        np.array(preimages),
        np.array([each.rows for each in optima]).reshape(len(optima), count[0]),
        np.array([each.equations for each in optima]).reshape(len(optima), count[1]),
    )


def polytope_from_support_function(
    support: SupportFunction,
    dimension: int,
    *,
    known: np.ndarray | None = None,
    hull: Hull | None = None,
    max_vertices: int | None = None,
) -> Polytope:
    """Construct the bounded polytope that has a given support function, by ray shooting.

    Args:
        support: Function from directions (m, n) to the extreme points (m, n) of the set along each
            direction.
        dimension: Dimension n of the space.
        known: Points of the set already known, (points, n); saves hulls when most vertices are
            among them.
        hull: Convex hull of ``known``, if already computed.
        max_vertices: Maximum number of vertices; None for no limit.

    Returns:
        The polytope.

    Raises:
        NoSolution: The polytope has more than ``max_vertices`` vertices, or the iteration does not
            converge.
    """
    points = _spanning_points(support, dimension)
    # Evaluated directions are compared in the whitened axes of the set.
    into = whiten(points).into
    back = np.linalg.pinv(into).T
    if known is not None and hull is not None:
        points = known
    elif known is not None and into.shape[1]:
        points = _distinct(np.vstack([points, known]), into)
    evaluated: set[bytes] = set()
    for _ in range(MAX_ROUNDS):
        _refuse_many(len(points), max_vertices)
        current, hull = hull or convex_hull(points), None
        keys = _direction_keys(current.A, back)
        new_facets = [k for k, key in enumerate(keys) if key not in evaluated]
        if not new_facets:
            return _polytope(current, points)
        evaluated.update(keys)
        rows, bounds = current.A[new_facets], current.b[new_facets]
        extremes = _supports(support, rows, into, max_vertices)
        width = bounds - (points @ rows.T).min(axis=0)
        outside = (extremes * rows).sum(axis=1) > bounds + RELATIVE_GAIN * width
        if not outside.any():
            return _polytope(current, points)
        points = np.vstack([points[current.vertices], _distinct(extremes[outside], into)])
    raise NoSolution(f"the projection did not converge in {MAX_ROUNDS} rounds of ray shooting")


def _supports(
    support: SupportFunction, rows: np.ndarray, into: np.ndarray, max_vertices: int | None
) -> np.ndarray:
    """Extreme points along the rows, given up as soon as too many of them differ."""
    found = np.zeros((0, rows.shape[1]))
    for k in range(0, len(rows), CHUNK_DIRECTIONS):
        found = np.vstack([found, support(rows[k : k + CHUNK_DIRECTIONS])])
        if max_vertices is not None and len(found) > max_vertices:
            _refuse_many(len(_distinct(found, into)), max_vertices)
    return found


def _refuse_many(count: int, max_vertices: int | None) -> None:
    if max_vertices is not None and count > max_vertices:
        raise TooManyVertices(f"more than {max_vertices} vertices")


def _polytope(hull: Hull, points: np.ndarray) -> Polytope:
    return Polytope(hull.A, hull.b, points[hull.vertices], hull.E, hull.e)


def _direction_keys(rows: np.ndarray, back: np.ndarray) -> list[bytes]:
    """Keys by which directions are recognized, equal except for rounding."""
    whitened = rows @ back
    whitened /= np.linalg.norm(whitened, axis=1)[:, None]
    return [row.tobytes() for row in np.round(whitened, 9) + 0.0]


def _distinct(points: np.ndarray, into: np.ndarray) -> np.ndarray:
    _, first = np.unique(np.round(points @ into, 10), axis=0, return_index=True)
    return np.asarray(points[first])


def _spanning_points(support: SupportFunction, dimension: int) -> np.ndarray:
    """Points that span the set: extreme along the axes, then along directions not yet spanned."""
    axes = np.eye(dimension)
    points = support(np.vstack([axes, -axes]))
    for _ in range(dimension):
        missing = whiten(points).normals
        if not len(missing):
            break
        more = support(np.vstack([missing, -missing]))
        width = np.abs((more[: len(missing)] - more[len(missing) :]) * missing).sum(axis=1)
        size = float(np.abs(points - points.mean(axis=0)).max()) or 1.0
        if not (width > RELATIVE_GAIN * size).any():
            break
        points = np.vstack([points, more])
    return points


def _vertex_direction(shape: Polytope, vertex: int) -> np.ndarray:
    """A direction along which one vertex is extreme: the mean normal of the facets at it."""
    incident = shape.incidence[:, vertex]
    if not incident.any():
        return np.zeros(shape.dimension)
    return np.asarray(shape.A[incident].mean(axis=0))
