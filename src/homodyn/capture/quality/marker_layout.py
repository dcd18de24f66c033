"""Likely distances between the markers of a body: anatomy, model, other side, other recordings.

Each source gives a band of the distance of two markers. Distances outside their bands are
violations; two labels that are exchanged in all frames violate the bands of both markers, and
exchanging them again removes the violations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from homodyn.capture.labeling.landmarks import (
    SYNONYMS,
    Landmark,
    landmark,
    left_right_pairs,
)
from homodyn.capture.trial import Trial
from homodyn.catalog import heiman
from homodyn.dynamics import marker_positions, position
from homodyn.model import Marker, Model

STATURE_M = 1.75
"""Stature (m) of the body behind the anatomical bands; bands are scaled to the recording."""
POSE_COUNT = 200
"""Random poses that show how far apart landmarks of different segments can be."""
POSE_SPREAD_RAD = 0.35
"""Standard deviation (rad) of the joint angles of these poses, within the joint limits."""
MAX_SAMPLED_FRAMES = 60
"""Frames of a recording in which distances are measured."""
MIN_SEEN_FRAMES = 2
"""Frames that must show both markers of a distance."""
LANDMARK_SCALE_M = 0.02
"""Deviation (m) from a band that counts as one, for markers on landmarks ..."""
LANDMARK_SCALE_SHARE = 0.10
"""... plus this share of the distance."""
TRACKING_SCALE_M = 0.08
"""The same for markers that sit anywhere on their segment."""
MIRROR_SCALE_M = 0.012
"""Difference (m) between the two sides of a body that counts as one ..."""
MIRROR_SCALE_SHARE = 0.05
"""... plus this share of the distance."""
MAX_RIGID_RANGE_M = 0.02
"""Range (m) of a distance within a segment; between the 10th and the 90th percentile."""
RANGE_SCALE_M = 0.012
"""Excess of this range that counts as one."""
RECORDING_SCALE_M = 0.01
"""Difference (m) from another recording of the same markers that counts as one ..."""
RECORDING_SCALE_SHARE = 0.03
"""... plus this share of the distance."""
MIN_MARKER_DISTANCE_M = 1e-3
"""Distance (m) below which two markers of a model have the same position."""
MAX_SEGMENT_LENGTH_M = 0.5
"""Longest distance (m) that is compared with the other side or with another recording."""
MAX_VIOLATION = 4.0
"""Violation above which all are equal: a single distance decides nothing."""

TRACKING_PLACES = frozenset(
    {
        *("thigh", "thigh proximal", "thigh distal", "shank", "shank proximal", "shank distal"),
        *("upper arm", "forearm", "finger"),
    }
)
"""Places on soft tissue or on a moving hand."""
_SOFT_TISSUE_WORDS = (
    (re.compile(r"thigh|^th\d"), "thigh"),
    (re.compile(r"shank|shin|tibia|^(sh|tb|sk)\d"), "shank"),
    (re.compile(r"upperarm|humer|bicep|tricep|^ua\d"), "upper arm"),
    (re.compile(r"forearm|^fa\d"), "forearm"),
)
"""Words of further markers of these places, such as members of clusters."""
_LANDMARKS: dict[str, tuple[str, tuple[float, float, float]]] = {
    "sacrum": ("Pelvis", (-0.13, 0.0, 1.05)),
    "trochanter": ("Thigh", (0.0, 0.17, 0.93)),
    "knee medial": ("Shank", (0.03, 0.03, 0.526)),
    "tibial tuberosity": ("Shank", (0.06, 0.085, 0.46)),
    "ankle medial": ("Foot", (0.02, 0.04, 0.10)),
    "fifth metatarsal": ("Foot", (0.10, 0.115, 0.05)),
    "first metatarsal": ("Foot", (0.14, 0.04, 0.06)),
    "second metatarsal": ("Foot", (0.155, 0.065, 0.065)),
    "shoulder": ("UpperTrunk", (0.0, 0.19, 1.50)),
    "elbow medial": ("LowerArm", (0.0, 0.18, 1.20)),
    "forearm": ("LowerArm", (0.0, 0.23, 1.06)),
    "finger": ("LowerArm", (0.02, 0.21, 0.84)),
    "head top": ("Head", (0.06, 0.0, 1.86)),
    "t8": ("UpperTrunk", (-0.12, 0.0, 1.38)),
    "hip center": ("Pelvis", (0.0, 0.081, 0.949)),
    "knee center": ("Shank", (0.02, 0.083, 0.526)),
    "ankle center": ("Foot", (0.0, 0.075, 0.09)),
    "shoulder center": ("UpperTrunk", (0.0, 0.20, 1.47)),
    "elbow center": ("LowerArm", (0.0, 0.215, 1.20)),
}
"""Segment and position (m; forward, left, up) of landmarks that the catalog's body does not have:
those of the left side, or of the middle, of a standing person of `STATURE_M`."""


@dataclass(frozen=True, eq=False)
class DistanceStatistics:
    """Distances between the markers of a recording over its frames."""

    median: np.ndarray
    """(markers, markers), m; NaN for markers that are not seen together."""
    range: np.ndarray
    """(markers, markers), m: from the 10th to the 90th percentile."""

    def exchange(self, a: int, b: int) -> DistanceStatistics:
        """The statistics with the labels of two markers exchanged."""
        order = np.arange(len(self.median))
        order[[a, b]] = b, a
        pick = np.ix_(order, order)
        return DistanceStatistics(self.median[pick], self.range[pick])


@dataclass(frozen=True, eq=False)
class DistanceBands:
    """Bands of the distances of markers, by one source."""

    low: np.ndarray
    """(markers, markers), m; NaN where the source shows nothing."""
    high: np.ndarray
    """(markers, markers), m."""
    scale: np.ndarray
    """(markers, markers), m: deviation from the band that counts as one."""

    def violations(self, distance: np.ndarray) -> np.ndarray:
        """(markers, markers): squared violations, at most `MAX_VIOLATION` squared; 0 if unknown."""
        return squared_violations(self.low, self.high, self.scale, distance)


def squared_violations(
    low: np.ndarray, high: np.ndarray, scale: np.ndarray, distance: np.ndarray
) -> np.ndarray:
    """Squared deviations from bands in units of a scale, limited; zero where something is NaN."""
    excess = np.maximum(np.maximum(low - distance, distance - high), 0.0) / scale
    limited: np.ndarray = np.minimum(np.nan_to_num(excess, nan=0.0), MAX_VIOLATION) ** 2
    return limited


def distance_statistics(positions: np.ndarray) -> DistanceStatistics:
    """Medians and ranges of all distances.

    Args:
        positions: (frames, markers, 3), m; NaN where not seen.

    Returns:
        The statistics.
    """
    frames = len(positions)
    rows = np.unique(np.linspace(0, frames - 1, min(frames, MAX_SAMPLED_FRAMES)).astype(int))
    sample = positions[rows]
    distance = np.linalg.norm(sample[:, :, None] - sample[:, None], axis=3)
    counted = np.isfinite(distance).sum(axis=0)
    ordered = np.sort(distance, axis=0)

    def quantile(share: float) -> np.ndarray:
        index = np.clip(np.rint(share * (counted - 1)).astype(int), 0, None)
        values = np.take_along_axis(ordered, index[None], axis=0)[0]
        return np.where(counted >= min(MIN_SEEN_FRAMES, len(rows)), values, np.nan)

    median = quantile(0.5)
    np.fill_diagonal(median, np.nan)
    return DistanceStatistics(median, quantile(0.9) - quantile(0.1))


def body_landmark(label: str) -> Landmark:
    """Side and place of a label; members of clusters have the place of their segment."""
    mark = landmark(label)
    if mark.place in SYNONYMS:
        return mark
    readings = [mark]
    if not mark.side and mark.place[:1] in ("l", "r"):
        readings.append(Landmark(mark.place[0], mark.place[1:]))
    for side, word in readings:
        for pattern, place in _SOFT_TISSUE_WORDS:
            if pattern.search(word):
                return Landmark(side or readings[-1].side, place)
    return mark


def is_tracking(label: str) -> bool:
    """Whether a marker sits anywhere on its segment, or on an unknown place."""
    place = body_landmark(label).place
    return place in TRACKING_PLACES or place not in SYNONYMS


def anatomical_bands(labels: Sequence[str], distances: DistanceStatistics) -> DistanceBands:
    """Bands by the landmarks of an average body in random poses, scaled to the recording.

    Args:
        labels: Labels of the markers.
        distances: Their distances, for the scale of the body.

    Returns:
        The bands of markers on known landmarks.
    """
    marks, low, high = _landmark_bands()
    rows = [marks.get(body_landmark(label), -1) for label in labels]
    tracking = np.array([is_tracking(label) for label in labels])
    return _scaled_bands(_pick(low, rows), _pick(high, rows), tracking, distances)


def model_bands(
    labels: Sequence[str], model: Model, distances: DistanceStatistics
) -> DistanceBands:
    """Bands by the markers of each body of a model.

    Args:
        labels: Labels of the markers, named as in the model.
        model: The model.
        distances: Distances of the recording, for the scale of the body.

    Returns:
        The bands of markers of one body; positions that are placeholders show nothing.
    """
    by_name = {marker.name: marker for marker in model.markers}
    flagged = any(marker.fixed for marker in model.markers)
    place = np.full((len(labels), 3), np.nan)
    bodies = []
    for k, label in enumerate(labels):
        marker = by_name.get(label)
        bodies.append("" if marker is None else marker.body)
        placeholder = flagged and marker is not None and not marker.fixed and is_tracking(label)
        if marker is not None and not placeholder:
            place[k] = marker.position
    distance = np.linalg.norm(place[:, None] - place[None], axis=2)
    # Markers at one position are placeholders too.
    distance[~_same_name(bodies) | (distance < MIN_MARKER_DISTANCE_M)] = np.nan
    tracking = np.array([is_tracking(label) for label in labels])
    return _scaled_bands(distance, distance, tracking, distances)


def recording_bands(labels: Sequence[str], others: Sequence[Trial]) -> DistanceBands:
    """Bands by other recordings of the same person with the same markers.

    Args:
        labels: Labels of the markers.
        others: The recordings, named alike.

    Returns:
        The bands of markers that another recording shows, up to `MAX_SEGMENT_LENGTH_M`.
    """
    count = len(labels)
    low, high = np.full((count, count), np.nan), np.full((count, count), np.nan)
    for other in others:
        index = {label: k for k, label in enumerate(other.markers)}
        rows = [index.get(label, -1) for label in labels]
        statistics = distance_statistics(other.positions)
        rigid = _pick(statistics.range, rows) < MAX_RIGID_RANGE_M
        found = np.where(rigid, _pick(statistics.median, rows), np.nan)
        low, high = np.fmin(low, found), np.fmax(high, found)
    known = np.isfinite(low) & (high < MAX_SEGMENT_LENGTH_M)
    low, high = np.where(known, low, np.nan), np.where(known, high, np.nan)
    return DistanceBands(low, high, RECORDING_SCALE_M + RECORDING_SCALE_SHARE * high)


def mirror_indices(labels: Sequence[str]) -> np.ndarray:
    """(markers,): index of the same marker of the other side, or of itself; -1 without one."""
    found = np.full(len(labels), -1)
    for left, right in left_right_pairs(tuple(labels)):
        found[[left, right]] = right, left
    marks = {landmark(label): k for k, label in enumerate(labels)}
    for mark, k in marks.items():
        other = marks.get(Landmark({"l": "r", "r": "l"}.get(mark.side, ""), mark.place), -1)
        # An unknown word without a side is not on the midline of the body.
        if found[k] < 0 and (mark.side or mark.place in SYNONYMS):
            found[k] = other
    return found


def segment_pairs(labels: Sequence[str], model: Model | None) -> np.ndarray:
    """(markers, markers): whether two markers are on one segment, by the model or by landmarks."""
    _, bodies = _landmark_bodies()
    names = [bodies.get(body_landmark(label), "") for label in labels]
    if model is not None:
        owners = {marker.name: marker.body for marker in model.markers}
        if sum(label in owners for label in labels) >= 3:
            names = [owners.get(label, "") for label in labels]
    same = _same_name(names)
    np.fill_diagonal(same, False)
    return same


def _same_name(names: Sequence[str]) -> np.ndarray:
    """(names, names): whether two names are equal and not empty."""
    array = np.array(names)
    return np.asarray((array[:, None] == array[None]) & (array != "")[:, None])


def _scaled_bands(
    low: np.ndarray, high: np.ndarray, tracking: np.ndarray, distances: DistanceStatistics
) -> DistanceBands:
    """Bands with the size of the recorded body, which most distances agree on."""
    low, high = low.copy(), high.copy()
    np.fill_diagonal(low, np.nan)
    middle = (low + high) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        narrow = (high - low < 0.3 * middle) & (middle > 0.05) & np.isfinite(distances.median)
    ratio = (distances.median / np.where(narrow, middle, 1.0))[narrow]
    size = float(np.clip(np.median(ratio), 0.4, 1.6)) if len(ratio) else 1.0
    scale = LANDMARK_SCALE_M + LANDMARK_SCALE_SHARE * size * middle
    scale = scale + (TRACKING_SCALE_M - LANDMARK_SCALE_M) * (tracking[:, None] | tracking[None])
    return DistanceBands(size * low, size * high, scale)


def _pick(matrix: np.ndarray, rows: Sequence[int]) -> np.ndarray:
    """Rows and columns of a matrix; NaN for rows that are negative."""
    index = np.asarray(rows, dtype=int)
    if not len(matrix):
        return np.full((len(index), len(index)), np.nan)
    picked = matrix[np.ix_(np.maximum(index, 0), np.maximum(index, 0))]
    unknown = index < 0
    return np.where(unknown[:, None] | unknown[None], np.nan, picked)


@lru_cache(maxsize=1)
def _landmark_model() -> tuple[Model, dict[Landmark, str]]:
    """The body of the catalog with all known landmarks, and the names of its markers."""
    body = heiman(height=STATURE_M, mass=70.0, sex="male")
    neutral = np.asarray(body.neutral(), dtype=float)
    names = {landmark(marker.name): marker.name for marker in body.markers}
    markers = list(body.markers)
    for place, (segment, point) in _LANDMARKS.items():
        for side, word, sign in (("l", "Left", 1.0), ("r", "Right", -1.0), ("", "", 1.0)):
            if (point[1] == 0.0) != (side == ""):
                continue
            owner = segment if segment in body.body_names else segment + word
            # All bodies of the neutral pose have the axes of the world.
            local = np.array(point) * [1.0, sign, 1.0] - position(body, neutral, owner)
            name = f"{side} {place}"
            markers.append(Marker(name, owner, local))
            names[Landmark(side, place)] = name
    return replace(body, markers=tuple(markers)), names


@lru_cache(maxsize=1)
def _landmark_bodies() -> tuple[Model, dict[Landmark, str]]:
    model, names = _landmark_model()
    owners = {marker.name: marker.body for marker in model.markers}
    return model, {mark: owners[name] for mark, name in names.items()}


@lru_cache(maxsize=1)
def _landmark_bands() -> tuple[dict[Landmark, int], np.ndarray, np.ndarray]:
    """Index of each landmark, and bands of their distances over random poses (m)."""
    model, names = _landmark_model()
    neutral = np.asarray(model.neutral(), dtype=float)
    q = np.tile(neutral, (POSE_COUNT, 1))
    joints = np.setdiff1d(np.arange(model.nq), np.asarray(model.root.q))
    angles = np.random.default_rng(0).normal(0.0, POSE_SPREAD_RAD, (POSE_COUNT, len(joints)))
    q[:, joints] = np.clip(
        neutral[joints] + angles,
        np.asarray(model.lower)[joints],
        np.asarray(model.upper)[joints],
    )
    points = np.asarray(marker_positions(model, q))
    distance = np.linalg.norm(points[:, :, None] - points[:, None], axis=3)
    low, high = np.quantile(distance, [0.02, 0.98], axis=0)
    column = {marker.name: k for k, marker in enumerate(model.markers)}
    return {mark: column[name] for mark, name in names.items()}, low, high
