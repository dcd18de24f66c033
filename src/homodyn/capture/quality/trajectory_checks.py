"""Faults that show in the path of a marker: frozen, spikes, jumps, and swaps of two labels.

A path is predicted from the frames before; what differs from the prediction by more than the body
can do is a discontinuity. The limit is an acceleration: by how far a marker can leave the straight
line within one frame, and no less than what this marker does anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.capture.filters.butterworth_filter import true_runs
from homodyn.capture.quality.marker_clusters import quantile

MAX_ACCELERATION_M_S2 = 200.0
"""m/s²: more than markers do in walking and running, heel strike included."""
MIN_DISCONTINUITY_M = 0.015
"""m: discontinuities below this are noise of reconstruction."""
DEPARTURE_FACTOR = 4.0
"""Times what 95 % of the frames of a marker stay below."""
GAP_ACCELERATION_M_S2 = 15.0
"""m/s²: times the square of a gap's duration, how far a path may lead elsewhere within it."""
MIN_FROZEN_DURATION_S = 0.1
"""s: a marker that stands exactly still for longer while its neighbours move is frozen."""


@dataclass
class Discontinuities:
    """Discontinuities of the paths: spikes (one frame) and jumps (from that frame on)."""

    rate: float
    """Frames per second (Hz)."""
    limit: np.ndarray
    """(markers,), m."""
    spikes: list[tuple[int, int]]
    """Frame and marker of each."""
    jumps: list[tuple[int, int]]
    """First frame after the jump, and marker."""


def find_discontinuities(positions: np.ndarray, rate: float) -> Discontinuities:
    """Spikes and jumps of all markers; frames are counted from zero."""
    limit = _departure_limits(positions, rate)
    spikes: list[tuple[int, int]] = []
    jumps: list[tuple[int, int]] = []
    for k in range(positions.shape[1]):
        path = positions[:, k]
        seen = np.isfinite(path).all(axis=1)
        if seen.sum() >= 5:
            for first, last in true_runs(seen):
                _scan_run(path[first:last], limit[k], first, k, spikes, jumps)
            jumps += [(frame, k) for frame in _after_gaps(path, seen, limit[k], rate)]
    return Discontinuities(rate, limit, spikes, sorted(jumps))


def _departure_limits(positions: np.ndarray, rate: float) -> np.ndarray:
    """Largest departure from a straight path within a frame that is still a movement (m)."""
    floor = max(MIN_DISCONTINUITY_M, MAX_ACCELERATION_M_S2 / rate**2)
    bend = np.linalg.norm(np.diff(positions, n=2, axis=0), axis=2)
    usual = quantile(bend, 0.95) if len(bend) else np.full(positions.shape[1], np.nan)
    return np.fmax(floor, DEPARTURE_FACTOR * np.nan_to_num(usual))


def _scan_run(
    run: np.ndarray,
    limit: float,
    offset: int,
    marker: int,
    spikes: list[tuple[int, int]],
    jumps: list[tuple[int, int]],
) -> None:
    """Walk along a run without gaps, judging each frame by the two good ones before it."""
    count = len(run)
    if count < 3:
        return
    bend = np.linalg.norm(np.diff(run, n=2, axis=0), axis=1)
    suspects = np.flatnonzero(bend > limit) + 2
    if not len(suspects):
        return
    k = int(suspects[0])
    # The very first frames have nothing before them: a bend there belongs to the frame that stands
    # apart from the two that follow.
    if k == 2:
        k = _scan_start(run, limit, offset, marker, spikes, jumps)
    while k < count:
        speed = run[k - 1] - run[k - 2]
        away = np.linalg.norm(run[k] - (run[k - 1] + speed))
        if away <= limit:
            k += 1
            continue
        if k + 1 >= count:
            spikes.append((offset + k, marker))
            return
        back = np.linalg.norm(run[k + 1] - (run[k - 1] + 2 * speed))
        if back <= 3 * limit and back < 0.5 * away + limit:
            spikes.append((offset + k, marker))
            # Go on from the sample after the spike, with a speed that leaps over it.
            run = run.copy()
            run[k] = (run[k - 1] + run[k + 1]) / 2
            k += 2
        else:
            jumps.append((offset + k, marker))
            # The speed after a jump is that of its first two frames.
            k += 2


def _scan_start(
    run: np.ndarray,
    limit: float,
    offset: int,
    marker: int,
    spikes: list[tuple[int, int]],
    jumps: list[tuple[int, int]],
) -> int:
    """Faults within the first three frames; the frame at which to go on."""
    if len(run) < 5:
        return 2
    speed = run[4] - run[3]
    smooth_after_1 = np.linalg.norm(run[1] - 2 * run[2] + run[3]) <= limit
    if smooth_after_1:
        if np.linalg.norm(run[0] - (run[1] - (run[2] - run[1]))) > limit:
            spikes.append((offset, marker))
        return 3
    if np.linalg.norm(run[2] - 2 * run[3] + run[4]) <= limit:
        back = np.linalg.norm(run[0] - (run[2] - 2 * speed))
        if back <= 3 * limit:
            spikes.append((offset + 1, marker))
            return 4
        # Two good frames after: the path broke before frame 2.
        jumps.append((offset + 2, marker))
        return 4
    return 2


def _after_gaps(path: np.ndarray, seen: np.ndarray, limit: float, rate: float) -> list[int]:
    """Frames at which a marker comes back too far from where its path would have led."""
    found = []
    for first, last in true_runs(~seen):
        if first < 2 or last + 1 >= len(path) or not (seen[first - 2] and seen[last + 1]):
            continue
        missing = last - first
        before, after = path[first - 1] - path[first - 2], path[last + 1] - path[last]
        expected = path[first - 1] + 0.5 * (before + after) * (missing + 1)
        # The longer the gap the more a movement can turn within it.
        if (
            np.linalg.norm(path[last] - expected)
            > limit + GAP_ACCELERATION_M_S2 * ((missing + 1) / rate) ** 2
        ):
            found.append(last)
    return found


@dataclass(frozen=True)
class LabelSwap:
    """Two markers whose labels trade places, from the first frame up to the last."""

    a: int
    b: int
    first: int
    last: int
    for_good: bool


def find_swaps(positions: np.ndarray, found: Discontinuities) -> list[LabelSwap]:
    """Jumps of two markers at one frame that are smooth when the labels are exchanged."""
    at: dict[int, list[int]] = {}
    for frame, marker in (*found.jumps, *found.spikes):
        at.setdefault(frame, []).append(marker)
    crossings: dict[tuple[int, int], list[int]] = {}
    for frame, markers in sorted(at.items()):
        taken: set[int] = set()
        for i, a in enumerate(markers):
            for b in markers[i + 1 :]:
                if a in taken or b in taken or not _paths_cross(positions, a, b, frame, found):
                    continue
                taken |= {a, b}
                crossings.setdefault((min(a, b), max(a, b)), []).append(frame)
                # Labels swapped for a single frame look like two spikes: back at the next one.
                if (frame, a) in found.spikes and (frame, b) in found.spikes:
                    crossings[min(a, b), max(a, b)].append(frame + 1)
    out = []
    for (a, b), frames in crossings.items():
        for first, end in zip(frames[::2], [*frames[1::2], None], strict=False):
            last = len(positions) - 1 if end is None else end - 1
            out.append(LabelSwap(a, b, first, last, end is None))
    return out


def _paths_cross(positions: np.ndarray, a: int, b: int, frame: int, found: Discontinuities) -> bool:
    """Whether the path of each of two markers goes on in that of the other."""
    before = frame - 1
    while before >= 0 and not np.isfinite(positions[before, [a, b]]).all():
        before -= 1
    if before < 0 or not np.isfinite(positions[frame, [a, b]]).all():
        return False
    steps = frame - before
    speed = np.zeros((2, 3))
    if before >= 1 and np.isfinite(positions[before - 1, [a, b]]).all():
        speed = positions[before, [a, b]] - positions[before - 1, [a, b]]
    expected = positions[before, [a, b]] + steps * speed
    cross = np.linalg.norm(positions[frame, [b, a]] - expected, axis=1)
    stay = np.linalg.norm(positions[frame, [a, b]] - expected, axis=1)
    reach = 2 * found.limit[[a, b]] + GAP_ACCELERATION_M_S2 * ((steps - 1) / found.rate) ** 2
    return bool((cross <= reach).all() and cross.sum() < 0.5 * stay.sum())


def undo_swaps(positions: np.ndarray, found: list[LabelSwap]) -> np.ndarray:
    """Positions with the labels put back."""
    mended = np.array(positions)
    for swap in found:
        span = slice(swap.first, swap.last + 1)
        mended[span, [swap.a, swap.b]] = mended[span, [swap.b, swap.a]]
    return mended


def find_frozen(positions: np.ndarray, rate: float) -> list[tuple[int, int, int]]:
    """Marker, first and last frame of stretches of exactly one value while neighbours move."""
    count = positions.shape[1]
    least = max(3, int(np.ceil(MIN_FROZEN_DURATION_S * rate)))
    still = (np.diff(positions, axis=0) == 0).all(axis=2)
    found = []
    for k in range(count):
        for first, last in true_runs(still[:, k]):
            if last - first < least:
                continue
            span = positions[first : last + 1]
            distance = np.linalg.norm(span[0] - span[0, k], axis=1)
            distance[k] = np.nan
            near = np.argsort(distance)[: min(3, count - 1)]
            moved = np.linalg.norm(np.ptp(span[:, near], axis=0), axis=1)
            if (moved > 0.01).sum() >= max(1, (len(near) + 1) // 2):
                found.append((k, first, last))
    return found
