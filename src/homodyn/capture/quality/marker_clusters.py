"""Clusters of markers at constant distances: markers of one segment."""

from __future__ import annotations

import numpy as np

from homodyn.model import Model

MAX_SAMPLED_FRAMES = 200
"""Frames that are sampled to find constant distances."""
MAX_DISTANCE_SPREAD_M = 0.008
"""Largest variation (m) of a distance within a segment."""
MAX_SEGMENT_LENGTH_M = 0.7
"""Longest distance (m) within a segment."""
MAX_COMPANIONS = 6
"""Largest number of companions of a marker."""


def find_companions(
    positions: np.ndarray, labels: tuple[str, ...] = (), model: Model | None = None
) -> list[np.ndarray]:
    """For each marker, the indices of markers at a constant distance, the most constant first.

    With a model they are the markers of the same body, by name, when there are two or more;
    otherwise those whose distance has the smallest median absolute deviation.

    Args:
        positions: (frames, markers, 3), m.
        labels: Names of the markers.
        model: Says which markers share a body.
    """
    frames, count = positions.shape[:2]
    if not frames:
        return [np.zeros(0, dtype=int)] * count
    sample = positions[:: max(1, frames // MAX_SAMPLED_FRAMES)]
    bodies = {marker.name: marker.body for marker in model.markers} if model else {}
    body_of = np.array([bodies.get(label, "") for label in labels] if labels else [""] * count)
    found = []
    for k in range(count):
        # A few frames are enough to exclude distant markers.
        rough = np.linalg.norm(sample[::10] - sample[::10, k : k + 1], axis=2)
        near = np.flatnonzero(np.fmin.reduce(rough, axis=0) <= MAX_SEGMENT_LENGTH_M)
        near = near[near != k]
        distance = np.linalg.norm(sample[:, near] - sample[:, k : k + 1], axis=2)
        median, spread = median_and_spread(distance)
        # A marker that drifts along its segment still belongs to it.
        spread = np.fmin(spread, median_and_spread(_remove_trend(distance))[1])
        # The tails break ties among pairs that are constant most of the time.
        tails = quantile(np.abs(distance - median), 0.95)
        same = (body_of[near] == body_of[k]) & (body_of[k] != "")
        if same.sum() >= 2:
            fits = same & (spread <= 2 * MAX_DISTANCE_SPREAD_M)
        else:
            fits = (
                (spread <= MAX_DISTANCE_SPREAD_M)
                & (median <= MAX_SEGMENT_LENGTH_M)
                & (median > 1e-4)
            )
        order = np.argsort(np.where(fits, spread + 0.2 * tails, np.inf), kind="stable")
        found.append(near[order[: min(MAX_COMPANIONS, int(fits.sum()))]])
    return found


def _remove_trend(distance: np.ndarray) -> np.ndarray:
    """Distances without their trend: a line through the medians of the first and last third."""
    third = len(distance) // 3
    if third < 10:
        return distance
    change = quantile(distance[-third:], 0.5) - quantile(distance[:third], 0.5)
    return distance - np.linspace(-0.75, 0.75, len(distance))[:, None] * change


def median_and_spread(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Median and robust standard deviation along axis 0; NaN for fewer than 10 finite values."""
    median = quantile(values, 0.5)
    return median, 1.4826 * quantile(np.abs(values - median), 0.5)


def quantile(values: np.ndarray, share: float, min_count: int = 10) -> np.ndarray:
    """Quantile along axis 0 of the finite values; NaN for fewer than ``min_count`` values."""
    if not len(values):
        return np.full(values.shape[1:], np.nan)
    ordered = np.sort(values, axis=0)
    counted = np.isfinite(values).sum(axis=0)
    index = np.clip(np.rint(share * (counted - 1)).astype(int), 0, None)
    selected = np.take_along_axis(ordered, index[None], axis=0)[0]
    return np.where(counted >= min(min_count, len(values)), selected, np.nan)


def flatness(points: np.ndarray) -> float:
    """Second singular value of points about their mean (m): near zero for points on a line."""
    return float(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[1])
