"""Kinds of markers whose names and flags say nothing, by how rigid and how well placed they are.

Two things separate them. Bony landmarks are where the generic model has them, up to the shape of
the person, so that their distances agree with those of the model; placeholders agree with nothing.
Markers on one plate agree with each other, but the plate is anywhere on its segment: its markers
keep their distances to a millimeter while skin moves over bones by several. A group of three or
more that agrees only within itself and is rigid is a cluster, hence tracking markers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from homodyn.capture.scaling.marker_kinds import MarkerKind, marker_kinds, unnamed_markers
from homodyn.capture.scaling.shared_markers import SharedMarkers
from homodyn.model import Model

MAX_RIGID_SD_M = 1.0e-3
"""Standard deviation (m) of a distance over a movement below which it is rigid."""
MIN_MOVEMENT_M = 0.05
"""Standard deviation (m) of the distances between markers of different bodies in a movement: in a
static trial all distances are constant."""
MAX_PLATE_SIZE_M = 0.15
"""Largest distance (m) between markers on one plate."""
MIN_CLUSTER_MARKERS = 3
"""Markers of a cluster."""
MAX_PLACEMENT_ERROR_M = 0.015
"""Deviation (m) of the distance of two landmarks from the model, beside that of their segment."""
MAX_SHAPE_ERROR = 0.15
"""Relative deviation of the distance of two landmarks: shapes of segments differ."""


def recorded_kinds(model: Model, recording: SharedMarkers) -> tuple[MarkerKind, ...]:
    """Kind of each recorded marker, from model and recording.

    Args:
        model: The generic model.
        recording: The recorded markers.

    Returns:
        The kinds that `marker_kinds` finds, in the order of the recorded markers. Where neither
        flags nor names nor coinciding positions decide, rigidity and the distances of the model do.
    """
    kinds = marker_kinds(model)
    unnamed = unnamed_markers(model)
    place = {marker.name: np.asarray(marker.position) for marker in model.markers}
    body = {marker.name: marker.body for marker in model.markers}
    if not unnamed & set(recording.markers):
        return tuple(kinds[name] for name in recording.markers)
    size, moving = _size(recording, place, body), _moves(recording, body)
    for segment in dict.fromkeys(body[name] for name in recording.markers):
        rows = [
            k
            for k, name in enumerate(recording.markers)
            if body[name] == segment and (name in unnamed or kinds[name] is MarkerKind.LANDMARK)
        ]
        names = [recording.markers[k] for k in rows]
        positions = recording.positions[:, rows]
        shape = size * np.array([place[name] for name in names]).reshape(-1, 3)
        consistent = _consistent_group(positions, shape)
        if moving and set(consistent) <= _rigid_group(positions):
            continue  # A plate: its shape is known, its place on the segment is not.
        for k in consistent:
            if names[k] in unnamed:
                kinds[names[k]] = MarkerKind.LANDMARK
    return tuple(kinds[name] for name in recording.markers)


def _distances(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (markers, markers) of the distances over the frames, m."""
    distance = np.linalg.norm(positions[:, :, None] - positions[:, None], axis=-1)
    seen = np.isfinite(distance)
    count = np.maximum(seen.sum(0), 1)
    mean = np.where(seen, distance, 0.0).sum(0) / count
    square = np.where(seen, (distance - mean) ** 2, 0.0).sum(0) / count
    return np.where(seen.any(0), mean, np.nan), np.sqrt(square)


def _moves(recording: SharedMarkers, body: dict[str, str]) -> bool:
    """Whether the person moves: distances between markers of different bodies change."""
    _, spread = _distances(recording.positions)
    bodies = np.array([body[name] for name in recording.markers])
    other = bodies[:, None] != bodies
    return bool(other.any() and np.nanpercentile(spread[other], 90) > MIN_MOVEMENT_M)


def _size(recording: SharedMarkers, place: dict[str, np.ndarray], body: dict[str, str]) -> float:
    """Size of the person relative to the model: median ratio of distances within bodies."""
    mean, _ = _distances(recording.positions)
    names = recording.markers
    ratios = [
        mean[i, j] / np.linalg.norm(place[names[i]] - place[names[j]])
        for i, j in combinations(range(len(names)), 2)
        if body[names[i]] == body[names[j]]
        and np.linalg.norm(place[names[i]] - place[names[j]]) > MAX_PLACEMENT_ERROR_M
    ]
    return float(np.nanmedian(ratios)) if np.isfinite(ratios).any() else 1.0


def _rigid_group(positions: np.ndarray) -> set[int]:
    """Indices of the markers (frames, markers, 3) of one segment that are on a plate."""
    mean, spread = _distances(positions)
    linked = (spread < MAX_RIGID_SD_M) & (mean < MAX_PLATE_SIZE_M)
    group = _largest_group(linked, spread)
    return set(group) if len(group) >= MIN_CLUSTER_MARKERS else set()


def _consistent_group(positions: np.ndarray, model_positions: np.ndarray) -> Sequence[int]:
    """Indices of the markers of one segment whose distances agree with those of the model."""
    mean, _ = _distances(positions)
    expected = np.linalg.norm(model_positions[:, None] - model_positions, axis=-1)
    error = np.abs(mean - expected)
    linked = error < MAX_PLACEMENT_ERROR_M + MAX_SHAPE_ERROR * expected
    group = _largest_group(linked, error)
    return group if len(group) > 1 else ()


def _largest_group(linked: np.ndarray, cost: np.ndarray) -> tuple[int, ...]:
    """The largest set of mutually linked markers; of several, the one with the least cost."""
    best: tuple[int, ...] = ()
    least = np.inf
    for start in range(len(linked)):
        group = [start]
        for k in np.argsort(cost[start], kind="stable"):
            if k != start and linked[k, group].all():
                group.append(int(k))
        total = float(np.mean(cost[np.ix_(group, group)]))
        if (len(group), -total) > (len(best), -least):
            best, least = tuple(sorted(group)), total
    return best
