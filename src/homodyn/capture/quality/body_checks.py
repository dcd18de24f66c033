"""Checks of a whole recording: units, vertical axis, left and right."""

from __future__ import annotations

import numpy as np

from homodyn.capture.labeling.landmarks import Landmark, landmark, left_right_pairs
from homodyn.capture.quality.marker_clusters import quantile

MAX_BODY_SIZE_M = 20.0
"""Largest plausible extent (m) of the markers."""
MIN_BODY_SIZE_M = 0.02
"""Smallest plausible extent (m) of the markers."""
MAX_BODY_LENGTH_M, MIN_BODY_LENGTH_M = 2.8, 0.2
"""Distances (m) from the feet to head or shoulders that people have in most postures."""
MIN_LATERAL_OFFSET_M = 0.03
"""Lateral distance (m) of a left and a right marker below which their sides are not clear."""

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
"""Landmarks of one segment: those in front, and those behind them."""

OUTER_OVER_INNER = (
    ("fifth metatarsal", ("first metatarsal", "second metatarsal", "toe")),
    ("ankle", ("ankle medial",)),
    ("knee", ("knee medial",)),
)
"""Landmarks of one limb: the lateral one, and those medial to it."""
MIN_EXCHANGED_OFFSET_M = 0.015
"""Distance (m) by which a lateral landmark is on the medial side when labels are exchanged."""


def marker_extent(positions: np.ndarray) -> float:
    """Longest side of the bounding box of the markers, median over frames (m); NaN without any."""
    if not positions.size:
        return float("nan")
    with np.errstate(invalid="ignore"):
        low = np.where(np.isfinite(positions), positions, np.inf).min(axis=1)
        high = np.where(np.isfinite(positions), positions, -np.inf).max(axis=1)
        sides = (high - low).max(axis=1)
    sides = sides[np.isfinite(sides) & (np.isfinite(positions).all(axis=2).sum(axis=1) >= 2)]
    return float(np.median(sides)) if len(sides) else float("nan")


def body_length(positions: np.ndarray, labels: tuple[str, ...]) -> float:
    """Median distance of the feet from head and shoulders, or twice that from the pelvis (m).

    NaN without such landmarks.
    """
    places = [landmark(label).place for label in labels]
    low, high, pelvis = (
        [k for k, place in enumerate(places) if place in group]
        for group in (LOW_LANDMARKS, HIGH_LANDMARKS, ("asis", "psis", "sacrum"))
    )
    top = high or pelvis
    if not low or not top:
        return float("nan")
    line = _mean(positions[:, top]) - _mean(positions[:, low])
    length = np.linalg.norm(line, axis=1)
    length = length[np.isfinite(length)]
    return (1.0 if high else 2.0) * float(np.median(length)) if len(length) else float("nan")


def head_height(positions: np.ndarray, labels: tuple[str, ...]) -> float:
    """Height of the markers of head and shoulders above those of the feet (m); NaN if unknown."""
    landmarks = [landmark(label).place for label in labels]
    high = [k for k, name in enumerate(landmarks) if name in HIGH_LANDMARKS]
    low = [k for k, name in enumerate(landmarks) if name in LOW_LANDMARKS]
    if not high or not low:
        return float("nan")
    height = _mean(positions[:, high, 2]) - _mean(positions[:, low, 2])
    seen = height[np.isfinite(height)]
    return float(np.median(seen)) if len(seen) else float("nan")


def wrong_sides(positions: np.ndarray, labels: tuple[str, ...]) -> tuple[list[int], list[int], int]:
    """Pairs of left and right markers that are on the wrong and on the correct side.

    Args:
        positions: (frames, markers, 3), m, Z up.
        labels: Labels of the markers.

    Returns:
        Left markers of the wrong pairs, left markers of the correct pairs, and the number of
        landmark pairs that determine the forward direction (0: it is not known).
    """
    forward, votes = _forward(positions, labels)
    if not votes:
        return [], [], 0
    left = np.stack([-forward[:, 1], forward[:, 0]], axis=1)
    wrong: list[int] = []
    correct: list[int] = []
    for l, r in left_right_pairs(labels):
        if landmark(labels[l]).place in ARM_LANDMARKS:
            continue
        lateral = ((positions[:, l, :2] - positions[:, r, :2]) * left).sum(axis=1)
        median = quantile(lateral[:, None], 0.5)[0]
        if np.isnan(median) or abs(median) < MIN_LATERAL_OFFSET_M:
            continue
        # Legs may cross in some frames.
        share = np.mean(np.sign(lateral[np.isfinite(lateral)]) == np.sign(median))
        if share > 0.9:
            (correct if median > 0 else wrong).append(l)
    return wrong, correct, votes


def exchanged_sides(positions: np.ndarray, labels: tuple[str, ...]) -> list[tuple[int, int]]:
    """Lateral and medial landmarks of one limb whose labels are exchanged in all frames.

    The lateral direction is that of the foot where heel and forefoot are known, else of the body.

    Args:
        positions: (frames, markers, 3), m, Z up.
        labels: Labels of the markers.

    Returns:
        Indices of the lateral and of the medial label of each exchanged pair.
    """
    index = {mark: k for k, mark in enumerate(map(landmark, labels))}
    heading, votes = _forward(positions, labels)
    found = []
    for outer, inners in OUTER_OVER_INNER:
        for side in "lr":
            a = index.get(Landmark(side, outer))
            inner = [k for place in inners if (k := index.get(Landmark(side, place))) is not None]
            if a is None or not inner:
                continue
            b, heel = inner[0], index.get(Landmark(side, "heel"))
            forward = heading
            if outer == "fifth metatarsal" and heel is not None:
                forward = ((positions[:, a] + positions[:, b]) / 2 - positions[:, heel])[:, :2]
            elif not votes:
                continue
            left = np.stack([-forward[:, 1], forward[:, 0]], axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                left = left / np.linalg.norm(left, axis=1, keepdims=True)
            outward = ((positions[:, a] - positions[:, b])[:, :2] * left).sum(axis=1)
            outward = outward[np.isfinite(outward)] * (1.0 if side == "l" else -1.0)
            if len(outward) and np.quantile(outward, 0.75) < -MIN_EXCHANGED_OFFSET_M:
                found.append((a, b))
    return found


def _forward(positions: np.ndarray, labels: tuple[str, ...]) -> tuple[np.ndarray, int]:
    """Horizontal heading of the body in each frame, and the number of landmark pairs behind it."""
    marks = [landmark(label) for label in labels]
    total = np.zeros((len(positions), 2))
    votes = 0
    for front, back in FRONT_OVER_BACK:
        for side in ("", "l", "r"):
            ahead = [k for k, mark in enumerate(marks) if mark.side == side and mark.place in front]
            behind = [k for k, mark in enumerate(marks) if mark.side == side and mark.place in back]
            if front[0] == "asis" and not side:
                # The heading of the pelvis is the line from back to front, both sides together.
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
    """Mean over axis 1 of the finite values; NaN where there are none."""
    seen = np.isfinite(values)
    count = seen.sum(axis=1)
    total = np.where(seen, values, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
