"""Signed distance of a point from the border of a convex polygon in the plane."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError


def signed_distance_inside(points: np.ndarray, place: np.ndarray) -> float:
    """Distance (m) of a place from the border of the hull of points in a plane; negative outside.

    Collinear points, or a single one, have no interior.
    """
    try:
        corners = points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        ends = _farthest_pair(points)
        return -float(_segment_distances(place, ends[:1], ends[1:]).min())
    following = np.roll(corners, -1, axis=0)
    distance = float(_segment_distances(place, corners, following).min())
    edge, arm = following - corners, place - corners
    # The corners of the hull run counterclockwise, so its interior is to the left of every edge.
    inside = bool((edge[:, 0] * arm[:, 1] - edge[:, 1] * arm[:, 0] >= 0).all())
    return distance if inside else -distance


def _farthest_pair(points: np.ndarray) -> np.ndarray:
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    first, second = np.unravel_index(int(distances.argmax()), distances.shape)
    return points[[first, second]]


def _segment_distances(place: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    along = end - start
    squared_length = np.maximum((along**2).sum(axis=1), 1e-18)
    fraction = np.clip(((place - start) * along).sum(axis=1) / squared_length, 0.0, 1.0)
    return np.asarray(np.linalg.norm(start + fraction[:, None] * along - place, axis=1))
