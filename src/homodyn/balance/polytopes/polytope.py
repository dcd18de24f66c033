"""Convex polytopes in both representations: inequalities and vertices.

H representation: ``{x | A x <= b, E x = e}`` with rows of norm one. V representation: the hull of
``vertices`` and, for unbounded sets, of ``rays``. A flat set has equations ``E x = e``; its rows
lie in their plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property

import numpy as np

from homodyn.balance.polytopes.convex_hull import convex_hull
from homodyn.balance.polytopes.halfspaces import enumerate_vertices, normalize_rows
from homodyn.errors import NoSolution
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of

CHUNK_POINTS = 256
"""Points tested at a time: their distances to all facets then fit into the cache."""
RELATIVE_INSIDE_TOLERANCE = 1e-9
"""Fraction of the size of a polytope by which rounding may place a point outside."""


@record
class Polytope(Record):
    """A convex polytope, created with ``from_points``, ``from_rows`` or ``box``."""

    A: np.ndarray
    """(rows, n), each of norm one."""
    b: np.ndarray
    """(rows,): signed distance of each facet from the origin, along its row."""
    vertices: np.ndarray
    """(vertices, n)."""
    E: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(equations, n): orthonormal rows; none for a set with interior."""
    e: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(equations,)."""
    rays: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(rays, n): directions in which the set is unbounded; none for a bounded set."""

    def __post_init__(self) -> None:
        n = self.vertices.shape[1]
        for name, width in (("E", n), ("rays", n)):
            if not getattr(self, name).size:
                object.__setattr__(self, name, np.zeros((0, width)))
        for name in ("A", "b", "vertices", "E", "e", "rays"):
            array = np.array(getattr(self, name), dtype=float)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def from_points(
        cls, points: Sequence[Sequence[float]] | np.ndarray, rays: np.ndarray | None = None
    ) -> Polytope:
        """Create the convex hull of points and rays.

        Args:
            points: (points, n).
            rays: Directions in which the set is unbounded, (rays, n); None for a bounded set.

        Returns:
            The polytope.

        Raises:
            NoSolution: There is no point, or a point is not finite.
        """
        points = np.atleast_2d(np.asarray(points, dtype=float))
        if rays is None or not len(rays):
            hull = convex_hull(points)
            return cls(hull.A, hull.b, points[hull.vertices], hull.E, hull.e)
        return _with_rays(cls, points, np.atleast_2d(np.asarray(rays, dtype=float)))

    @classmethod
    def from_rows(
        cls,
        A: Sequence[Sequence[float]] | np.ndarray,
        b: Sequence[float] | np.ndarray,
        E: np.ndarray | None = None,
        e: np.ndarray | None = None,
    ) -> Polytope:
        """Create the bounded set ``{x | A x <= b, E x = e}``; redundant rows are removed.

        Args:
            A: Inequality rows, (rows, n), of any norm.
            b: Inequality bounds, (rows,).
            E: Equation rows, (equations, n); None for no equations.
            e: Right-hand sides of the equations, (equations,).

        Returns:
            The polytope.

        Raises:
            Infeasible: The set is empty; the error carries the proof.
            Unbounded: The set is unbounded; the error carries a direction where one is known.
            NoSolution: Rows and bounds differ in number, or are not finite.
        """
        A, b = normalize_rows(A, b)
        found = enumerate_vertices(
            A, b, *normalize_rows(np.zeros((0, A.shape[1])) if E is None else E, e)
        )
        return cls(found.A, found.b, found.vertices, found.E, found.e)

    @classmethod
    def box(cls, lower: Sequence[float], upper: Sequence[float]) -> Polytope:
        """Create an axis-aligned box.

        Args:
            lower: Lower bounds, (n,).
            upper: Upper bounds, (n,).

        Returns:
            The polytope.

        Raises:
            NoSolution: The bounds differ in length, or a lower bound exceeds the upper one.
        """
        low, high = np.asarray(lower, float), np.asarray(upper, float)
        if low.shape != high.shape or (high < low).any():
            raise NoSolution(f"a box needs lower <= upper of one length, got {low} and {high}")
        choice = np.indices((2,) * len(low)).reshape(len(low), -1).T
        return cls.from_points(np.where(choice, high, low))

    def headline(self) -> str:
        """Dimension, and numbers of facets and vertices."""
        return (
            f"Polytope in {self.dimension} dimensions: {count_of(len(self.A), 'facet')}, "
            f"{count_of(len(self.vertices), 'vertex', 'vertices')}"
        )

    @property
    def dimension(self) -> int:
        """Dimension of the surrounding space."""
        return int(self.vertices.shape[1])

    @property
    def flatness(self) -> int:
        """Codimension: dimension of the space minus that of the set; 0 for a set with interior."""
        return len(self.E)

    @property
    def bounded(self) -> bool:
        """Whether the set is bounded."""
        return not len(self.rays)

    @cached_property
    def size(self) -> float:
        """Largest distance of a vertex from the mean of the vertices."""
        arms = self.vertices - self.vertices.mean(axis=0)
        return float(np.linalg.norm(arms, axis=1).max())

    @cached_property
    def tolerance(self) -> float:
        """Distance by which rounding may place a point of the set outside."""
        reach = float(np.abs(self.vertices).max(initial=0.0))
        return RELATIVE_INSIDE_TOLERANCE * self.size + 1e-13 * reach

    def point_tolerance(self, points: np.ndarray) -> np.ndarray:
        """Distance by which rounding may place each of some points of the set outside.

        An unbounded set contains points far from its vertices, whose rounding is larger.

        Args:
            points: (..., n).

        Returns:
            (...,).
        """
        points = np.asarray(points, dtype=float)
        if self.bounded:
            return np.full(points.shape[:-1], self.tolerance)
        reach = np.linalg.norm(points - self.vertices[0], axis=-1)
        return np.asarray(self.tolerance + RELATIVE_INSIDE_TOLERANCE * reach)

    @cached_property
    def incidence(self) -> np.ndarray:
        """(rows, vertices): True where a vertex lies on a facet."""
        slack = self.slack(self.vertices).T
        return np.asarray(slack < 10 * max(self.tolerance, 1e-300))

    def slack(self, points: np.ndarray) -> np.ndarray:
        """Compute the signed distance of points to each facet.

        Args:
            points: (..., n).

        Returns:
            (..., rows): negative outside.
        """
        return self.b - np.asarray(points, dtype=float) @ self.A.T

    def equation_residual(self, points: np.ndarray) -> np.ndarray:
        """Compute the distance of points to the affine hull of the set.

        Args:
            points: (..., n).

        Returns:
            (...,): 0 for a set with interior.
        """
        return np.linalg.norm(np.asarray(points, dtype=float) @ self.E.T - self.e, axis=-1)

    def contains(self, points: np.ndarray, tolerance: float | None = None) -> np.ndarray:
        """Test whether points lie in the set, border included.

        Args:
            points: (..., n).
            tolerance: Distance by which a point may lie outside; None for ``point_tolerance``.

        Returns:
            (...,): True for points in the set.
        """
        points = np.asarray(points, dtype=float)
        flat = points.reshape(-1, points.shape[-1])
        allowed = self.point_tolerance(flat) if tolerance is None else np.full(len(flat), tolerance)
        inside = np.ones(len(flat), dtype=bool)
        facets = np.ascontiguousarray(self.A.T)
        for k in range(0, len(flat) if len(self.A) else 0, CHUNK_POINTS):
            chunk = slice(k, k + CHUNK_POINTS)
            inside[chunk] = (flat[chunk] @ facets <= self.b + allowed[chunk, None]).all(axis=1)
        if len(self.E):
            inside &= self.equation_residual(flat) <= allowed
        return inside.reshape(points.shape[:-1])

    def support(self, direction: np.ndarray) -> float:
        """Evaluate the support function: the largest ``direction . x`` over the set.

        Args:
            direction: (n,), of any norm.

        Returns:
            The value; infinity along a ray.
        """
        direction = np.asarray(direction, dtype=float)
        if len(self.rays) and (self.rays @ direction).max() > 1e-12 * np.linalg.norm(direction):
            return float("inf")
        return float((self.vertices @ direction).max())

    def image(self, M: np.ndarray, shift: np.ndarray | float = 0.0) -> Polytope:
        """Compute the image of the set under ``M x + shift``, from its vertices.

        Args:
            M: Linear map, (m, n).
            shift: Translation, (m,) or a number.

        Returns:
            The image.
        """
        rays = self.rays @ np.asarray(M).T if len(self.rays) else None
        return Polytope.from_points(self.vertices @ np.asarray(M).T + shift, rays)

    def check(self) -> tuple[str, ...]:
        """Check the two representations of the set against each other.

        Every vertex satisfies every row and equation; every facet contains as many independent
        vertices and rays as its dimension requires; every vertex lies on enough facets.

        Returns:
            Descriptions of the inconsistencies; empty when the representations agree.
        """
        errors = []
        own_dimension = self.dimension - self.flatness
        worst = float(-self.slack(self.vertices).min(initial=0.0))
        if worst > 10 * self.tolerance:
            errors.append(f"a vertex lies {worst:.3g} outside a facet")
        if len(self.E) and self.equation_residual(self.vertices).max() > 10 * self.tolerance:
            errors.append("a vertex lies outside the plane of the set")
        if len(self.A) and np.abs(np.linalg.norm(self.A, axis=1) - 1).max() > 1e-12:
            errors.append("a row is not of norm one")
        rates = self.A @ self.rays.T
        if len(self.rays) and rates.size and rates.max() > 1e-9:
            errors.append("a ray leaves the set")
        for k, incident in enumerate(self.incidence):
            on = self.vertices[incident]
            along = self.rays[rates[k] > -1e-9] if len(self.rays) else self.rays
            spread = np.vstack([(on - on[:1]) / (self.size or 1.0), along]) if len(on) else on
            if _rank(spread) < own_dimension - 1:
                errors.append(f"facet {k} contains too few independent vertices")
        rows = np.vstack([self.A, self.E])
        pointed = self.bounded or np.linalg.matrix_rank(rows, tol=1e-9) == self.dimension
        for k, incident in enumerate(self.incidence.T if pointed else ()):
            normals = np.vstack([self.A[incident], self.E])
            if np.linalg.matrix_rank(normals, tol=1e-9) < self.dimension:
                errors.append(f"vertex {k} lies on too few facets")
        return tuple(errors)


def _rank(spread: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(spread, tol=1e-8)) if spread.size else 0


def _with_rays(kind: type[Polytope], points: np.ndarray, rays: np.ndarray) -> Polytope:
    """Hull of points and rays: the rays are truncated, and facets of the truncation are removed.

    A facet of the unbounded set has ``row . ray <= 0`` for every ray and remains after truncation;
    every facet that truncation adds is crossed by a ray.
    """
    spread = np.linalg.norm(points - points.mean(axis=0), axis=1).max()
    length = np.linalg.norm(rays, axis=1)
    rays = rays[length > 0] / length[length > 0, None]
    reach = float(spread) or 1.0
    hull = convex_hull(np.vstack([points, *(points + reach * ray for ray in rays)]))
    facets = (hull.A @ rays.T).max(axis=1) <= 1e-9
    extreme = [v for v in hull.vertices if v < len(points)]
    # A set that contains whole lines has no vertex; the rays then start at any of its points.
    return kind(hull.A[facets], hull.b[facets], points[extreme or [0]], hull.E, hull.e, rays)
