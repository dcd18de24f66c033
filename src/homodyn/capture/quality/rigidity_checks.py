"""Checks of the distances between markers of one segment: wrong labels and drifting markers.

A distance within a segment stays in a narrow band. A marker whose distances to most of its
companions leave their bands together is mislabeled. Since a bending joint looks similar, a
mislabeled interval must also begin or end with a discontinuity: a jump or a gap, or a step of its
distances, which shows at low frame rates where the speed of a trajectory shows nothing.
"""

from __future__ import annotations

import numpy as np

from homodyn.capture.mask_runs import true_runs
from homodyn.capture.quality.marker_clusters import median_and_spread

SKIN_MOTION_BAND_M = 0.02
"""Variation (m) of a distance within a segment due to skin motion, beyond its usual variation."""
BAND_SPREAD_FACTOR = 5.0
"""Multiple of the usual variation that is added to the band."""
MIN_DISTANCE_STEP_M = 0.08
"""Change (m) of the distances to most companions from one frame to the next that is no movement:
bending a knee at 400 deg/s changes them by 5 cm at 25 Hz."""
MIN_DRIFT_M = 0.008
"""Steady change (m) of a distance over the recording that counts as a drift."""
MIN_DRIFT_DURATION_S = 1.0
"""Duration (s) from which a steady change is not a part of a movement."""
MIN_DRIFT_CORRELATION = 0.95
"""Correlation with time above which a change counts as steady."""


def find_mislabels(
    positions: np.ndarray, companions: list[np.ndarray], breaks: set[tuple[int, int]]
) -> list[tuple[int, int, int]]:
    """Marker, first and last frame of intervals in which a marker is not on its segment.

    Args:
        positions: (frames, markers, 3), m.
        companions: For each marker, markers of the same segment.
        breaks: (frame, marker) at which trajectories are discontinuous.
    """
    outside = np.zeros(positions.shape[:2], dtype=bool)
    for k, others in enumerate(companions):
        if len(others) >= 2:
            outside[:, k] = _outside_band(positions, k, others)
    found = []
    frames = len(positions)
    seen = np.isfinite(positions).all(axis=2)

    def is_break(frame: int, k: int, before: bool) -> bool:
        """Whether a trajectory is discontinuous at the first or after the last frame of a run."""
        if not 0 < frame < frames:
            return False
        gap = not seen[frame - 1 if before else frame, k]
        return (frame, k) in breaks or gap or _distance_step(positions, k, companions[k], frame)

    for k in range(positions.shape[1]):
        for first, last in true_runs(outside[:, k]):
            starts, ends = is_break(first, k, True), is_break(last, k, False)
            # Both ends must be discontinuities unless one is that of the recording.
            if (starts or first == 0) and (ends or last == frames) and (starts or ends):
                found.append((k, first, last - 1))
    return found


def _distance_step(positions: np.ndarray, k: int, others: np.ndarray, frame: int) -> bool:
    """Whether most distances of a marker to its companions change at once at a frame."""
    pair = positions[frame - 1 : frame + 1]
    change = np.abs(np.diff(np.linalg.norm(pair[:, others] - pair[:, k, None], axis=2), axis=0))[0]
    change = change[np.isfinite(change)]
    return bool(len(change) >= 2 and np.median(change) > MIN_DISTANCE_STEP_M)


def _outside_band(positions: np.ndarray, k: int, others: np.ndarray) -> np.ndarray:
    """Frames in which most distances of a marker to its companions are outside their bands."""
    distance = np.linalg.norm(positions[:, others] - positions[:, k, None], axis=2)
    median, spread = median_and_spread(distance)
    outside = np.abs(distance - median) > SKIN_MOTION_BAND_M + BAND_SPREAD_FACTOR * spread
    counted = np.isfinite(distance).sum(axis=1)
    return np.asarray((counted >= 2) & (outside.sum(axis=1) > 0.5 * counted))


def find_drifts(
    positions: np.ndarray, companions: list[np.ndarray], rate: float
) -> list[tuple[int, float]]:
    """Markers that drift along their segment, and the change of their distances (m).

    In less than `MIN_DRIFT_DURATION_S` a steady change of a distance is a movement of the skin.
    """
    count = positions.shape[1]
    if len(positions) < MIN_DRIFT_DURATION_S * rate:
        return []
    # Change of each distance over the recording, zero where it is not steady.
    change = np.zeros((count, count))
    for k, others in enumerate(companions):
        for other in others:
            distance = np.linalg.norm(positions[:, other] - positions[:, k], axis=1)
            change[k, other] = change[other, k] = _steady_change(distance)
    drifting = np.abs(change) >= MIN_DRIFT_M
    found = []
    for k, others in enumerate(companions):
        if len(others) < 3 or drifting[k, others].sum() <= 0.5 * len(others):
            continue
        # This marker drifts if its companions keep their distances to each other.
        among = drifting[np.ix_(others, others)]
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
