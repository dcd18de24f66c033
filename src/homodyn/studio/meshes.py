"""Meshes of unit size that the scene draws many times, and their orientations.

They have few triangles, which dominate the cost of a frame without a graphics card.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np

Mesh = tuple[np.ndarray, np.ndarray]
"""Vertices (n, 3), m, and triangles (m, 3)."""


@cache
def cylinder(sides: int = 14) -> Mesh:
    """An open tube of radius 1 along z from -1/2 to 1/2."""
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    ends = [np.column_stack([ring, np.full(sides, z)]) for z in (-0.5, 0.5)]
    first = np.arange(sides)
    second = (first + 1) % sides
    low = np.column_stack([first, second, second + sides])
    high = np.column_stack([first, second + sides, first + sides])
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

    With the rim its edge is shaded like the tube that it closes.
    """
    corners, faces = ball(6, sides)
    above = corners[:, 2] > -0.6
    return corners[above], faces[above[faces].all(axis=1)]


@cache
def bead() -> Mesh:
    """An icosahedron of radius 1, which looks round when it is small."""
    golden = (1 + np.sqrt(5)) / 2
    pairs = np.array([(0, s, t * golden) for s in (-1, 1) for t in (-1, 1)])
    corners = np.concatenate([np.roll(pairs, k, axis=1) for k in range(3)])
    corners /= np.linalg.norm(corners, axis=1, keepdims=True)
    adjacent = corners @ corners.T > 0.4
    faces = [
        (a, b, c) if np.linalg.det(corners[[a, b, c]]) > 0 else (a, c, b)
        for a, b, c in combinations(range(len(corners)), 3)
        if adjacent[a, b] and adjacent[b, c] and adjacent[a, c]
    ]
    return corners.astype(np.float32), np.array(faces, dtype=np.uint32)


def axial_rotation(vectors: np.ndarray) -> np.ndarray:
    """Quaternions (..., w x y z) that rotate z along or against vectors, by at most 90 degrees.

    They are for shapes whose two ends are equal.
    """
    vectors = np.asarray(vectors, dtype=float)
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    unit = np.where(length > 0, unit, [0.0, 0.0, 1.0])
    unit = np.where(unit[..., 2:] < 0, -unit, unit)
    rotation = np.stack(
        [1 + unit[..., 2], -unit[..., 1], unit[..., 0], np.zeros(unit.shape[:-1])], axis=-1
    )
    return rotation / np.linalg.norm(rotation, axis=-1, keepdims=True)


def directed_rotation(vectors: np.ndarray) -> np.ndarray:
    """Quaternions (..., w x y z) that rotate z into the direction of vectors; identity for 0."""
    vectors = np.asarray(vectors, dtype=float)
    rotation = axial_rotation(vectors)
    w, x, y, z = np.moveaxis(rotation, -1, 0)
    upside_down = np.stack([-x, w, z, -y], axis=-1)
    return np.where(vectors[..., 2:] < 0, upside_down, rotation)
