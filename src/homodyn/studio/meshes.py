"""Meshes of unit size that the scene draws many times, and how to turn them.

They have few triangles: a machine without a graphics card spends its time on these.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np

Mesh = tuple[np.ndarray, np.ndarray]
"""Corners (n, 3), m, and triangles (m, 3)."""


@cache
def cylinder(sides: int = 14) -> Mesh:
    """An open tube of radius 1 along z from -1/2 to 1/2."""
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    ends = [np.column_stack([ring, np.full(sides, z)]) for z in (-0.5, 0.5)]
    here = np.arange(sides)
    there = (here + 1) % sides
    low = np.column_stack([here, there, there + sides])
    high = np.column_stack([here, there + sides, here + sides])
    return np.vstack(ends).astype(np.float32), np.vstack([low, high]).astype(np.uint32)


@cache
def ball(rings: int = 8, sides: int = 14) -> Mesh:
    """A sphere of radius 1, by latitudes and longitudes."""
    polar = np.pi * np.arange(1, rings) / rings
    around = 2 * np.pi * np.arange(sides) / sides
    middle = np.stack(
        [
            np.outer(np.sin(polar), np.cos(around)),
            np.outer(np.sin(polar), np.sin(around)),
            np.outer(np.cos(polar), np.ones(sides)),
        ],
        axis=-1,
    ).reshape(-1, 3)
    corners = np.vstack([[0.0, 0.0, 1.0], middle, [0.0, 0.0, -1.0]])
    last = len(corners) - 1
    faces: list[tuple[int, int, int]] = []
    for k in range(sides):
        n = (k + 1) % sides
        faces.append((0, 1 + k, 1 + n))
        for row in range(rings - 2):
            a, b = 1 + row * sides + k, 1 + row * sides + n
            faces += [(a, a + sides, b + sides), (a, b + sides, b)]
        base = 1 + (rings - 2) * sides
        faces.append((last, base + n, base + k))
    return corners.astype(np.float32), np.array(faces, dtype=np.uint32)


@cache
def dome(sides: int = 14) -> Mesh:
    """The half of a ball of radius 1 above z = 0, with a rim below it.

    The rim lets its edge be shaded like that of a tube which it closes.
    """
    corners, faces = ball(6, sides)
    above = corners[:, 2] > -0.6
    return corners[above], faces[above[faces].all(axis=1)]


@cache
def bead() -> Mesh:
    """A ball of radius 1 with the fewest triangles that look round when small: an icosahedron."""
    golden = (1 + np.sqrt(5)) / 2
    pairs = np.array([(0, s, t * golden) for s in (-1, 1) for t in (-1, 1)])
    corners = np.concatenate([np.roll(pairs, k, axis=1) for k in range(3)])
    corners /= np.linalg.norm(corners, axis=1, keepdims=True)
    near = corners @ corners.T > 0.4
    faces = [
        (a, b, c) if np.linalg.det(corners[[a, b, c]]) > 0 else (a, c, b)
        for a, b, c in combinations(range(len(corners)), 3)
        if near[a, b] and near[b, c] and near[a, c]
    ]
    return corners.astype(np.float32), np.array(faces, dtype=np.uint32)


def along(vectors: np.ndarray) -> np.ndarray:
    """Quaternions (..., w x y z) that turn z along vectors, or against them.

    They are for things whose ends are alike, so the turn is never by more than a quarter.
    """
    vectors = np.asarray(vectors, dtype=float)
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    unit = np.where(length > 0, unit, [0.0, 0.0, 1.0])
    unit = np.where(unit[..., 2:] < 0, -unit, unit)
    turn = np.stack(
        [1 + unit[..., 2], -unit[..., 1], unit[..., 0], np.zeros(unit.shape[:-1])], axis=-1
    )
    return turn / np.linalg.norm(turn, axis=-1, keepdims=True)


def towards(vectors: np.ndarray) -> np.ndarray:
    """Quaternions (..., w x y z) that turn z into the direction of vectors; none turns one of 0."""
    vectors = np.asarray(vectors, dtype=float)
    turn = along(vectors)
    w, x, y, z = np.moveaxis(turn, -1, 0)
    upside_down = np.stack([-x, w, z, -y], axis=-1)
    return np.where(vectors[..., 2:] < 0, upside_down, turn)
