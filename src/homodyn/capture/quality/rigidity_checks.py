"""Faults that show in distances between markers of one segment: wrong labels and slipping markers.

A distance within a segment stays in a narrow band. A marker whose distances to most of its
companions leave their bands together is not where its label says. As joints that begin to bend
look alike, a wrong label must also show a break: its stretch begins or ends with a jump or a gap.
"""

from __future__ import annotations

import numpy as np

from homodyn.capture.filters.butterworth_filter import true_runs
from homodyn.capture.quality.marker_clusters import median_and_spread

SKIN_MOTION_BAND_M = 0.02
"""m: what skin lets a distance within a segment vary, beyond what it usually does."""
BAND_SPREAD_FACTOR = 5.0
"""Usual variations that are added to the band."""
MIN_DRIFT_M = 0.008
"""m: a distance that has changed by this much at the end, steadily, has drifted."""
MIN_DRIFT_CORRELATION = 0.95
"""Correlation with a straight line in time from which a change counts as steady."""


def find_mislabels(
    positions: np.ndarray, mates: list[np.ndarray], breaks: set[tuple[int, int]]
) -> list[tuple[int, int, int]]:
    """Marker, first and last frame of stretches away from the segment.

    ``breaks`` are (frame, marker) at which paths are discontinuous.
    """
    outside = np.zeros(positions.shape[:2], dtype=bool)
    for k, others in enumerate(mates):
        if len(others) >= 2:
            outside[:, k] = _outside_band(positions, k, others)
    found = []
    frames = len(positions)
    seen = np.isfinite(positions).all(axis=2)
    for k in range(positions.shape[1]):
        for first, last in true_runs(outside[:, k]):
            starts = first > 0 and ((first, k) in breaks or not seen[first - 1, k])
            ends = last < frames and ((last, k) in breaks or not seen[last, k])
            # Both edges must be breaks unless one is that of the recording.
            if (starts or first == 0) and (ends or last == frames) and (starts or ends):
                found.append((k, first, last - 1))
    return found


def _outside_band(positions: np.ndarray, k: int, others: np.ndarray) -> np.ndarray:
    """Frames at which most distances of a marker to its companions are out of their bands."""
    distance = np.linalg.norm(positions[:, others] - positions[:, k, None], axis=2)
    middle, spread = median_and_spread(distance)
    away = np.abs(distance - middle) > SKIN_MOTION_BAND_M + BAND_SPREAD_FACTOR * spread
    counted = np.isfinite(distance).sum(axis=1)
    out = away.sum(axis=1)
    return np.asarray((counted >= 2) & (out > 0.5 * counted))


def find_drifts(positions: np.ndarray, mates: list[np.ndarray]) -> list[tuple[int, float]]:
    """Markers that move steadily away from their place on the segment, and by how far (m)."""
    count = positions.shape[1]
    # Change of each distance over the recording, zero where it is not steady.
    change = np.zeros((count, count))
    for k, others in enumerate(mates):
        for other in others:
            distance = np.linalg.norm(positions[:, other] - positions[:, k], axis=1)
            change[k, other] = change[other, k] = _steady_change(distance)
    moved = np.abs(change) >= MIN_DRIFT_M
    found = []
    for k, others in enumerate(mates):
        if len(others) < 3 or moved[k, others].sum() <= 0.5 * len(others):
            continue
        # It is this one that moves if its companions keep their distances among themselves.
        among = moved[np.ix_(others, others)]
        if among.sum() <= 0.25 * len(others) * (len(others) - 1):
            found.append((k, float(np.abs(change[k, others]).max())))
    return found


def _steady_change(distance: np.ndarray) -> float:
    seen = np.isfinite(distance)
    if seen.sum() < 30 or seen.sum() < 0.3 * len(distance):
        return 0.0
    time = np.flatnonzero(seen) / len(distance)
    values = distance[seen]
    if np.ptp(values) < MIN_DRIFT_M:
        return 0.0
    slope = np.polyfit(time, values, 1)[0]
    correlation = np.corrcoef(time, values)[0, 1]
    return float(slope) if abs(correlation) >= MIN_DRIFT_CORRELATION else 0.0
