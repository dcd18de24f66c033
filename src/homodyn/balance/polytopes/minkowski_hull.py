"""Vertices of the Minkowski sum of small sets, found by walks over its normal fan.

The extreme vertex of a sum along a direction is the sum of the extreme points of its parts. The
directions with the same extreme vertex form a cone, and the cones of all vertices form the normal
fan; its rays are the facet normals. A walk starts in a cone and continues until another vertex is
equally far, stays where both are equal, and continues again: after n - 1 such steps only a ray is
left. Directions near the ray give all vertices of that facet. Thousands of walks run at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

import numpy as np

from homodyn.balance.polytopes.convex_hull import Hull, hull_with_normals, whiten

INITIAL_WALKS = 1500
"""Walks of the first round, from random directions; later rounds start one at each vertex."""
DIRECTIONS_PER_RAY = 120
"""Directions evaluated around each ray."""
DIRECTION_OFFSET = 1e-5
"""Distance of these directions from the ray, in whitened axes."""
MAX_ROUNDS = 12
MAX_ROUNDS_WITHOUT_GAIN = 3
"""Consecutive rounds without a new ray after which the search ends."""
MAX_REPAIRS = 4
"""Number of searches for missed facets."""
WALKS_PER_MISSED_FACET = 8
"""Walks from each direction in which a facet was missed."""
BLOCK_DIRECTIONS = 512
"""Directions multiplied at a time: these products fit into the cache of one core."""
RELATIVE_TIE_TOLERANCE = 1e-9
"""Fraction of the size of the parts below which a vertex does not approach."""
RELATIVE_FACET_TOLERANCE = 1e-7
"""Fraction of that size by which points of a facet may deviate from its plane."""


def minkowski_sum_vertices(
    parts: Sequence[np.ndarray], *, max_vertices: int | None = None
) -> np.ndarray:
    """(vertices, n): almost all vertices of the sum of the hulls of parts (points, n).

    A few vertices may be missing. The search ends early with more than ``max_vertices``.
    """
    return _VertexSearch(parts, max_vertices).vertices


def minkowski_sum_hull(
    parts: Sequence[np.ndarray], *, max_vertices: int
) -> tuple[np.ndarray, Hull | None]:
    """The vertices of `minkowski_sum_vertices`, and their hull if all its facets were found."""
    search = _VertexSearch(parts, max_vertices)
    for _ in range(MAX_REPAIRS):
        points = search.vertices
        if not len(search.rays) or len(points) > max_vertices:
            break
        result = hull_with_normals(points, search.rays @ search.fan.into.T)
        if isinstance(result, Hull):
            return points[result.vertices], _reindexed_hull(result)
        if not len(result) or not search.extend(
            np.repeat(result @ search.fan.outof, WALKS_PER_MISSED_FACET, axis=0)
        ):
            break
    return search.vertices, None


def _reindexed_hull(hull: Hull) -> Hull:
    """The hull with indices of its own extreme points."""
    return replace(
        hull,
        vertices=np.arange(len(hull.vertices)),
        incidence=hull.incidence[:, hull.vertices],
    )


class _VertexSearch:
    """Vertices and rays found so far."""

    def __init__(self, parts: Sequence[np.ndarray], max_vertices: int | None) -> None:
        self.fan = fan = _NormalFan(parts)
        self._rng = np.random.default_rng(0)
        self.rays = np.zeros((0, fan.dimension))
        if not fan.dimension:
            self._chosen = np.zeros((1, len(parts)), dtype=int)
            return
        directions = self._rng.normal(size=(2 * INITIAL_WALKS, fan.dimension))
        self._chosen, where = fan.extremes(directions)
        starts, self._directions = directions[:INITIAL_WALKS], directions[where]
        rounds_without_gain = 0
        for _ in range(MAX_ROUNDS):
            if max_vertices is not None and len(self._chosen) > max_vertices:
                break
            # A missed facet costs another hull, which takes longer than a few rounds.
            rounds_without_gain = 0 if self.extend(starts) else rounds_without_gain + 1
            if rounds_without_gain == MAX_ROUNDS_WITHOUT_GAIN:
                break
            # One walk from each vertex, also from narrow cones that random directions rarely hit.
            starts = self._directions

    @property
    def vertices(self) -> np.ndarray:
        """(vertices, n)."""
        return self.fan.points(self._chosen)

    def extend(self, starts: np.ndarray) -> bool:
        """Walk from directions and evaluate around new rays; whether there were any."""
        new_rays = _new_rays(self.fan.walk(starts, self._rng), self.rays)
        if not len(new_rays):
            return False
        self.rays = np.vstack([self.rays, new_rays])
        nearby = self.fan.nearby_directions(new_rays, self._rng)
        choices, where = self.fan.extremes(nearby)
        self._chosen, first = np.unique(
            np.vstack([self._chosen, choices]), axis=0, return_index=True
        )
        self._directions = np.vstack([self._directions, nearby[where]])[first]
        return True


class _NormalFan:
    """Parts in whitened axes of their sum."""

    def __init__(self, parts: Sequence[np.ndarray]) -> None:
        self.parts = [np.asarray(part, dtype=float) for part in parts]
        frame = whiten(np.vstack([part - part.mean(axis=0) for part in self.parts]))
        self.into, self.outof = frame.into, np.linalg.pinv(frame.into).T
        self.dimension = frame.into.shape[1]
        self.ends = np.concatenate([part @ frame.into for part in self.parts])
        starts = np.r_[0, np.cumsum([len(part) for part in self.parts])]
        self.spans = list(pairwise(starts))
        self.owner = np.repeat(np.arange(len(parts)), np.diff(starts))
        self.size = float(np.linalg.norm(self.ends, axis=1).max(initial=0.0))

    def points(self, chosen: np.ndarray) -> np.ndarray:
        """(choices, n): sums of one point of each part."""
        return sum(
            (part[chosen[:, k]] for k, part in enumerate(self.parts)),
            np.zeros(self.parts[0].shape[1]),
        )

    def _best(self, heights: np.ndarray) -> np.ndarray:
        """Index of the extreme point of each part."""
        return np.stack([a + heights[:, a:b].argmax(axis=1) for a, b in self.spans], axis=1)

    def extremes(self, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The distinct extreme choices (choices, parts), and the index of a direction of each."""
        blocks = range(0, len(directions), BLOCK_DIRECTIONS)
        best = np.vstack(
            [self._best(directions[k : k + BLOCK_DIRECTIONS] @ self.ends.T) for k in blocks]
        )
        best -= np.array([a for a, _ in self.spans])
        sizes = tuple(int(b - a) for a, b in self.spans)
        if prod(sizes) >= 2**62:
            return np.unique(best, axis=0, return_index=True)
        # One integer per choice sorts much faster than a row.
        _, where = np.unique(np.ravel_multi_index(tuple(best.T), sizes), return_index=True)
        return best[where], where

    def nearby_directions(self, rays: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Directions near rays, (rays * DIRECTIONS_PER_RAY, n), spread evenly over their facets.

        In whitened axes of a facet a random direction finds any of its vertices.
        """
        n = self.dimension
        heights = rays @ self.ends.T
        best = np.take_along_axis(heights, self._best(heights), axis=1)[:, self.owner]
        tied = (best - heights < RELATIVE_FACET_TOLERANCE * self.size).astype(float)
        membership = np.eye(len(self.parts))[self.owner]
        weight = tied / (tied @ membership)[:, self.owner]
        products = (self.ends[:, :, None] * self.ends[:, None, :]).reshape(len(self.ends), -1)
        mean = np.einsum("re,ep,en->rpn", weight, membership, self.ends)
        covariance = (weight @ products).reshape(-1, n, n)
        covariance = covariance - np.einsum("rpn,rpm->rnm", mean, mean)
        variance, axes = np.linalg.eigh(covariance)
        # The first axis is the ray itself, along which a facet has no width.
        width = np.sqrt(np.maximum(variance[:, 1:], 1e-6 * variance[:, -1:]) + 1e-300)
        steps = rng.normal(size=(len(rays), DIRECTIONS_PER_RAY, n - 1)) / width[:, None]
        offsets = steps @ np.swapaxes(axes[:, :, 1:], 1, 2)
        offsets /= np.linalg.norm(offsets, axis=-1, keepdims=True) + 1e-300
        return np.asarray((rays[:, None] + DIRECTION_OFFSET * offsets).reshape(-1, n))

    def walk(self, directions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(walks, n): rays at which walks from directions end; incomplete walks are dropped."""
        blocks = range(0, len(directions), BLOCK_DIRECTIONS)
        return np.vstack([self._walk(directions[k : k + BLOCK_DIRECTIONS], rng) for k in blocks])

    def _walk(self, directions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        current = directions / np.linalg.norm(directions, axis=1)[:, None]
        walks = np.arange(len(current))
        best = self._best(current @ self.ends.T)
        fixed = np.zeros((len(current), 0, self.dimension))
        for _ in range(self.dimension - 1):
            step_direction = _orthogonal_part(
                rng.normal(size=current.shape), np.concatenate([fixed, current[:, None]], 1)
            )
            heights, rates = current @ self.ends.T, step_direction @ self.ends.T
            leader = best[:, self.owner]
            distance = np.take_along_axis(heights, leader, axis=1) - heights
            closing = rates - np.take_along_axis(rates, leader, axis=1)
            approaches = closing > RELATIVE_TIE_TOLERANCE * self.size
            steps = np.where(
                approaches,
                np.maximum(distance, 0.0) / np.where(approaches, closing, 1.0),
                np.inf,
            )
            reached = steps.argmin(axis=1)
            step = steps[walks, reached]
            current = current + np.where(np.isfinite(step), step, 0.0)[:, None] * step_direction
            current /= np.linalg.norm(current, axis=1)[:, None]
            difference = self.ends[reached] - self.ends[best[walks, self.owner[reached]]]
            fixed = np.concatenate([fixed, _orthogonal_part(difference, fixed)[:, None]], axis=1)
        _, spread, axes = np.linalg.svd(fixed, full_matrices=True)
        ray = axes[:, -1] * np.sign((axes[:, -1] * current).sum(axis=1))[:, None]
        complete = spread[:, -1] > 1e-6 if self.dimension > 1 else np.ones(len(ray), dtype=bool)
        return np.asarray(ray[complete])


def _orthogonal_part(vectors: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Unit vectors (walks, n) along the parts orthogonal to orthonormal bases (walks, k, n)."""
    for _ in range(2):
        along = np.einsum("kin,kn->ki", basis, vectors)
        vectors = vectors - np.einsum("kin,ki->kn", basis, along)
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-300)[:, None])


def _new_rays(rays: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The distinct rays that are not known yet."""
    combined = np.vstack([known, rays])
    _, first = np.unique(np.round(combined, 7) + 0.0, axis=0, return_index=True)
    return np.asarray(combined[np.sort(first[first >= len(known)])])
