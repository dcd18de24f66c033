"""Changes of recordings that plant faults: axes, labels, units, plates, clock, visible body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np

from homodyn.capture import Trial
from homodyn.capture.quality.body_checks import ARM_LANDMARKS
from homodyn.capture.quality.marker_layout import body_landmark
from homodyn.motion import ForcePlate

MIN_LOADED_N = 50.0
"""Force (N) of plates that a person uses."""
MIN_PLATE_DISTANCE_M = 0.25
"""Distance (m) of the centers of pressure of plates whose exchange is a fault: tables of forces by
foot have columns in the same place, and each foot finds its own in any order."""
BOX_CORNERS_M = ((0, 0, 0), (0.3, 0, 0), (0, 0.4, 0), (0.3, 0.4, 0), (0, 0, 0.25), (0.3, 0, 0.25))
"""Markers on a box in the hands."""
BOX_CENTER_M = (0.2, -0.2, -0.2)


def exchange_labels(trial: Trial, a: int, b: int, frames: slice = slice(None)) -> Trial:
    """The recording with the labels of two markers exchanged.

    Args:
        trial: The recording.
        a: Index of a marker.
        b: Index of the other marker.
        frames: Where.

    Returns:
        The new recording.
    """
    positions = np.array(trial.positions)
    positions[frames, [a, b]] = positions[frames, [b, a]]
    return replace(trial, positions=positions)


def exchange_after_gap(trial: Trial, a: int, b: int, gap: slice) -> Trial:
    """The recording with a gap of two markers, after which their labels are exchanged.

    Args:
        trial: The recording.
        a: Index of a marker.
        b: Index of the other marker.
        gap: Frames of the gap.

    Returns:
        The new recording.
    """
    later = exchange_labels(trial, a, b, slice(gap.stop, None))
    positions = np.array(later.positions)
    positions[gap, [a, b]] = np.nan
    return replace(later, positions=positions)


def select_frames(trial: Trial, frames: np.ndarray) -> Trial:
    """The recording with the markers of some frames (indices), at the rate that it states.

    Args:
        trial: The recording.
        frames: Indices of frames; a repeated index repeats a frame.

    Returns:
        The new recording; plates keep their clock.
    """
    return replace(
        trial,
        positions=trial.positions[frames],
        filled=trial.filled[frames],
        model_outputs={},
    )


def limit_forces(trial: Trial, share: float) -> Trial:
    """The recording with plates whose range ends at a share of their largest vertical force."""

    def limit(plate: ForcePlate) -> ForcePlate:
        force = np.array(plate.force)
        force[:, 2] = np.minimum(force[:, 2], share * np.nan_to_num(force[:, 2]).max(initial=0.0))
        return replace(plate, force=force)

    return change_plates(trial, limit)


def scale_forces(trial: Trial, factor: float) -> Trial:
    """The recording with forces and free moments multiplied by a factor.

    Args:
        trial: The recording.
        factor: The factor.

    Returns:
        The new recording.
    """
    return change_plates(
        trial, lambda p: replace(p, force=factor * p.force, torque=factor * p.torque)
    )


def exchange_plates(trial: Trial) -> Trial:
    """The recording with the signals of loaded plates in another order.

    Args:
        trial: The recording.

    Returns:
        The new recording; each plate stays at its place.
    """
    plates = list(trial.plates)
    used = [k for k, p in enumerate(plates) if _loaded_samples(p).any()]
    centers = {k: np.median(plates[k].point[_loaded_samples(plates[k])], axis=0) for k in used}
    found = list(plates)
    for here, there in zip(used, used[1:] + used[:1], strict=True):
        other = plates[there]
        found[here] = replace(
            other,
            name=plates[here].name,
            body=plates[here].body,
            point=other.point - centers[there] + centers[here],
        )
    return replace(trial, plates=tuple(found))


def can_exchange_plates(trial: Trial) -> bool:
    """Whether loaded plates are so far apart that an exchange of their signals is a fault."""
    centers = [
        np.median(plate.point[loaded], axis=0)
        for plate in trial.plates
        if (loaded := _loaded_samples(plate)).any()
    ]
    apart = [float(np.linalg.norm(one - two)) for one, two in combinations(centers, 2)]
    return max(apart, default=0.0) >= MIN_PLATE_DISTANCE_M


def arms_and_box(trial: Trial) -> Trial:
    """The recording with markers of the arms and of a box only.

    Args:
        trial: The recording.

    Returns:
        The new recording; the box follows the arms, and there is none without arms.
    """
    arms = select_landmarks(trial, lambda _, place: place in (*ARM_LANDMARKS, "shoulder"))
    if not arms.markers:
        return replace(arms, plates=())
    seen = np.isfinite(arms.positions).all(axis=2, keepdims=True)
    count = seen.sum(axis=1, keepdims=True)
    total = np.where(seen, arms.positions, 0.0).sum(axis=1, keepdims=True)
    center = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    box = center + np.array(BOX_CORNERS_M) + np.array(BOX_CENTER_M)
    positions = np.concatenate([arms.positions, box], axis=1)
    labels = (*arms.markers, *(f"Box{k + 1}" for k in range(len(BOX_CORNERS_M))))
    filled = np.zeros(positions.shape[:2], dtype=bool)
    return replace(arms, markers=labels, positions=positions, filled=filled, plates=())


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """(3, 3): a random rotation that moves the vertical axis by at least 25 degrees."""
    while True:
        matrix, upper = np.linalg.qr(rng.normal(size=(3, 3)))
        matrix = matrix * np.sign(np.diag(upper))
        matrix = matrix * np.linalg.det(matrix)
        if matrix[2, 2] < np.cos(np.radians(25.0)):
            return np.asarray(matrix)


def plate_count(trial: Trial) -> int:
    """Number of plates that carry a person."""
    return sum(bool(_loaded_samples(plate).any()) for plate in trial.plates)


def _loaded_samples(plate: ForcePlate) -> np.ndarray:
    return np.linalg.norm(np.nan_to_num(plate.force), axis=1) > MIN_LOADED_N


def turn_markers(trial: Trial, rotation: np.ndarray) -> Trial:
    """The recording with markers, but not plates, in axes that a matrix (3, 3) turns."""
    return replace(trial, positions=trial.positions @ rotation.T)


def scale_markers(trial: Trial, factor: float) -> Trial:
    """The recording with positions of markers multiplied by a factor."""
    return replace(trial, positions=factor * trial.positions)


def scale_points(trial: Trial, factor: float) -> Trial:
    """The recording with centers of pressure multiplied by a factor."""
    return change_plates(trial, lambda plate: replace(plate, point=factor * plate.point))


def scale_rate(trial: Trial, factor: float) -> Trial:
    """The recording with the frame rate of its markers multiplied by a factor."""
    return replace(trial, rate=factor * trial.rate)


def delay_plates(trial: Trial, delay: float) -> Trial:
    """The recording with plates that begin later (s)."""
    return change_plates(trial, lambda plate: replace(plate, start=plate.start + delay))


def move_to_belt(trial: Trial, velocity: np.ndarray) -> Trial:
    """The recording as seen from a frame that moves with a velocity (3,), in m/s."""
    positions = trial.positions - np.outer(trial.time - trial.start, velocity)[:, None]
    plates = [
        replace(p, point=p.point - np.outer(p.time - trial.start, velocity)) for p in trial.plates
    ]
    return replace(trial, positions=positions, plates=tuple(plates))


def change_plates(trial: Trial, change: Callable[[ForcePlate], ForcePlate]) -> Trial:
    """The recording with a change of every plate."""
    return replace(trial, plates=tuple(change(plate) for plate in trial.plates))


def select_landmarks(trial: Trial, keep: Callable[[str, str], bool]) -> Trial:
    """The recording with the markers whose side (r, l or empty) and landmark are kept."""
    marks = {name: body_landmark(name) for name in trial.markers}
    return trial.select_markers([n for n, mark in marks.items() if keep(mark.side, mark.place)])
