"""Vertices of a sum of small sets, found by walks over the directions in which they lie farthest.

The farthest vertex of a sum along a direction is the sum of the farthest of its parts. Directions
with one farthest vertex make a cone, and the cones of all vertices a fan; its rays are the normals
of the sides. A walk starts in a cone and goes on until another vertex is as far, stays where both
are equal and goes on again: after n - 1 such steps only a ray is left. Near it all vertices of that
side are found. Thousands of walks are taken at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

import numpy as np

from homodyn.balance.polytopes.convex_hull import Hull, hull_with_normals, whiten

INITIAL_WALKS = 1500
"""At first, from random directions; later one from each vertex."""
DIRECTIONS_PER_RAY = 120
"""Directions asked around each ray that was found."""
DIRECTION_OFFSET = 1e-5
"""How far these are from the ray; the set is as wide as it is long then."""
MAX_ROUNDS = 12
MAX_ROUNDS_WITHOUT_GAIN = 3
"""Rounds in a row without anything new after which nothing more is looked for."""
MAX_REPAIRS = 4
"""How often sides that were missed are looked for."""
WALKS_PER_MISSED_FACET = 8
"""Walks from each direction in which a side was missed."""
BLOCK_DIRECTIONS = 512
"""Directions multiplied at a time: products this small stay in the cache of one core."""
RELATIVE_TIE_TOLERANCE = 1e-9
"""Share of the size of the parts below which a vertex is not coming nearer."""
RELATIVE_FACET_TOLERANCE = 1e-7
"""Share of that size by which ends of a side may lie behind others."""


def minkowski_sum_vertices(
    parts: Sequence[np.ndarray], *, at_most: int | None = None
) -> np.ndarray:
    """(vertices, n): points of the sum of the hulls of parts (points, n), nearly all extreme ones.

    What is missing at the end, if anything, is for the caller to find. ``at_most``: stop when more
    than this many were found.
    """
    return _VertexSearch(parts, at_most).vertices


def minkowski_sum_hull(
    parts: Sequence[np.ndarray], *, at_most: int
) -> tuple[np.ndarray, Hull | None]:
    """Points of the sum as above, and their hull where its sides were found too."""
    search = _VertexSearch(parts, at_most)
    for _ in range(MAX_REPAIRS):
        points = search.vertices
        if not len(search.rays) or len(points) > at_most:
            break
        found = hull_with_normals(points, search.rays @ search.fan.into.T)
        if isinstance(found, Hull):
            return points[found.vertices], _reindexed_hull(found)
        if not len(found) or not search.more(
            np.repeat(found @ search.fan.outof, WALKS_PER_MISSED_FACET, axis=0)
        ):
            break
    return search.vertices, None


def _reindexed_hull(found: Hull) -> Hull:
    """The hull of its own extreme points."""
    return replace(
        found,
        vertices=np.arange(len(found.vertices)),
        incidence=found.incidence[:, found.vertices],
    )


class _VertexSearch:
    """Vertices and rays that walks have found so far."""

    def __init__(self, parts: Sequence[np.ndarray], at_most: int | None) -> None:
        self.fan = fan = _NormalFan(parts)
        self._rng = np.random.default_rng(0)
        self.rays = np.zeros((0, fan.dimension))
        if not fan.dimension:
            self._chosen = np.zeros((1, len(parts)), dtype=int)
            return
        directions = self._rng.normal(size=(2 * INITIAL_WALKS, fan.dimension))
        self._chosen, where = fan.farthest(directions)
        starts, self._directions = directions[:INITIAL_WALKS], directions[where]
        vain = 0
        for _ in range(MAX_ROUNDS):
            if at_most is not None and len(self._chosen) > at_most:
                break
            # A side that is missed costs another hull, which is dearer than a few rounds.
            vain = 0 if self.more(starts) else vain + 1
            if vain == MAX_ROUNDS_WITHOUT_GAIN:
                break
            # One walk from each vertex: those in narrow cones, which few random ones meet, too.
            starts = self._directions

    @property
    def vertices(self) -> np.ndarray:
        """(vertices, n)."""
        return self.fan.points(self._chosen)

    def more(self, starts: np.ndarray) -> bool:
        """Walk from directions, ask around the rays found; whether there were new ones."""
        fresh = _new_rays(self.fan.walk(starts, self._rng), self.rays)
        if not len(fresh):
            return False
        self.rays = np.vstack([self.rays, fresh])
        around = self.fan.around(fresh, self._rng)
        found, where = self.fan.farthest(around)
        self._chosen, first = np.unique(np.vstack([self._chosen, found]), axis=0, return_index=True)
        self._directions = np.vstack([self._directions, around[where]])[first]
        return True


class _NormalFan:
    """Parts in axes in which their sum is as wide as it is long."""

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
        """(choices, n): sums of one end of each part."""
        return sum(
            (part[chosen[:, k]] for k, part in enumerate(self.parts)),
            np.zeros(self.parts[0].shape[1]),
        )

    def _best(self, worth: np.ndarray) -> np.ndarray:
        return np.stack([a + worth[:, a:b].argmax(axis=1) for a, b in self.spans], axis=1)

    def farthest(self, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The different choices (found, parts) along directions, and a direction of each."""
        blocks = range(0, len(directions), BLOCK_DIRECTIONS)
        best = np.vstack(
            [self._best(directions[k : k + BLOCK_DIRECTIONS] @ self.ends.T) for k in blocks]
        )
        best -= np.array([a for a, _ in self.spans])
        sizes = tuple(int(b - a) for a, b in self.spans)
        if prod(sizes) >= 2**62:
            return np.unique(best, axis=0, return_index=True)
        # One number for a choice sorts many times faster than a row.
        _, where = np.unique(np.ravel_multi_index(tuple(best.T), sizes), return_index=True)
        return best[where], where

    def around(self, rays: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Directions near rays, (rays * DIRECTIONS_PER_RAY, n), spread evenly over their facets.

        In axes in which a side is as wide as it is long a random direction finds any of its ends.
        """
        n = self.dimension
        worth = rays @ self.ends.T
        best = np.take_along_axis(worth, self._best(worth), axis=1)[:, self.owner]
        tied = (best - worth < RELATIVE_FACET_TOLERANCE * self.size).astype(float)
        mine = np.eye(len(self.parts))[self.owner]
        share = tied / (tied @ mine)[:, self.owner]
        products = (self.ends[:, :, None] * self.ends[:, None, :]).reshape(len(self.ends), -1)
        middle = np.einsum("re,ep,en->rpn", share, mine, self.ends)
        spread = (share @ products).reshape(-1, n, n) - np.einsum("rpn,rpm->rnm", middle, middle)
        width, axes = np.linalg.eigh(spread)
        # The first axis is the ray itself, along which a side has no width.
        wide = np.sqrt(np.maximum(width[:, 1:], 1e-6 * width[:, -1:]) + 1e-300)
        steps = rng.normal(size=(len(rays), DIRECTIONS_PER_RAY, n - 1)) / wide[:, None]
        ways = steps @ np.swapaxes(axes[:, :, 1:], 1, 2)
        ways /= np.linalg.norm(ways, axis=-1, keepdims=True) + 1e-300
        return np.asarray((rays[:, None] + DIRECTION_OFFSET * ways).reshape(-1, n))

    def walk(self, directions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(walks, n): rays that walks from directions end at; walks that do not end are dropped."""
        blocks = range(0, len(directions), BLOCK_DIRECTIONS)
        return np.vstack([self._walk(directions[k : k + BLOCK_DIRECTIONS], rng) for k in blocks])

    def _walk(self, directions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        here = directions / np.linalg.norm(directions, axis=1)[:, None]
        every = np.arange(len(here))
        best = self._best(here @ self.ends.T)
        held = np.zeros((len(here), 0, self.dimension))
        for _ in range(self.dimension - 1):
            way = _orthogonal_part(
                rng.normal(size=here.shape), np.concatenate([held, here[:, None]], 1)
            )
            worth, rate = here @ self.ends.T, way @ self.ends.T
            rival = best[:, self.owner]
            behind = np.take_along_axis(worth, rival, axis=1) - worth
            closing = rate - np.take_along_axis(rate, rival, axis=1)
            near = closing > RELATIVE_TIE_TOLERANCE * self.size
            steps = np.where(near, np.maximum(behind, 0.0) / np.where(near, closing, 1.0), np.inf)
            met = steps.argmin(axis=1)
            step = steps[every, met]
            here = here + np.where(np.isfinite(step), step, 0.0)[:, None] * way
            here /= np.linalg.norm(here, axis=1)[:, None]
            apart = self.ends[met] - self.ends[best[every, self.owner[met]]]
            held = np.concatenate([held, _orthogonal_part(apart, held)[:, None]], axis=1)
        _, spread, axes = np.linalg.svd(held, full_matrices=True)
        ray = axes[:, -1] * np.sign((axes[:, -1] * here).sum(axis=1))[:, None]
        ended = spread[:, -1] > 1e-6 if self.dimension > 1 else np.ones(len(ray), dtype=bool)
        return np.asarray(ray[ended])


def _orthogonal_part(vectors: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Unit vectors (walks, n) without what they have along held (walks, k, n), orthonormal."""
    for _ in range(2):
        along = np.einsum("kin,kn->ki", held, vectors)
        vectors = vectors - np.einsum("kin,ki->kn", held, along)
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-300)[:, None])


def _new_rays(rays: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Rays that are not among those known, each once."""
    every = np.vstack([known, rays])
    _, first = np.unique(np.round(every, 7) + 0.0, axis=0, return_index=True)
    return np.asarray(every[np.sort(first[first >= len(known)])])
