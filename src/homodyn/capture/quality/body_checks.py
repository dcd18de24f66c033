"""Faults of a whole recording: wrong units, a world upside down, left taken for right."""

from __future__ import annotations

import numpy as np

from homodyn.capture.labeling.landmarks import landmark, left_right_pairs
from homodyn.capture.quality.marker_clusters import quantile

MAX_BODY_SIZE_M = 20.0
"""m: bodies with markers are smaller."""
MIN_BODY_SIZE_M = 0.02
"""m: bodies with markers are larger."""
MIN_LATERAL_OFFSET_M = 0.03
"""m: a left and a right marker nearer to the middle than this do not tell sides."""

LOW_LANDMARKS = (
    "heel",
    "toe",
    "fifth metatarsal",
    "first metatarsal",
    "second metatarsal",
    "ankle",
)
HIGH_LANDMARKS = ("head front", "head back", "head top", "c7", "clavicle", "shoulder", "sternum")
ARM_LANDMARKS = (
    "elbow",
    "elbow medial",
    "forearm",
    "wrist radial",
    "wrist ulnar",
    "finger",
    "upper arm",
)
FRONT_OVER_BACK = (
    (("toe", "first metatarsal", "second metatarsal", "fifth metatarsal"), ("heel",)),
    (("asis",), ("psis", "sacrum")),
    (("head front",), ("head back",)),
    (("clavicle", "sternum"), ("c7", "t10", "t8")),
)
"""Landmarks of which the first lie in front of the second, on one segment."""


def marker_extent(positions: np.ndarray) -> float:
    """Usual size of the cloud of markers: the longest side of its box (m); NaN without markers."""
    if not positions.size:
        return float("nan")
    with np.errstate(invalid="ignore"):
        low = np.where(np.isfinite(positions), positions, np.inf).min(axis=1)
        high = np.where(np.isfinite(positions), positions, -np.inf).max(axis=1)
        sides = (high - low).max(axis=1)
    sides = sides[np.isfinite(sides) & (np.isfinite(positions).all(axis=2).sum(axis=1) >= 2)]
    return float(np.median(sides)) if len(sides) else float("nan")


def head_height(positions: np.ndarray, labels: tuple[str, ...]) -> float:
    """How far markers of head and shoulders are above those of the feet (m); NaN if unknown."""
    places = [landmark(label).place for label in labels]
    high = [k for k, place in enumerate(places) if place in HIGH_LANDMARKS]
    low = [k for k, place in enumerate(places) if place in LOW_LANDMARKS]
    if not high or not low:
        return float("nan")
    upper = _mean(positions[:, high, 2])
    lower = _mean(positions[:, low, 2])
    both = upper - lower
    return float(np.median(both[np.isfinite(both)])) if np.isfinite(both).any() else float("nan")


def wrong_sides(positions: np.ndarray, labels: tuple[str, ...]) -> tuple[list[int], list[int], int]:
    """Pairs of left and right markers that lie on the wrong and on the right side.

    Returns left markers of the wrong pairs, left markers of the right pairs, and the number of
    pairs of landmarks that told which way is forward (none: nothing is known).
    """
    forward, votes = _forward(positions, labels)
    if not votes:
        return [], [], 0
    left = np.stack([-forward[:, 1], forward[:, 0]], axis=1)
    wrong: list[int] = []
    right: list[int] = []
    for l, r in left_right_pairs(labels):
        if landmark(labels[l]).place in ARM_LANDMARKS:
            continue
        apart = ((positions[:, l, :2] - positions[:, r, :2]) * left).sum(axis=1)
        middle = quantile(apart[:, None], 0.5)[0]
        if np.isnan(middle) or abs(middle) < MIN_LATERAL_OFFSET_M:
            continue
        # Legs may cross now and then.
        share = np.mean(np.sign(apart[np.isfinite(apart)]) == np.sign(middle))
        if share > 0.9:
            (right if middle > 0 else wrong).append(l)
    return wrong, right, votes


def _forward(positions: np.ndarray, labels: tuple[str, ...]) -> tuple[np.ndarray, int]:
    """Horizontal direction in which the body faces at each frame, and how many landmarks say so."""
    marks = [landmark(label) for label in labels]
    total = np.zeros((len(positions), 2))
    votes = 0
    for front, back in FRONT_OVER_BACK:
        for side in ("", "l", "r"):
            ahead = [k for k, mark in enumerate(marks) if mark.side == side and mark.place in front]
            behind = [k for k, mark in enumerate(marks) if mark.side == side and mark.place in back]
            if front[0] == "asis" and not side:
                # A pelvis faces along the line from its back to its front, both sides together.
                ahead = [k for k, mark in enumerate(marks) if mark.place in front]
                behind = [k for k, mark in enumerate(marks) if mark.place in back]
            if ahead and behind:
                line = _mean(positions[:, ahead, :2]) - _mean(positions[:, behind, :2])
                length = np.linalg.norm(line, axis=1, keepdims=True)
                with np.errstate(invalid="ignore", divide="ignore"):
                    total += np.nan_to_num(line / length)
                votes += 1
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 0.3 * max(votes, 1), total / np.maximum(length, 1e-9), np.nan), votes


def _mean(values: np.ndarray) -> np.ndarray:
    """Mean over axis 1 of what is seen; NaN where nothing is."""
    seen = np.isfinite(values)
    count = seen.sum(axis=1)
    total = np.where(seen, values, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
