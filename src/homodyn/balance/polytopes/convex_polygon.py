"""Distance of a point from the border of a convex polygon in the plane."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError


def signed_distance_inside(points: np.ndarray, place: np.ndarray) -> float:
    """Distance (m) of a place from the border of the hull of points in a plane; outside negative.

    Points in one line, or a single one, have no inside.
    """
    try:
        corners = points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        flat = _farthest_pair(points)
        return -float(_from_segments(place, flat[:1], flat[1:]).min())
    after = np.roll(corners, -1, axis=0)
    distance = float(_from_segments(place, corners, after).min())
    edge, away = after - corners, place - corners
    # Corners of the hull run counter-clockwise, so its inside is to the left of every edge.
    within = bool((edge[:, 0] * away[:, 1] - edge[:, 1] * away[:, 0] >= 0).all())
    return distance if within else -distance


def _farthest_pair(points: np.ndarray) -> np.ndarray:
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    first, second = np.unravel_index(int(apart.argmax()), apart.shape)
    return points[[first, second]]


def _from_segments(place: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    along = end - start
    length = np.maximum((along**2).sum(axis=1), 1e-18)
    share = np.clip(((place - start) * along).sum(axis=1) / length, 0.0, 1.0)
    return np.asarray(np.linalg.norm(start + share[:, None] * along - place, axis=1))
