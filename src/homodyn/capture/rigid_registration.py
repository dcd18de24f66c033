"""Rigid registration of point sets: the rotation and translation between them (Kabsch)."""

from __future__ import annotations

import numpy as np


def register_points(
    source: np.ndarray, target: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rotation R and translation p that minimize ``|R source + p - target|^2``, batched.

    Kabsch, Acta Crystallogr. A 32 (1976) 922; reflections are excluded.

    Args:
        source: (..., points, 3), m.
        target: (..., points, 3), m.
        weights: (..., points); equal when left out.

    Returns:
        R, (..., 3, 3), and p, (..., 3), m.
    """
    if weights is None:
        center, goal = source.mean(axis=-2), target.mean(axis=-2)
        covariance = np.swapaxes(target - goal[..., None, :], -1, -2) @ (
            source - center[..., None, :]
        )
        u, _, vt = np.linalg.svd(covariance)
        sign = np.sign(np.linalg.det(u @ vt))
        u = u * np.stack([np.ones_like(sign), np.ones_like(sign), sign], axis=-1)[..., None, :]
        rotation = u @ vt
        return rotation, goal - (rotation @ center[..., None])[..., 0]
    total = weights.sum(-1)[..., None]
    center = np.einsum("...m,...mi->...i", weights, source) / total
    goal = np.einsum("...m,...mi->...i", weights, target) / total
    covariance = np.einsum(
        "...m,...mi,...mj->...ij",
        weights,
        source - center[..., None, :],
        target - goal[..., None, :],
    )
    u, _, vt = np.linalg.svd(covariance)
    flip = np.ones((*covariance.shape[:-2], 3))
    flip[..., 2] = np.sign(np.linalg.det(u) * np.linalg.det(vt))
    rotation = np.einsum("...ji,...j,...kj->...ik", vt, flip, u)
    return rotation, goal - np.einsum("...ij,...j->...i", rotation, center)
