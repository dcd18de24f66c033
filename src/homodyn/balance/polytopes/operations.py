"""Operations on polytopes: intersection, inclusion, volume and Minkowski sum."""

from __future__ import annotations

import numpy as np

from homodyn.balance.polytopes.convex_hull import convex_hull
from homodyn.balance.polytopes.linear_program import Unbounded
from homodyn.balance.polytopes.polytope import Polytope
from homodyn.foundation.record import Record, record


@record
class Inclusion(Record):
    """Whether a polytope lies inside another, and a vertex or ray that does not."""

    holds: bool
    excess: float
    """Distance of the farthest vertex outside; negative where all vertices lie inside."""
    witness: np.ndarray | None
    """A vertex or ray that lies outside; None where all lie inside."""

    def __bool__(self) -> bool:
        return self.holds


def intersection(*polytopes: Polytope) -> Polytope:
    """Compute the intersection of polytopes.

    Args:
        *polytopes: One or more polytopes of the same dimension.

    Returns:
        The set of points that lie in all of them.

    Raises:
        Infeasible: The intersection is empty.
        Unbounded: The intersection is unbounded.
    """
    A, b = (np.concatenate([getattr(p, name) for p in polytopes]) for name in ("A", "b"))
    E, e = (np.concatenate([getattr(p, name) for p in polytopes]) for name in ("E", "e"))
    return Polytope.from_rows(A, b, E, e)


def inclusion(inner: Polytope, outer: Polytope, tolerance: float | None = None) -> Inclusion:
    """Test whether a polytope lies inside another, by vertices and rays.

    Args:
        inner: Polytope whose vertices and rays are tested.
        outer: Polytope whose inequalities and equations are tested.
        tolerance: Distance by which a vertex may lie outside; None for the larger tolerance of the
            two polytopes.

    Returns:
        The result, true or false as a condition, with the largest excess and the vertex or ray that
        lies outside.
    """
    allowed = max(inner.tolerance, outer.tolerance) if tolerance is None else tolerance
    if len(inner.rays):
        rates = np.r_[outer.A, outer.E, -outer.E] @ inner.rays.T
        if rates.size and rates.max() > 1e-9:
            return Inclusion(False, np.inf, inner.rays[rates.max(axis=0).argmax()])
    distances = -outer.slack(inner.vertices).min(axis=1, initial=np.inf)
    if len(outer.E):
        distances = np.maximum(distances, outer.equation_residual(inner.vertices))
    worst = int(distances.argmax())
    excess = float(distances[worst])
    holds = excess <= allowed
    return Inclusion(holds, excess, None if holds else inner.vertices[worst])


def volume(polytope: Polytope) -> float:
    """Compute the volume of a polytope.

    Args:
        polytope: The polytope.

    Returns:
        Volume in the units of its axes; 0 for a flat polytope, infinity for an unbounded one.
    """
    if polytope.flatness:
        return 0.0
    if not polytope.bounded:
        return float("inf")
    return convex_hull(polytope.vertices).volume


def minkowski_sum(first: Polytope, second: Polytope) -> Polytope:
    """Compute the Minkowski sum: all sums of a point of each polytope.

    Args:
        first: A bounded polytope.
        second: A bounded polytope of the same dimension.

    Returns:
        The sum.

    Raises:
        Unbounded: A polytope is unbounded.
    """
    if not (first.bounded and second.bounded):
        raise Unbounded("a Minkowski sum needs bounded polytopes")
    return Polytope.from_points(
        (first.vertices[:, None] + second.vertices[None]).reshape(-1, first.dimension)
    )
