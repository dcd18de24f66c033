"""Labels that are swapped when two markers reappear after a gap.

After a gap a trajectory may begin anywhere, so that a swap leaves no discontinuity. The distances
to markers that both sides of the gap show, of the same segments, do.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from homodyn.capture.mask_runs import true_runs
from homodyn.capture.quality.trajectory_checks import LabelSwap
from homodyn.model import Model

MAX_RETURN_DELAY_S = 0.1
"""Time (s) between the returns of two markers that can be swapped."""
COMPARED_TIME_S = 0.3
"""Time (s) before and after a gap whose distances are compared."""
MIN_COMPARED_FRAMES = 3
"""Frames on each side of a gap that a comparison needs."""
MIN_COMPARED_DISTANCES = 2
"""Distances of both markers together that a comparison needs."""
MIN_DISTANCE_CHANGE_M = 0.03
"""Median change (m) of the distances to markers of the segment that skin motion does not cause."""
MAX_REMAINING_SHARE = 0.35
"""Share of this change that may be left once the labels are exchanged."""


def find_gap_swaps(
    positions: np.ndarray,
    companions: Sequence[np.ndarray],
    rate: float,
    labels: tuple[str, ...] = (),
    model: Model | None = None,
) -> list[LabelSwap]:
    """Pairs of markers whose labels are swapped from the end of a gap on.

    Args:
        positions: (frames, markers, 3), m.
        companions: For each marker, markers at a constant distance; a swap in half of the recording
            hides them, so that the markers of a segment of the model come first.
        rate: Frames per second (Hz).
        labels: Names of the markers.
        model: Says which markers share a body.

    Returns:
        The swaps; each lasts until the pair is swapped back at a later gap, or to the end.
    """
    if model is not None:
        companions = _segment_members(labels, model, companions)
    seen = np.isfinite(positions).all(axis=2)
    returns = {
        k: [(first, last) for first, last in true_runs(~seen[:, k]) if 0 < first < last < len(seen)]
        for k in range(positions.shape[1])
        if len(companions[k])
    }
    delay = MAX_RETURN_DELAY_S * rate
    span = max(int(COMPARED_TIME_S * rate), MIN_COMPARED_FRAMES)
    found = []
    for a, b in combinations([k for k, gaps in returns.items() if gaps], 2):
        pair = positions
        switches = []
        for one in returns[a]:
            two = min(returns[b], key=lambda gap: abs(gap[1] - one[1]))
            if abs(two[1] - one[1]) > delay:
                continue
            gap = (min(one[0], two[0]), max(one[1], two[1]))
            if _swaps_at(pair, (a, b), companions, gap, span):
                switches.append(gap[1])
                pair = pair.copy()
                pair[gap[1] :, [a, b]] = pair[gap[1] :, [b, a]]
        for first, end in zip(switches[::2], [*switches[1::2], None], strict=False):
            last = len(positions) - 1 if end is None else end - 1
            found.append(LabelSwap(a, b, first, last, end is None))
    return found


def _swaps_at(
    positions: np.ndarray,
    pair: tuple[int, int],
    companions: Sequence[np.ndarray],
    gap: tuple[int, int],
    span: int,
) -> bool:
    """Whether the distances of both markers change at a gap, and not if they are exchanged."""
    before = positions[max(gap[0] - span, 0) : gap[0]]
    after = positions[gap[1] : gap[1] + span]
    compared = 0
    for k, other in (pair, pair[::-1]):
        others = companions[k][~np.isin(companions[k], pair)]
        same = _distance_changes(before, after, k, k, others)
        exchanged = _distance_changes(before, after, k, other, others)
        usable = np.isfinite(same) & np.isfinite(exchanged)
        compared += int(usable.sum())
        if not usable.any():
            return False
        change = float(np.median(same[usable]))
        left = float(np.median(exchanged[usable]))
        if change < MIN_DISTANCE_CHANGE_M or left > MAX_REMAINING_SHARE * change:
            return False
    return compared >= MIN_COMPARED_DISTANCES


def _segment_members(
    labels: tuple[str, ...], model: Model, companions: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """For each marker, the others of its body; its companions where it has none."""
    body_of = {marker.name: marker.body for marker in model.markers}
    bodies = np.array([body_of.get(label, "") for label in labels])
    found = []
    for k, known in enumerate(companions):
        same = np.flatnonzero((bodies == bodies[k]) & (bodies != ""))
        members = same[same != k]
        found.append(members if len(members) else known)
    return found


def _distance_changes(
    before: np.ndarray, after: np.ndarray, k: int, later: int, others: np.ndarray
) -> np.ndarray:
    """(others,), m: changes of the distances of a marker, which has another label afterwards."""
    changes = np.full(len(others), np.nan)
    for i, other in enumerate(others):
        old = np.linalg.norm(before[:, k] - before[:, other], axis=1)
        new = np.linalg.norm(after[:, later] - after[:, other], axis=1)
        old, new = old[np.isfinite(old)], new[np.isfinite(new)]
        if min(len(old), len(new)) >= MIN_COMPARED_FRAMES:
            changes[i] = abs(np.median(old) - np.median(new))
    return changes
