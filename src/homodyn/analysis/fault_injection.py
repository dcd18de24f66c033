"""Faults of recordings, planted on purpose, and harmless changes, to test verdicts with.

A fault takes a good recording and returns a wrong one, as laboratories produce them: other axes,
exchanged labels, wrong units, plates in the wrong order, a part of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations, product

import numpy as np

from homodyn.capture import Trial
from homodyn.capture.labeling.landmarks import is_unlabeled
from homodyn.capture.quality.body_checks import ARM_LANDMARKS
from homodyn.capture.quality.marker_layout import body_landmark
from homodyn.motion import ForcePlate

LEG_PLACES = frozenset(
    {
        *("heel", "toe", "fifth metatarsal", "first metatarsal", "second metatarsal", "ankle"),
        *("ankle medial", "knee", "knee medial", "thigh", "shank", "tibial tuberosity"),
        *("trochanter", "knee centre", "ankle centre", "hip centre"),
    }
)
"""Landmarks of the legs."""
PELVIS_PLACES = frozenset({"asis", "psis", "sacrum"})
LABEL_SUBJECTS = ("swap", "mislabel", "mirrored", "jump", "fit")
"""Findings and verdicts that name a wrong label."""
PLATE_SUBJECTS = ("plates", "forces", "residuals", "body weight", "axes", "plate upside down")
CLOCK_SUBJECTS = (*PLATE_SUBJECTS, "physiological range", "units")
UNSEEN_SUBJECTS = ("unseen segments", "labels")
SWAP_MIN_SEEN_SHARE = 0.5
"""Share of frames in which both markers of an exchange are seen."""
MIN_LOADED_N = 50.0
"""Force (N) of plates that a person uses."""
BOX_CORNERS_M = ((0, 0, 0), (0.3, 0, 0), (0, 0.4, 0), (0.3, 0.4, 0), (0, 0, 0.25), (0.3, 0, 0.25))
"""Markers on a box in the hands."""
BOX_CENTER_M = (0.2, -0.2, -0.2)

Change = Callable[[Trial], Trial]


@dataclass(frozen=True, eq=False)
class PlantedFault:
    """One wrong version of a recording."""

    kind: str
    """Such as ``"labels exchanged in all frames"``."""
    detail: str
    """What exactly was changed."""
    apply: Change
    subjects: tuple[str, ...]
    """Findings and verdicts that name the reason."""
    up: np.ndarray | None = None
    """(3,), unit vector: where the vertical axis of the good recording is in the wrong one."""
    labels: tuple[str, ...] = ()
    """The exchanged labels."""


def axis_faults(rng: np.random.Generator, random_frames: int) -> Iterator[PlantedFault]:
    """The wrong ones among all 24 permutations of axes, and random laboratory frames.

    Args:
        rng: Random numbers.
        random_frames: Number of random rotations.

    Yields:
        Rotations of markers and plates whose vertical axis is wrong.
    """
    for rotation in _axis_rotations():
        if rotation[2, 2] < 0.5:
            yield _rotation_fault("axes permuted", rotation)
    for _ in range(random_frames):
        yield _rotation_fault("rotated laboratory frame", random_rotation(rng))


def marker_axis_faults() -> Iterator[PlantedFault]:
    """Markers in other axes than the plates.

    Yields:
        All permutations of axes with a wrong vertical.
    """
    for rotation in _axis_rotations():
        if rotation[2, 2] < 0.5:
            yield PlantedFault(
                "markers in other axes than plates",
                _rotation_text(rotation),
                partial(_turn_markers, rotation),
                ("axes", "plate upside down", "plates"),
            )


def label_faults(
    trial: Trial, rng: np.random.Generator, count: int, *, part: bool = False
) -> Iterator[PlantedFault]:
    """Random exchanges of two labels.

    Args:
        trial: The good recording.
        rng: Random numbers.
        count: Number of exchanges.
        part: Whether labels are exchanged in a part of the recording only.

    Yields:
        The exchanges.
    """
    seen = trial.seen.mean(axis=0) > SWAP_MIN_SEEN_SHARE
    columns = [k for k, name in enumerate(trial.markers) if seen[k] and not is_unlabeled(name)]
    for _ in range(count):
        a, b = (int(k) for k in rng.choice(columns, 2, replace=False))
        frames = slice(None)
        if part:
            first = int(rng.uniform(0.1, 0.6) * trial.frames)
            frames = slice(first, first + max(3, int(rng.uniform(0.1, 0.4) * trial.frames)))
        pair = (trial.markers[a], trial.markers[b])
        yield PlantedFault(
            "labels exchanged in a part" if part else "labels exchanged in all frames",
            f"{pair[0]} and {pair[1]}",
            partial(_exchange, a, b, frames),
            LABEL_SUBJECTS,
            labels=pair,
        )


def unit_faults() -> Iterator[PlantedFault]:
    """Wrong units of the markers.

    Yields:
        Millimeters as meters, meters as millimeters, centimeters as either.
    """
    for text, factor in (
        ("mm read as m", 1e3),
        ("m read as mm", 1e-3),
        ("cm read as m", 1e2),
        ("m read as cm", 1e-2),
        ("cm read as mm", 0.1),
        ("mm read as cm", 10.0),
    ):
        yield PlantedFault(
            "wrong unit of markers",
            text,
            partial(_scale_markers, factor),
            ("units",),
        )


def force_faults() -> Iterator[PlantedFault]:
    """Faults of plates: mass, unit, sign, order, place and clock.

    Yields:
        The faults, for recordings with plates.
    """
    for share in (-0.5, -0.2, 0.2, 0.5):
        yield PlantedFault(
            "wrong mass",
            f"model {100 * share:+.0f} %",
            partial(_scale_plates, 1 / (1 + share)),
            PLATE_SUBJECTS,
        )
    for text, factor in (("kN", 1e-3), ("kgf", 1 / 9.80665), ("lbf", 1 / 4.448), ("mN", 1e3)):
        yield PlantedFault(
            "wrong unit of forces",
            text,
            partial(_scale_plates, factor),
            PLATE_SUBJECTS,
        )
    for text, factor in (("m read as mm", 1e-3), ("mm read as m", 1e3)):
        yield PlantedFault(
            "wrong unit of the center of pressure",
            text,
            partial(_scale_points, factor),
            ("plates", "axes"),
        )
    yield PlantedFault(
        "wrong sign of plates", "", lambda trial: scale_forces(trial, -1.0), PLATE_SUBJECTS
    )
    yield PlantedFault("plates exchanged", "", exchange_plates, ("plates", "residuals", "axes"))
    yield PlantedFault(
        "plates late",
        "0.2 s",
        lambda trial: _change_plates(trial, lambda p: replace(p, start=p.start + 0.2)),
        CLOCK_SUBJECTS,
    )


def rate_faults() -> Iterator[PlantedFault]:
    """Wrong frame rates of the markers.

    Yields:
        Rates that are mixed up in practice.
    """
    for factor in (0.5, 0.833, 1.2, 2.0):
        yield PlantedFault(
            "wrong frame rate",
            f"{factor:g} times",
            partial(_scale_rate, factor),
            CLOCK_SUBJECTS,
        )


def partial_bodies() -> Iterator[PlantedFault]:
    """Recordings of a part of the body.

    Yields:
        Arms and a box, one side, legs, trunk and arms.
    """
    for text, change in (
        ("arms and a box", arms_and_box),
        ("right side", lambda trial: _select(trial, lambda side, place: side != "l")),
        (
            "legs and pelvis",
            lambda trial: _select(trial, lambda _, place: place in LEG_PLACES | PELVIS_PLACES),
        ),
        (
            "trunk and arms",
            lambda trial: _select(trial, lambda _, place: place not in LEG_PLACES | PELVIS_PLACES),
        ),
    ):
        yield PlantedFault("part of the body", text, change, UNSEEN_SUBJECTS)


def harmless_changes(
    trial: Trial, rng: np.random.Generator, count: int
) -> Iterator[tuple[str, Trial]]:
    """Versions of a good recording that are as good.

    Args:
        trial: The good recording.
        rng: Random numbers.
        count: Number of versions.

    Yields:
        Text and recording: another heading and place, a shorter interval, noise of 0.5 mm.
    """
    for k in range(count):
        angle = rng.uniform(-np.pi, np.pi)
        c, s = np.cos(angle), np.sin(angle)
        turned = trial.rotate(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))
        length = rng.uniform(0.7, 1.0) * trial.duration
        first = trial.start + rng.uniform(0.0, trial.duration - length)
        cropped = turned.crop(first, first + length)
        noisy = cropped.positions + rng.normal(0.0, 0.0005, cropped.positions.shape)
        text = f"{k + 1}: turned by {np.degrees(angle):.0f} deg, {length:.2f} s, 0.5 mm of noise"
        yield text, replace(cropped, positions=noisy)


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


def scale_forces(trial: Trial, factor: float) -> Trial:
    """The recording with forces and free moments multiplied by a factor.

    Args:
        trial: The recording.
        factor: The factor.

    Returns:
        The new recording.
    """
    return _change_plates(
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


def arms_and_box(trial: Trial) -> Trial:
    """The recording with markers of the arms and of a box only.

    Args:
        trial: The recording.

    Returns:
        The new recording; the box follows the arms.
    """
    arms = _select(trial, lambda _, place: place in (*ARM_LANDMARKS, "shoulder"))
    center = np.nanmean(arms.positions, axis=1, keepdims=True)
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


def _axis_rotations() -> Sequence[np.ndarray]:
    """The 24 rotations that permute axes."""
    found = []
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            matrix = np.diag(signs) @ np.eye(3)[list(order)]
            if np.linalg.det(matrix) > 0:
                found.append(matrix)
    return found


def _rotation_fault(kind: str, rotation: np.ndarray) -> PlantedFault:
    return PlantedFault(
        kind,
        _rotation_text(rotation),
        lambda trial: trial.rotate(rotation),
        ("axes",),
        up=rotation[:, 2],
    )


def _rotation_text(rotation: np.ndarray) -> str:
    up = ", ".join(f"{value:.2f}" for value in rotation[:, 2])
    return f"up is ({up})"


def _turn_markers(rotation: np.ndarray, trial: Trial) -> Trial:
    return replace(trial, positions=trial.positions @ rotation.T)


def _exchange(a: int, b: int, frames: slice, trial: Trial) -> Trial:
    return exchange_labels(trial, a, b, frames)


def _scale_markers(factor: float, trial: Trial) -> Trial:
    return replace(trial, positions=factor * trial.positions)


def _scale_plates(factor: float, trial: Trial) -> Trial:
    return scale_forces(trial, factor)


def _scale_points(factor: float, trial: Trial) -> Trial:
    return _change_plates(trial, lambda plate: replace(plate, point=factor * plate.point))


def _scale_rate(factor: float, trial: Trial) -> Trial:
    return replace(trial, rate=factor * trial.rate)


def _change_plates(trial: Trial, change: Callable[[ForcePlate], ForcePlate]) -> Trial:
    return replace(trial, plates=tuple(change(plate) for plate in trial.plates))


def _select(trial: Trial, keep: Callable[[str, str], bool]) -> Trial:
    marks = {name: body_landmark(name) for name in trial.markers}
    return trial.select_markers([n for n, mark in marks.items() if keep(mark.side, mark.place)])
