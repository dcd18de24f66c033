"""Distances of segments to several obstacles, with one call for all obstacles of a kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from homodyn.control.collision.segment_distance import guard_kernel, nearest_kernel, obstacle_frame
from homodyn.motion.obstacles import Obstacle
from homodyn.symbolic import Kernel

GUARDED_POINTS = 3
"""Points of a segment at an obstacle: the nearest, and one on each side of it."""


def nearest_on_obstacles(
    obstacles: Sequence[Obstacle], start: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `nearest_on_segments`, for each segment and each obstacle.

    Args:
        obstacles: The obstacles.
        start: (..., 3), m, world.
        end: (..., 3), m, world.

    Returns:
        Shares (..., obstacles), distances (..., obstacles), m, and normals (..., obstacles, 3).

    Raises:
        ModelError: The kind of an obstacle has no surface here.
    """
    shape = (*start.shape[:-1], len(obstacles))
    index = np.broadcast_to(np.arange(len(obstacles)), shape)
    starts, ends = (
        np.broadcast_to(point[..., None, :], (*shape, 3)).reshape(-1, 3) for point in (start, end)
    )
    share, distance, normal = _by_kind(obstacles, index.ravel(), starts, ends, nearest_kernel)
    return share.reshape(shape), distance.reshape(shape), normal.reshape(*shape, 3)


def guarded_on_pairs(
    obstacles: Sequence[Obstacle], index: np.ndarray, start: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `guarded_on_segments`, for pairs of a segment and an obstacle.

    Args:
        obstacles: The obstacles.
        index: (pairs,): the obstacle of each pair.
        start: (pairs, 3), m, world.
        end: (pairs, 3), m, world.

    Returns:
        Shares (pairs, 3), distances (pairs, 3), m, and normals (pairs, 3, 3).

    Raises:
        ModelError: The kind of an obstacle has no surface here.
    """
    share, distance, normal = _by_kind(obstacles, index, start, end, guard_kernel)
    shape = (len(index), GUARDED_POINTS)
    return share.reshape(shape), distance.reshape(shape), normal.reshape(*shape, 3)


def _by_kind(
    obstacles: Sequence[Obstacle],
    index: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    kernel_of: Callable[[str], Kernel],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Results (pairs, points) of a kernel, called once per kind of obstacle."""
    frames = [obstacle_frame(obstacle) for obstacle in obstacles]
    origins, axes, sizes = (np.array(part) for part in zip(*frames, strict=True))
    kinds = np.array([type(obstacle).__name__ for obstacle in obstacles])
    points = 1 if kernel_of is nearest_kernel else GUARDED_POINTS
    share, distance = np.zeros((2, len(index), points))
    normal = np.zeros((len(index), points, 3))
    for kind in np.unique(kinds[index]) if len(index) else ():
        own = np.flatnonzero(kinds[index] == kind)
        turn = axes[index[own]]
        local = [
            np.einsum("pi,pij->pj", point[own] - origins[index[own]], turn)
            for point in (start, end)
        ]
        found = kernel_of(str(kind))(*local, sizes[index[own]])
        share[own] = np.reshape(found[0], (-1, points))
        distance[own] = np.reshape(found[1], (-1, points))
        turned = np.reshape(found[2], (-1, points, 3))
        normal[own] = np.einsum("pkj,pij->pki", turned, turn)
    return share, distance, normal
