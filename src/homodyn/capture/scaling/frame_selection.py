"""Frames that tell most about a person: far apart in pose, with many markers seen."""

from __future__ import annotations

import numpy as np

MAX_PAIRS = 400
"""Distances compared at most."""


def diverse_frames(positions: np.ndarray, count: int) -> np.ndarray:
    """Indices of ``count`` frames that differ most, in the order of time.

    Poses are compared by the distances between markers, which do not depend on where the person
    stands or looks. The frame with most markers is first; the next is always the one farthest from
    all chosen before (Gonzalez 1985).
    """
    seen = np.isfinite(positions).all(-1)
    usable = np.flatnonzero(seen.sum(1) >= max(3, 0.5 * seen.sum(1).max(initial=0)))
    if len(usable) <= count:
        return usable
    features = _distances(positions[usable])
    first = int(np.argmax(seen[usable].sum(1)))
    chosen = [first]
    away = _feature_distances(features, features[first])
    while len(chosen) < count:
        farthest = int(np.argmax(away))
        chosen.append(farthest)
        away = np.minimum(away, _feature_distances(features, features[farthest]))
        away[chosen] = -1.0
    return usable[np.sort(chosen)]


def _distances(positions: np.ndarray) -> np.ndarray:
    """Distances (frames, pairs) of evenly drawn pairs of markers, NaN where one was not seen."""
    one, two = np.triu_indices(positions.shape[1], 1)
    drawn = np.linspace(0, len(one) - 1, min(MAX_PAIRS, len(one))).astype(int)
    return np.linalg.norm(positions[:, one[drawn]] - positions[:, two[drawn]], axis=-1)


def _feature_distances(features: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Root mean squared difference over what both show."""
    both = np.isfinite(features) & np.isfinite(other)
    square = np.where(both, (features - other) ** 2, 0.0).sum(1)
    return np.sqrt(square / np.maximum(both.sum(1), 1))
