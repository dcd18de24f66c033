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

from homodyn.analysis.recording_changes import (
    arms_and_box,
    delay_plates,
    exchange_after_gap,
    exchange_labels,
    exchange_plates,
    limit_forces,
    move_to_belt,
    random_rotation,
    scale_forces,
    scale_markers,
    scale_points,
    scale_rate,
    select_frames,
    select_landmarks,
    turn_markers,
)
from homodyn.capture import Trial
from homodyn.capture.labeling.landmarks import is_unlabeled
from homodyn.gait import GaitMeasures

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
CLOCK_SUBJECTS = (*PLATE_SUBJECTS, "physiological range", "units", "frame rate")
GAP_DURATION_S = 0.1
"""Duration (s) of a planted gap."""
STOP_DURATION_S = 0.2
"""Duration (s) for which cameras stop, or that is cut out."""
FRAME_REPETITIONS = 4
"""Times that each frame of a recording is repeated."""
UNSEEN_SUBJECTS = ("unseen segments", "labels")
SWAP_MIN_SEEN_SHARE = 0.5
"""Share of frames in which both markers of an exchange are seen."""
MIN_PART_MARKERS = 4
"""Markers that a part of the body needs, or the recording has no such part."""

Change = Callable[[Trial], Trial]
UNCHANGED_TRIAL: Change = partial(scale_markers, factor=1.0)
"""The recording as it is, for faults of the settings."""


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
    belt: float | None = None
    """Speed (m/s) of the treadmill that the recording was moved to, which is to be found."""
    given_belt: float | None = None
    """Speed of a belt (m/s) that the settings state."""


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
                partial(turn_markers, rotation=rotation),
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
    for _ in range(count if len(columns) > 1 else 0):
        a, b = (int(k) for k in rng.choice(columns, 2, replace=False))
        frames = slice(None)
        if part:
            first = int(rng.uniform(0.1, 0.6) * trial.frames)
            frames = slice(first, first + max(3, int(rng.uniform(0.1, 0.4) * trial.frames)))
        pair = (trial.markers[a], trial.markers[b])
        yield PlantedFault(
            "labels exchanged in a part" if part else "labels exchanged in all frames",
            f"{pair[0]} and {pair[1]}",
            partial(exchange_labels, a=a, b=b, frames=frames),
            LABEL_SUBJECTS,
            labels=pair,
        )


def gap_exchange_faults(
    trial: Trial, rng: np.random.Generator, count: int
) -> Iterator[PlantedFault]:
    """Gaps of two markers, after which their labels are exchanged.

    Args:
        trial: The good recording.
        rng: Random numbers.
        count: Number of exchanges.

    Yields:
        The exchanges; none where a recording is too short, or no two markers are seen together.
    """
    length = max(int(GAP_DURATION_S * trial.rate), 2)
    if trial.frames < 4 * length:
        return
    for _ in range(count):
        first = int(rng.uniform(0.2, 0.7) * trial.frames)
        around = np.asarray(trial.seen[first - length // 2 : first + 2 * length].all(axis=0))
        columns = [
            k for k, name in enumerate(trial.markers) if around[k] and not is_unlabeled(name)
        ]
        if len(columns) < 2:
            continue
        a, b = (int(k) for k in rng.choice(columns, 2, replace=False))
        pair = (trial.markers[a], trial.markers[b])
        yield PlantedFault(
            "labels exchanged after a gap",
            f"{pair[0]} and {pair[1]}",
            partial(exchange_after_gap, a=a, b=b, gap=slice(first, first + length)),
            LABEL_SUBJECTS,
        )


def sequence_faults(trial: Trial) -> Iterator[PlantedFault]:
    """Frames that are missing or repeated.

    Args:
        trial: The good recording.

    Yields:
        A part that is cut out, cameras that stop, and frames that are repeated throughout; none
        for recordings of less than three such intervals.
    """
    frames, length = np.arange(trial.frames), int(STOP_DURATION_S * trial.rate)
    if length < 2 or trial.frames < 3 * length:
        return
    first = trial.frames // 2 - length // 2
    cut = np.delete(frames, slice(first, first + length))
    stopped = np.array(frames)
    stopped[first : first + length] = first
    for kind, detail, kept, subject in (
        ("frames missing", f"{STOP_DURATION_S:g} s", cut, "missing frames"),
        ("frames repeated", f"cameras stop for {STOP_DURATION_S:g} s", stopped, "repeated frames"),
        (
            "frames repeated",
            f"each {FRAME_REPETITIONS} times",
            frames // FRAME_REPETITIONS * FRAME_REPETITIONS,
            "repeated frames",
        ),
    ):
        yield PlantedFault(
            kind, detail, partial(select_frames, frames=kept), (subject, *CLOCK_SUBJECTS)
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
            partial(scale_markers, factor=factor),
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
            partial(scale_forces, factor=1 / (1 + share)),
            PLATE_SUBJECTS,
        )
    for text, factor in (("kN", 1e-3), ("kgf", 1 / 9.80665), ("lbf", 1 / 4.448), ("mN", 1e3)):
        yield PlantedFault(
            "wrong unit of forces",
            text,
            partial(scale_forces, factor=factor),
            PLATE_SUBJECTS,
        )
    for text, factor in (("m read as mm", 1e-3), ("mm read as m", 1e3)):
        yield PlantedFault(
            "wrong unit of the center of pressure",
            text,
            partial(scale_points, factor=factor),
            ("plates", "axes"),
        )
    yield PlantedFault(
        "plates saturated",
        "at 70 % of the largest force",
        partial(limit_forces, share=0.7),
        ("plate saturated", *PLATE_SUBJECTS),
    )
    yield PlantedFault(
        "wrong sign of plates", "", partial(scale_forces, factor=-1.0), PLATE_SUBJECTS
    )
    yield PlantedFault("plates exchanged", "", exchange_plates, ("plates", "residuals", "axes"))
    yield PlantedFault(
        "plates late",
        "0.2 s",
        partial(delay_plates, delay=0.2),
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
            partial(scale_rate, factor=factor),
            CLOCK_SUBJECTS,
        )


def partial_bodies(trial: Trial) -> Iterator[PlantedFault]:
    """Recordings of a part of the body.

    Args:
        trial: The good recording.

    Yields:
        Arms and a box, one side, legs, trunk and arms; without those that leave fewer than
        `MIN_PART_MARKERS` markers, or nothing out.
    """
    legs = LEG_PLACES | PELVIS_PLACES
    kept: dict[tuple[str, str], Callable[[str, str], bool]] = {
        ("half of the body", "right side"): lambda side, _: side != "l",
        ("half of the body", "left side"): lambda side, _: side != "r",
        ("part of the body", "legs and pelvis"): lambda _, place: place in legs,
        ("part of the body", "trunk and arms"): lambda _, place: place not in legs,
    }
    parts: dict[tuple[str, str], Change] = {("arms and a box only", ""): arms_and_box}
    parts |= {name: partial(select_landmarks, keep=keep) for name, keep in kept.items()}
    for (kind, text), change in parts.items():
        left = set(change(trial).markers) & set(trial.markers)
        if MIN_PART_MARKERS <= len(left) < len(trial.markers):
            yield PlantedFault(kind, text, change, UNSEEN_SUBJECTS)


def belt_faults(measures: GaitMeasures) -> Iterator[PlantedFault]:
    """Walks on a treadmill that nothing states, and wrong speeds of its belt.

    Args:
        measures: Gait measures of the good recording.

    Yields:
        The recording as on a belt of the walking speed, and speeds that the feet contradict.
        Nothing without a whole stride, which gives the speed.
    """
    speeds = [row.mean for row in measures.rows if row.name == "velocity"]
    if not speeds:
        return
    speed, belt = speeds[0], measures.belt_speed
    if belt:
        stated: tuple[tuple[str, float], ...] = (("0 m/s", 0.0), ("1.5 times", 1.5 * belt))
        for text, given in stated:
            yield PlantedFault(
                "wrong belt speed", text, UNCHANGED_TRIAL, ("cycles",), given_belt=given
            )
        return
    velocity = speed * np.array([*measures.direction, 0.0])
    move = partial(move_to_belt, velocity=velocity)
    yield PlantedFault("treadmill", f"{speed:.2f} m/s", move, ("cycles",), belt=speed)
    for text, given in (("0 m/s", 0.0), ("1.5 times", 1.5 * speed)):
        yield PlantedFault("wrong belt speed", text, move, ("cycles",), given_belt=given)
    yield PlantedFault(
        "wrong belt speed",
        "overground",
        lambda trial: trial,
        ("cycles",),
        given_belt=max(speed, 0.5),
    )


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
