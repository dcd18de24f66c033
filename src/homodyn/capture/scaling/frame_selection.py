"""Selection of frames for calibration: different poses, with many visible markers."""

from __future__ import annotations

import numpy as np

MAX_PAIRS = 400
"""Marker distances that describe a pose."""


MIN_TRIAL_FRAMES = 3
"""Frames taken from each of several trials, so that a static trial is not outvoted."""


def diverse_frames(
    positions: np.ndarray, count: int, trials: np.ndarray | None = None
) -> np.ndarray:
    """Indices of ``count`` frames whose poses differ most, in the order of time.

    Poses are compared by the distances between markers, which do not depend on position and heading
    of the person. The frame with most markers is first; the next is always the one farthest from
    all chosen before (Gonzalez 1985).

    Args:
        positions: (frames, markers, 3), m; NaN where not seen.
        count: Number of frames.
        trials: (frames,): index of the trial of each frame. Of several trials, each has
            `MIN_TRIAL_FRAMES` frames at least, as far as ``count`` allows.

    Returns:
        (count,), fewer where fewer frames are usable.
    """
    seen = np.isfinite(positions).all(-1)
    usable = np.flatnonzero(seen.sum(1) >= max(3, 0.5 * seen.sum(1).max(initial=0)))
    if len(usable) <= count:
        return usable
    features = _distances(positions[usable])
    chosen = [int(np.argmax(seen[usable].sum(1)))]
    if trials is not None:
        chosen = _trial_frames(trials[usable], seen[usable].sum(1), count) or chosen
    distance = np.min([_feature_distances(features, features[k]) for k in chosen], axis=0)
    distance[chosen] = -1.0
    while len(chosen) < count:
        farthest = int(np.argmax(distance))
        chosen.append(farthest)
        distance = np.minimum(distance, _feature_distances(features, features[farthest]))
        distance[chosen] = -1.0
    return usable[np.sort(chosen)]


def _trial_frames(trials: np.ndarray, seen: np.ndarray, count: int) -> list[int]:
    """Frames of each of several trials, evenly spread among those with most markers."""
    names = np.unique(trials)
    share = min(MIN_TRIAL_FRAMES, count // len(names))
    if len(names) < 2:
        return []
    chosen: list[int] = []
    for name in names:
        own = np.flatnonzero(trials == name)
        full = own[seen[own] == seen[own].max()]
        chosen += [
            int(k) for k in np.unique(full[np.linspace(0, len(full) - 1, share).astype(int)])
        ]
    return chosen


def _distances(positions: np.ndarray) -> np.ndarray:
    """Distances (frames, pairs) of evenly selected marker pairs, NaN where one was not seen."""
    one, two = np.triu_indices(positions.shape[1], 1)
    pairs = np.linspace(0, len(one) - 1, min(MAX_PAIRS, len(one))).astype(int)
    return np.linalg.norm(positions[:, one[pairs]] - positions[:, two[pairs]], axis=-1)


def _feature_distances(features: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Root mean square of the differences, over pairs that both frames show."""
    both = np.isfinite(features) & np.isfinite(other)
    square = np.where(both, (features - other) ** 2, 0.0).sum(1)
    return np.sqrt(square / np.maximum(both.sum(1), 1))
