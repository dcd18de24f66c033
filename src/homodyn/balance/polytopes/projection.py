"""Affine images of polytopes known by their rows or by their support function, without vertices.

Ray shooting: the hull of a few points of the image is an inner bound; in the direction of each of
its sides the support function says how far the image goes. Where it goes farther, a new point is
found; where not, the side is one of the image and the dual of the support function proves it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from homodyn.balance.polytopes.convex_hull import Hull, convex_hull, whiten
from homodyn.balance.polytopes.linear_program import Optimum, maximize
from homodyn.balance.polytopes.polytope import Polytope
from homodyn.errors import NoSolution

Support = Callable[[np.ndarray], np.ndarray]
"""For directions (m, n), the points (m, n) of a set that lie farthest along each."""
RELATIVE_GAIN = 1e-8
"""Share of the width of a set by which a point must lie outside to count as new."""
MAX_ROUNDS = 200


class TooManyVertices(NoSolution):
    """A set has more vertices than can be worked with."""


@dataclass(frozen=True, eq=False)
class PolytopeProjection:
    """The image of ``{x | A x <= b, E x = e}`` under ``y = M x + shift``, with its proof.

    ``preimages[k]`` satisfies the rows and maps to vertex k. ``rows[k] >= 0`` and ``equations[k]``
    prove side k: ``rows' A + equations' E = side' M`` and ``rows' b + equations' e + side' shift``
    is its bound.
    """

    polytope: Polytope
    preimages: np.ndarray
    rows: np.ndarray
    equations: np.ndarray


def project(
    A: np.ndarray,
    b: np.ndarray,
    M: np.ndarray,
    shift: np.ndarray | float = 0.0,
    *,
    E: np.ndarray | None = None,
    e: np.ndarray | None = None,
    largest: int | None = None,
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
        largest: Maximum number of vertices of the image; None for no limit.

    Returns:
        The image, a preimage of every vertex and the multipliers that prove every facet.

    Raises:
        Infeasible: The set is empty.
        Unbounded: The image is unbounded.
        NoSolution: The image has more than ``largest`` vertices, or the proof of a vertex fails.
    """
    M = np.asarray(M, dtype=float)

    def farthest(direction: np.ndarray) -> Optimum:
        return maximize(direction @ M, A, b, E, e)

    def support(directions: np.ndarray) -> np.ndarray:
        return np.array([M @ farthest(d).x for d in directions]) + shift

    shape = polytope_from_support_function(support, len(M), largest=largest)
    tops = [farthest(row) for row in shape.A]
    reach = 1e-6 * max(shape.size, 1e-300)
    preimages = [farthest(_pointing(shape, k)).x for k in range(len(shape.vertices))]
    found = np.array(preimages) @ M.T + shift
    if np.linalg.norm(found - shape.vertices, axis=1).max(initial=0.0) > reach:
        raise NoSolution("a vertex of the projection was not found again: its proof fails")
    count = (len(A), 0 if E is None else len(E))
    return PolytopeProjection(
        shape,
        np.array(preimages),
        np.array([top.rows for top in tops]).reshape(len(tops), count[0]),
        np.array([top.equations for top in tops]).reshape(len(tops), count[1]),
    )


def polytope_from_support_function(
    support: Support,
    dimension: int,
    *,
    known: np.ndarray | None = None,
    sides: Hull | None = None,
    largest: int | None = None,
) -> Polytope:
    """Construct the bounded polytope that has a given support function, by ray shooting.

    Args:
        support: Function from directions (m, n) to the points (m, n) of the set that lie farthest
            along each direction.
        dimension: Dimension n of the space.
        known: Points of the set already known, (points, n); saves hulls when most vertices are
            among them.
        sides: Convex hull of ``known``, if already computed.
        largest: Maximum number of vertices; None for no limit.

    Returns:
        The polytope.

    Raises:
        NoSolution: The polytope has more than ``largest`` vertices, or the iteration does not
            converge.
    """
    points = _spanning(support, dimension)
    # Directions asked before, told apart in the axes in which the set is as wide as it is long.
    into = whiten(points).into
    back = np.linalg.pinv(into).T
    if known is not None and sides is not None:
        points = known
    elif known is not None and into.shape[1]:
        points = _distinct(np.vstack([points, known]), into)
    asked: set[bytes] = set()
    for _ in range(MAX_ROUNDS):
        if largest is not None and len(points) > largest:
            raise TooManyVertices(f"more than {largest} vertices")
        found, sides = sides or convex_hull(points), None
        names = _names(found.A, back)
        fresh = [k for k, name in enumerate(names) if name not in asked]
        if not fresh:
            return _polytope(found, points)
        asked.update(names)
        rows, bounds = found.A[fresh], found.b[fresh]
        reached = support(rows)
        width = bounds - (points @ rows.T).min(axis=0)
        new = (reached * rows).sum(axis=1) > bounds + RELATIVE_GAIN * width
        if not new.any():
            return _polytope(found, points)
        points = np.vstack([points[found.vertices], _distinct(reached[new], into)])
    raise NoSolution(f"the projection did not end within {MAX_ROUNDS} rounds of ray shooting")


def _polytope(found: Hull, points: np.ndarray) -> Polytope:
    return Polytope(found.A, found.b, points[found.vertices], found.E, found.e)


def _names(rows: np.ndarray, back: np.ndarray) -> list[bytes]:
    turned = rows @ back
    turned /= np.linalg.norm(turned, axis=1)[:, None]
    return [row.tobytes() for row in np.round(turned, 9) + 0.0]


def _distinct(points: np.ndarray, into: np.ndarray) -> np.ndarray:
    _, first = np.unique(np.round(points @ into, 10), axis=0, return_index=True)
    return np.asarray(points[first])


def _spanning(support: Support, dimension: int) -> np.ndarray:
    """Points of the set that span it: the farthest along the axes, then along what is missing."""
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


def _pointing(shape: Polytope, vertex: int) -> np.ndarray:
    """A direction in which one vertex lies farthest: the mean of the sides that meet there."""
    held = shape.incidence[:, vertex]
    return np.asarray(shape.A[held].mean(axis=0)) if held.any() else np.zeros(shape.dimension)
