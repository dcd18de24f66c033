"""Markers that keep their distances: which move as one body, and how that body is placed."""

from __future__ import annotations

import numpy as np

from homodyn.model import Model

MAX_SAMPLED_FRAMES = 200
"""Frames looked at to find out which distances are constant."""
MAX_DISTANCE_SPREAD_M = 0.008
"""m: a distance that usually varies more than this is not one within a segment."""
MAX_SEGMENT_LENGTH_M = 0.7
"""m: longest distance within a segment."""
MAX_COMPANIONS = 6
"""Companions of one marker."""


def find_companions(
    positions: np.ndarray, labels: tuple[str, ...] = (), model: Model | None = None
) -> list[np.ndarray]:
    """For each marker, those that keep their distance to it, the steadiest first.

    With a model they are the markers of the same body that carry the model's names, when there are
    two or more; otherwise those with which the distance usually (median absolute deviation)
    varies least. ``positions`` is (frames, markers, 3), m.
    """
    frames, count = positions.shape[:2]
    if not frames:
        return [np.zeros(0, dtype=int)] * count
    sample = positions[:: max(1, frames // MAX_SAMPLED_FRAMES)]
    bodies = {marker.name: marker.body for marker in model.markers} if model else {}
    at = np.array([bodies.get(label, "") for label in labels] if labels else [""] * count)
    found = []
    for k in range(count):
        # A few frames tell what is far too far away.
        rough = np.linalg.norm(sample[::10] - sample[::10, k : k + 1], axis=2)
        near = np.flatnonzero(np.fmin.reduce(rough, axis=0) <= MAX_SEGMENT_LENGTH_M)
        near = near[near != k]
        distance = np.linalg.norm(sample[:, near] - sample[:, k : k + 1], axis=2)
        middle, spread = median_and_spread(distance)
        # A marker that creeps along its segment belongs to it all the same.
        spread = np.fmin(spread, median_and_spread(_remove_trend(distance))[1])
        # The tails break ties among pairs that are steady most of the time.
        tails = quantile(np.abs(distance - middle), 0.95)
        same = (at[near] == at[k]) & (at[k] != "")
        if same.sum() >= 2:
            fits = same & (spread <= 2 * MAX_DISTANCE_SPREAD_M)
        else:
            fits = (
                (spread <= MAX_DISTANCE_SPREAD_M)
                & (middle <= MAX_SEGMENT_LENGTH_M)
                & (middle > 1e-4)
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
    """Median and robust standard deviation along axis 0, NaN left out; NaN where under 10 count."""
    middle = quantile(values, 0.5)
    return middle, 1.4826 * quantile(np.abs(values - middle), 0.5)


def quantile(values: np.ndarray, share: float, least: int = 10) -> np.ndarray:
    """Quantile along axis 0 of what is not NaN; NaN where fewer than ``least`` values are."""
    if not len(values):
        return np.full(values.shape[1:], np.nan)
    ordered = np.sort(values, axis=0)
    counted = np.isfinite(values).sum(axis=0)
    place = np.clip(np.rint(share * (counted - 1)).astype(int), 0, None)
    taken = np.take_along_axis(ordered, place[None], axis=0)[0]
    return np.where(counted >= min(least, len(values)), taken, np.nan)


def flatness(points: np.ndarray) -> float:
    """Second singular value of points about their mean (m): near zero when they are on a line."""
    return float(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[1])
