"""Checks of single trajectories: frozen markers, spikes, jumps, and swapped labels.

A position is predicted from the frames before it; a deviation beyond what a body can do is a
discontinuity. The limit corresponds to an acceleration, and is not below the usual deviations of
the marker.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.capture.mask_runs import true_runs
from homodyn.capture.quality.marker_clusters import quantile

MAX_ACCELERATION_M_S2 = 200.0
"""Largest acceleration (m/s²) of markers in walking and running, heel strike included."""
MIN_DISCONTINUITY_M = 0.015
"""Smallest discontinuity (m); smaller ones are measurement noise."""
DEPARTURE_FACTOR = 4.0
"""Multiple of the 95th percentile of the deviations of a marker."""
GAP_ACCELERATION_M_S2 = 15.0
"""Acceleration (m/s²) that, times the squared duration of a gap, limits the deviation after it."""
MIN_FROZEN_DURATION_S = 0.1
"""Duration (s) from which a constant position is frozen, if the neighbors move."""


@dataclass
class Discontinuities:
    """Discontinuities of the trajectories: spikes (one frame) and jumps (from that frame on)."""

    rate: float
    """Frames per second (Hz)."""
    limit: np.ndarray
    """(markers,), m: smallest deviation that counts."""
    spikes: list[tuple[int, int]]
    """Frame and marker of each spike."""
    jumps: list[tuple[int, int]]
    """First frame after the jump, and marker."""


def find_discontinuities(positions: np.ndarray, rate: float) -> Discontinuities:
    """Spikes and jumps of all markers; frames are counted from zero.

    Args:
        positions: (frames, markers, 3), m.
        rate: Frames per second (Hz).
    """
    limit = _departure_limits(positions, rate)
    spikes: list[tuple[int, int]] = []
    jumps: list[tuple[int, int]] = []
    for k in range(positions.shape[1]):
        path = positions[:, k]
        seen = np.isfinite(path).all(axis=1)
        if seen.sum() >= 5:
            for first, last in true_runs(seen):
                _scan_run(path[first:last], limit[k], first, k, spikes, jumps)
            jumps += [(frame, k) for frame in _jumps_after_gaps(path, seen, limit[k], rate)]
    return Discontinuities(rate, limit, spikes, sorted(jumps))


def _departure_limits(positions: np.ndarray, rate: float) -> np.ndarray:
    """(markers,): largest deviation from a straight path within a frame that is a movement (m)."""
    smallest = max(MIN_DISCONTINUITY_M, MAX_ACCELERATION_M_S2 / rate**2)
    deviation = np.linalg.norm(np.diff(positions, n=2, axis=0), axis=2)
    usual = quantile(deviation, 0.95) if len(deviation) else np.full(positions.shape[1], np.nan)
    return np.fmax(smallest, DEPARTURE_FACTOR * np.nan_to_num(usual))


def _scan_run(
    run: np.ndarray,
    limit: float,
    offset: int,
    marker: int,
    spikes: list[tuple[int, int]],
    jumps: list[tuple[int, int]],
) -> None:
    """Scan a run without gaps, comparing each frame with the prediction from the two before it."""
    count = len(run)
    if count < 3:
        return
    deviation = np.linalg.norm(np.diff(run, n=2, axis=0), axis=1)
    suspects = np.flatnonzero(deviation > limit) + 2
    if not len(suspects):
        return
    k = int(suspects[0])
    # The first frames cannot be predicted from earlier ones; they are compared with later ones.
    if k == 2:
        k = _scan_start(run, limit, offset, marker, spikes, jumps)
    while k < count:
        step = run[k - 1] - run[k - 2]
        error = np.linalg.norm(run[k] - (run[k - 1] + step))
        if error <= limit:
            k += 1
            continue
        if k + 1 >= count:
            spikes.append((offset + k, marker))
            return
        next_error = np.linalg.norm(run[k + 1] - (run[k - 1] + 2 * step))
        if next_error <= 3 * limit and next_error < 0.5 * error + limit:
            spikes.append((offset + k, marker))
            # Continue after the spike, with the spike interpolated.
            run = run.copy()
            run[k] = (run[k - 1] + run[k + 1]) / 2
            k += 2
        else:
            jumps.append((offset + k, marker))
            # The prediction after a jump starts from its first two frames.
            k += 2


def _scan_start(
    run: np.ndarray,
    limit: float,
    offset: int,
    marker: int,
    spikes: list[tuple[int, int]],
    jumps: list[tuple[int, int]],
) -> int:
    """Discontinuities within the first three frames; returns the frame at which to continue."""
    if len(run) < 5:
        return 2
    step = run[4] - run[3]
    smooth_after_1 = np.linalg.norm(run[1] - 2 * run[2] + run[3]) <= limit
    if smooth_after_1:
        if np.linalg.norm(run[0] - (run[1] - (run[2] - run[1]))) > limit:
            spikes.append((offset, marker))
        return 3
    if np.linalg.norm(run[2] - 2 * run[3] + run[4]) <= limit:
        error = np.linalg.norm(run[0] - (run[2] - 2 * step))
        if error <= 3 * limit:
            spikes.append((offset + 1, marker))
            return 4
        # The two frames after it are smooth: the jump is before frame 2.
        jumps.append((offset + 2, marker))
        return 4
    return 2


def _jumps_after_gaps(path: np.ndarray, seen: np.ndarray, limit: float, rate: float) -> list[int]:
    """Frames at which a marker reappears too far from its predicted position."""
    found = []
    for first, last in true_runs(~seen):
        if first < 2 or last + 1 >= len(path) or not (seen[first - 2] and seen[last + 1]):
            continue
        missing = last - first
        before, after = path[first - 1] - path[first - 2], path[last + 1] - path[last]
        expected = path[first - 1] + 0.5 * (before + after) * (missing + 1)
        # The deviation grows with the square of the duration of the gap.
        if (
            np.linalg.norm(path[last] - expected)
            > limit + GAP_ACCELERATION_M_S2 * ((missing + 1) / rate) ** 2
        ):
            found.append(last)
    return found


@dataclass(frozen=True)
class LabelSwap:
    """Two markers whose labels are swapped, from the first to the last frame."""

    a: int
    """Index of a marker."""
    b: int
    """Index of the other marker."""
    first: int
    last: int
    permanent: bool
    """Whether the swap lasts until the end of the recording."""


def find_swaps(positions: np.ndarray, found: Discontinuities) -> list[LabelSwap]:
    """Simultaneous jumps of two markers that vanish when the labels are exchanged."""
    by_frame: dict[int, list[int]] = {}
    for frame, marker in (*found.jumps, *found.spikes):
        by_frame.setdefault(frame, []).append(marker)
    crossings: dict[tuple[int, int], list[int]] = {}
    for frame, markers in sorted(by_frame.items()):
        matched: set[int] = set()
        for i, a in enumerate(markers):
            for b in markers[i + 1 :]:
                if a in matched or b in matched or not _paths_cross(positions, a, b, frame, found):
                    continue
                matched |= {a, b}
                crossings.setdefault((min(a, b), max(a, b)), []).append(frame)
                # Labels swapped for a single frame are two spikes: the swap ends at the next frame.
                if (frame, a) in found.spikes and (frame, b) in found.spikes:
                    crossings[min(a, b), max(a, b)].append(frame + 1)
    swaps = []
    for (a, b), frames in crossings.items():
        for first, end in zip(frames[::2], [*frames[1::2], None], strict=False):
            last = len(positions) - 1 if end is None else end - 1
            swaps.append(LabelSwap(a, b, first, last, end is None))
    return swaps


def _paths_cross(positions: np.ndarray, a: int, b: int, frame: int, found: Discontinuities) -> bool:
    """Whether the trajectory of each of two markers continues in that of the other.

    Markers that are nearer to each other than two discontinuities cannot be told apart by them.
    """
    before = frame - 1
    while before >= 0 and not np.isfinite(positions[before, [a, b]]).all():
        before -= 1
    if before < 0 or not np.isfinite(positions[frame, [a, b]]).all():
        return False
    distance = np.linalg.norm(positions[before, a] - positions[before, b])
    if distance < found.limit[[a, b]].sum():
        return False
    steps = frame - before
    step = np.zeros((2, 3))
    if before >= 1 and np.isfinite(positions[before - 1, [a, b]]).all():
        step = positions[before, [a, b]] - positions[before - 1, [a, b]]
    expected = positions[before, [a, b]] + steps * step
    swapped = np.linalg.norm(positions[frame, [b, a]] - expected, axis=1)
    unchanged = np.linalg.norm(positions[frame, [a, b]] - expected, axis=1)
    tolerance = 2 * found.limit[[a, b]] + GAP_ACCELERATION_M_S2 * ((steps - 1) / found.rate) ** 2
    return bool((swapped <= tolerance).all() and swapped.sum() < 0.5 * unchanged.sum())


def undo_swaps(positions: np.ndarray, swaps: list[LabelSwap]) -> np.ndarray:
    """Positions with swapped labels exchanged again."""
    corrected = np.array(positions)
    for swap in swaps:
        span = slice(swap.first, swap.last + 1)
        corrected[span, [swap.a, swap.b]] = corrected[span, [swap.b, swap.a]]
    return corrected


def find_frozen(positions: np.ndarray, rate: float) -> list[tuple[int, int, int]]:
    """Marker, first and last frame of intervals with a constant position while neighbors move."""
    count = positions.shape[1]
    min_frames = max(3, int(np.ceil(MIN_FROZEN_DURATION_S * rate)))
    constant = (np.diff(positions, axis=0) == 0).all(axis=2)
    found = []
    for k in range(count):
        for first, last in true_runs(constant[:, k]):
            if last - first < min_frames:
                continue
            span = positions[first : last + 1]
            distance = np.linalg.norm(span[0] - span[0, k], axis=1)
            distance[k] = np.nan
            near = np.argsort(distance)[: min(3, count - 1)]
            extent = np.linalg.norm(np.ptp(span[:, near], axis=0), axis=1)
            if (extent > 0.01).sum() >= max(1, (len(near) + 1) // 2):
                found.append((k, first, last))
    return found
