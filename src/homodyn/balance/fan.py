"""Vertices of a sum of small sets, found by walks over the directions in which they lie farthest.

The farthest vertex of a sum along a direction is the sum of the farthest of its parts. Directions
with one farthest vertex make a cone, and the cones of all vertices a fan; its rays are the normals
of the sides. A walk starts in a cone and goes on until another vertex is as far, stays where both
are equal and goes on again: after n - 1 such steps only a ray is left. Near it all vertices of that
side are found. Thousands of walks are taken at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from homodyn.balance.hull import whiten

WALKS = 1500
"""At first, from random directions; later one from each vertex."""
AROUND = 120
"""Directions asked around each ray that was found."""
NEAR = 1e-5
"""How far these are from the ray; the set is as wide as it is long then."""
ROUNDS = 12
TIE = 1e-9
"""Share of the size of the parts below which a vertex is not coming nearer."""
LEVEL = 1e-7
"""Share of that size by which ends of a side may lie behind others."""


def sum_vertices(parts: Sequence[np.ndarray], *, at_most: int | None = None) -> np.ndarray:
    """(vertices, n): points of the sum of the hulls of parts (points, n), nearly all extreme ones.

    What is missing at the end, if anything, is for the caller to find. ``at_most``: stop when more
    than this many were found.
    """
    fan = _Fan(parts)
    if not fan.dimension:
        return fan.points(np.zeros((1, len(parts)), dtype=int))
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(2 * WALKS, fan.dimension))
    starts = directions[:WALKS]
    chosen, where = fan.farthest(directions)
    directions = directions[where]
    rays, idle = np.zeros((0, fan.dimension)), 0
    for _ in range(ROUNDS):
        if at_most is not None and len(chosen) > at_most:
            break
        fresh = _new(fan.walk(starts, rng), rays)
        if not len(fresh):
            break
        rays = np.vstack([rays, fresh])
        around = fan.around(fresh, rng)
        more, where = fan.farthest(around)
        both, first = np.unique(np.vstack([chosen, more]), axis=0, return_index=True)
        # One walk from each vertex: those in narrow cones, which few random ones meet, too.
        starts = directions = np.vstack([directions, around[where]])[first]
        idle = idle + 1 if len(both) == len(chosen) else 0
        chosen = both
        # A vertex that is missed costs another hull, which is dearer than another round.
        if idle == 2:
            break
    return fan.points(chosen)


class _Fan:
    """Parts in axes in which their sum is as wide as it is long."""

    def __init__(self, parts: Sequence[np.ndarray]) -> None:
        self.parts = [np.asarray(part, dtype=float) for part in parts]
        frame = whiten(np.vstack([part - part.mean(axis=0) for part in self.parts]))
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
        best = self._best(directions @ self.ends.T) - np.array([a for a, _ in self.spans])
        return np.unique(best, axis=0, return_index=True)

    def around(self, rays: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(rays AROUND, n): directions near rays, as far to all ends of their sides as to others.

        In axes in which a side is as wide as it is long a random direction finds any of its ends.
        """
        n = self.dimension
        worth = rays @ self.ends.T
        best = np.take_along_axis(worth, self._best(worth), axis=1)[:, self.owner]
        tied = (best - worth < LEVEL * self.size).astype(float)
        mine = np.eye(len(self.parts))[self.owner]
        share = tied / (tied @ mine)[:, self.owner]
        products = (self.ends[:, :, None] * self.ends[:, None, :]).reshape(len(self.ends), -1)
        middle = np.einsum("re,ep,en->rpn", share, mine, self.ends)
        spread = (share @ products).reshape(-1, n, n) - np.einsum("rpn,rpm->rnm", middle, middle)
        width, axes = np.linalg.eigh(spread)
        # The first axis is the ray itself, along which a side has no width.
        wide = np.sqrt(np.maximum(width[:, 1:], 1e-6 * width[:, -1:]) + 1e-300)
        steps = rng.normal(size=(len(rays), AROUND, n - 1)) / wide[:, None]
        ways = steps @ np.swapaxes(axes[:, :, 1:], 1, 2)
        ways /= np.linalg.norm(ways, axis=-1, keepdims=True) + 1e-300
        return np.asarray((rays[:, None] + NEAR * ways).reshape(-1, n))

    def walk(self, directions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(walks, n): rays that walks from directions end at; walks that do not end are dropped."""
        here = directions / np.linalg.norm(directions, axis=1)[:, None]
        every = np.arange(len(here))
        best = self._best(here @ self.ends.T)
        held = np.zeros((len(here), 0, self.dimension))
        for _ in range(self.dimension - 1):
            way = _across(rng.normal(size=here.shape), np.concatenate([held, here[:, None]], 1))
            worth, rate = here @ self.ends.T, way @ self.ends.T
            rival = best[:, self.owner]
            behind = np.take_along_axis(worth, rival, axis=1) - worth
            closing = rate - np.take_along_axis(rate, rival, axis=1)
            near = closing > TIE * self.size
            steps = np.where(near, np.maximum(behind, 0.0) / np.where(near, closing, 1.0), np.inf)
            met = steps.argmin(axis=1)
            step = steps[every, met]
            here = here + np.where(np.isfinite(step), step, 0.0)[:, None] * way
            here /= np.linalg.norm(here, axis=1)[:, None]
            apart = self.ends[met] - self.ends[best[every, self.owner[met]]]
            held = np.concatenate([held, _across(apart, held)[:, None]], axis=1)
        _, spread, axes = np.linalg.svd(held, full_matrices=True)
        ray = axes[:, -1] * np.sign((axes[:, -1] * here).sum(axis=1))[:, None]
        ended = spread[:, -1] > 1e-6 if self.dimension > 1 else np.ones(len(ray), dtype=bool)
        return np.asarray(ray[ended])


def _across(vectors: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Unit vectors (walks, n) without what they have along held (walks, k, n), orthonormal."""
    for _ in range(2):
        along = np.einsum("kin,kn->ki", held, vectors)
        vectors = vectors - np.einsum("kin,ki->kn", held, along)
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-300)[:, None])


def _new(rays: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Rays that are not among those known, each once."""
    every = np.vstack([known, rays])
    _, first = np.unique(np.round(every, 7) + 0.0, axis=0, return_index=True)
    return np.asarray(every[np.sort(first[first >= len(known)])])
