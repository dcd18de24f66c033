"""Force generators of supports: the vectors that span all forces a support can give.

Every wrench of a support is a sum of ``weight * generator`` with non-negative weights. A generator
of a contact patch is an edge of the friction pyramid at a corner, with a normal force of 1 N. The
generators of a grasp are its axes in both directions, or directions around a sphere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from homodyn.motion.supports import (
    ContactPatch,
    FrictionPyramid,
    Grasp,
    GraspBounds,
    Support,
)


@dataclass(frozen=True, eq=False)
class ForceGenerators:
    """Generators of one support, and the limits of their weights."""

    points: np.ndarray
    """(generators, 3), m: points of application."""
    forces: np.ndarray
    """(generators, 3), N."""
    moments: np.ndarray
    """(generators, 3), N m: couples; zero for contacts."""
    parts: tuple[tuple[np.ndarray, float], ...]
    """Indices of generators and the largest sum of their weights (N or N m), per part."""
    groups: np.ndarray
    """(generators,): index of the corner of a patch, or of the part of a grasp."""


def force_generators(support: Support) -> ForceGenerators:
    """The generators of a contact patch or a grasp."""
    return _grasp(support) if isinstance(support, Grasp) else _patch(support)


def pyramid_edges(patch: ContactPatch) -> np.ndarray:
    """(sides, 3): edges of the friction pyramid of a patch, each with a normal component of one."""
    # Without friction all edges are the normal.
    count = patch.sides if patch.friction else 1
    angle = np.pi / patch.sides + 2 * np.pi * np.arange(count) / patch.sides
    radius = patch.friction
    if patch.pyramid is FrictionPyramid.OUTER:
        radius = patch.friction / np.cos(np.pi / patch.sides)
    tangential = radius * np.c_[np.cos(angle), np.sin(angle)]
    return np.c_[tangential, np.ones(count)] @ patch.axes


def _patch(patch: ContactPatch) -> ForceGenerators:
    edges = pyramid_edges(patch)
    forces = np.tile(edges, (len(patch.corners), 1))
    return ForceGenerators(
        np.repeat(patch.corners, len(edges), axis=0),
        forces,
        np.zeros_like(forces),
        ((np.arange(len(forces)), patch.limit),),
        np.repeat(np.arange(len(patch.corners)), len(edges)),
    )


def _grasp(grasp: Grasp) -> ForceGenerators:
    parts = _grasp_parts(grasp)
    counts = [len(wrenches) for wrenches, _ in parts]
    ends = np.cumsum(counts)
    wrenches = np.concatenate([np.zeros((0, 6)), *(wrenches for wrenches, _ in parts)])
    return ForceGenerators(
        np.tile(grasp.middle, (len(wrenches), 1)),
        wrenches[:, 3:],
        wrenches[:, :3],
        tuple(
            (np.arange(end - count, end), limit)
            for end, count, (_, limit) in zip(ends, counts, parts, strict=True)
        ),
        np.repeat(np.arange(len(parts)), counts),
    )


def _grasp_parts(grasp: Grasp) -> list[tuple[np.ndarray, float]]:
    """Generators (count, 6) of each part, and the largest sum of their weights (N or N m)."""
    axes = np.asarray(grasp.orientation).T
    none = np.zeros((3, 3))
    parts: list[tuple[Any, Any]] = []
    for limit, wrenches in (
        (np.asarray(grasp.force), np.c_[none, axes]),
        (np.asarray(grasp.moment), np.c_[axes, none]),
    ):
        if not limit.any():
            continue
        if grasp.within is GraspBounds.BALL:
            scaled = _sphere_directions() * (limit / limit.max())
            parts.append((scaled @ wrenches, limit.max()))
        else:
            parts += [
                (np.stack([axis, -axis]), bound)
                for axis, bound in zip(wrenches, limit, strict=True)
                if bound
            ]
    return [(wrenches, float(limit)) for wrenches, limit in parts]


def _sphere_directions() -> np.ndarray:
    """(32, 3): vertices of an icosahedron and of its dual dodecahedron, unit vectors.

    Their hull has 60 sides and contains a ball of 0.92 of its size.
    """
    golden = (1 + np.sqrt(5)) / 2
    signs = np.array([[a, b] for a in (1, -1) for b in (1, -1)], dtype=float)
    zero = np.zeros((4, 1))
    edges = np.c_[zero, signs * [1, golden]], np.c_[zero, signs * [golden, 1 / golden]]
    cube = np.array([[a, b, c] for a in (1, -1) for b in (1, -1) for c in (1, -1)], dtype=float)
    vertices = np.vstack([*(np.roll(each, k, axis=1) for each in edges for k in range(3)), cube])
    return np.asarray(vertices / np.linalg.norm(vertices, axis=1)[:, None])
