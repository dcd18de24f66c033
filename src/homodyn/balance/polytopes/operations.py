"""What polytopes are to each other: intersection, inclusion, volume."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.balance.polytopes.convex_hull import convex_hull
from homodyn.balance.polytopes.linear_program import Unbounded
from homodyn.balance.polytopes.polytope import Polytope


@dataclass(frozen=True, eq=False)
class Inclusion:
    """Whether a polytope lies inside another, and the vertex or ray that does not."""

    holds: bool
    excess: float
    """How far the farthest vertex lies outside; negative by what is left to the nearest side."""
    witness: np.ndarray | None
    """A vertex or ray that lies outside; None when all are inside."""

    def __bool__(self) -> bool:
        return self.holds


def intersection(*polytopes: Polytope) -> Polytope:
    """The points that all have in common; ``Infeasible`` when there are none."""
    A, b = (np.concatenate([getattr(p, name) for p in polytopes]) for name in ("A", "b"))
    E, e = (np.concatenate([getattr(p, name) for p in polytopes]) for name in ("E", "e"))
    return Polytope.from_rows(A, b, E, e)


def inclusion(inner: Polytope, outer: Polytope, tolerance: float | None = None) -> Inclusion:
    """Whether ``inner`` lies in ``outer``: every vertex in every row, every ray along them."""
    allowed = max(inner.tolerance, outer.tolerance) if tolerance is None else tolerance
    if len(inner.rays):
        leaving = np.r_[outer.A, outer.E, -outer.E] @ inner.rays.T
        if leaving.size and leaving.max() > 1e-9:
            return Inclusion(False, np.inf, inner.rays[leaving.max(axis=0).argmax()])
    beyond = -outer.slack(inner.vertices).min(axis=1, initial=np.inf)
    beyond = np.maximum(beyond, outer.equation_residual(inner.vertices)) if len(outer.E) else beyond
    worst = int(beyond.argmax())
    excess = float(beyond[worst])
    holds = excess <= allowed
    return Inclusion(holds, excess, None if holds else inner.vertices[worst])


def volume(polytope: Polytope) -> float:
    """Content in the units of its axes; 0 for a flat set, infinite for one without end."""
    if polytope.flatness:
        return 0.0
    if not polytope.bounded:
        return float("inf")
    return convex_hull(polytope.vertices).volume


def minkowski_sum(first: Polytope, second: Polytope) -> Polytope:
    """All sums of a point of one and a point of the other."""
    if not (first.bounded and second.bounded):
        raise Unbounded("a Minkowski sum is made of bounded sets")
    return Polytope.from_points(
        (first.vertices[:, None] + second.vertices[None]).reshape(-1, first.dimension)
    )
