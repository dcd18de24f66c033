"""Whether plates and a motion can belong together: unit of forces, place of the plates, clocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import combinations

import numpy as np

from homodyn.capture.kinetics.feet import find_feet
from homodyn.capture.kinetics.foot_trajectories import foot_trajectories
from homodyn.capture.kinetics.plate_consistency import stance_without_plate
from homodyn.capture.kinetics.plate_sampling import sample_plates
from homodyn.capture.world_frame import world_axes
from homodyn.foundation.record import Record, record
from homodyn.motion import ForcePlate, Loads

FORCE_UNIT_SHARES: Mapping[str, float] = {
    "kN": 1e-3,
    "kgf": 1 / 9.80665,
    "lbf": 1 / 4.4482216,
    "mN": 1e3,
}
"""Forces of another unit that are read as newtons, as a multiple of the true ones."""
MAX_UNIT_DEVIATION = 0.35
"""Relative deviation from the body weight of a person who stands or walks on plates."""
MIN_PLAUSIBLE_WEIGHT, MAX_PLAUSIBLE_WEIGHT = 0.15, 16.0
"""Largest vertical force of all plates in body weights, outside of which the unit is wrong."""
MIN_STANCE_WEIGHT = 0.65
"""Largest vertical force in body weights of plates that carry a person on one foot at some time;
landings, running and fast walking exceed it."""
MAX_DISCARDED_SHARE = 0.3
"""Share of the impulse of the plates that may act where no foot is."""
MIN_DISCARDED_WEIGHT = 0.3
"""Discarded force in body weights that counts."""
MIN_SHARED_LOAD_WEIGHTS = 0.1
"""Load of each of two plates, in body weights, that carry a person together."""
MIN_SHARED_TIME_S = 0.05
"""Time (s) in which two plates do so, and that is enough to compare their horizontal forces."""
MIN_PLATE_DISTANCE_M = 0.1
"""Distance (m) of their centers of pressure that gives a direction."""
MAX_OUTWARD_SHARE = 0.05
"""Horizontal force by which two plates push the feet apart, as a share of their load. Forces lean
towards the center of mass: in ten recordings of walks, squats, rising from a chair and a landing,
plates push the feet towards each other with 0.08 to 0.21 of the load, and apart once the plates are
exchanged or the signs of their horizontal forces are wrong."""
MAX_DURATION_RATIO = 1.05
"""Ratio of the durations of plates and motion from which their clocks are named as a cause."""


class PlateDoubt(StrEnum):
    """What speaks against plates and motion, the worst last."""

    NONE = "none"
    PARTIAL = "partial"
    """Plates carry something else too, or only a part of the body."""
    WRONG = "wrong"
    """Forces and motion do not belong together as they are."""


@record(eq=True)
class PlatePlausibility(Record):
    """Doubts about the plates of a recording."""

    doubt: PlateDoubt
    sentence: str
    """What was found, with likely causes; empty without a doubt."""
    peak: float
    """Largest vertical force of all plates together in body weights of the model, unfiltered."""
    discarded: float
    """Share of the vertical impulse that acts where no foot is."""


def check_plates(loads: Loads, plates: Sequence[ForcePlate]) -> PlatePlausibility:
    """Compare the raw readings of plates with the weight and with the forces on the feet.

    Args:
        loads: Loads of the motion under these plates.
        plates: The plates, with Z up.

    Returns:
        The doubts.
    """
    motion = loads.motion
    up = world_axes(motion.model)[2]
    weight = motion.model.mass * float(np.linalg.norm(np.asarray(motion.model.gravity, float)))
    sampled = sample_plates(motion, plates, cutoff=None, threshold=0.0)
    raw = np.sum([plate.force @ up for plate in sampled], axis=0) / weight
    peak = float(raw.max(initial=0.0))
    used = loads.ground_force @ up / weight
    total = float(np.maximum(raw, 0.0).sum())
    lost = raw - used
    discarded = float(np.maximum(lost, 0.0).sum() / total) if total > 0 else 0.0
    common = {"peak": peak, "discarded": discarded}
    unit = _unit_sentence(raw, peak)
    if unit:
        return PlatePlausibility(PlateDoubt.WRONG, unit, **common)
    outward = _outward_sentence(loads, plates, weight)
    if outward:
        return PlatePlausibility(PlateDoubt.WRONG, outward, **common)
    clocks = _clock_text(loads, plates)
    notable = lost > MIN_DISCARDED_WEIGHT
    if discarded > MAX_DISCARDED_SHARE and notable.any():
        paths = foot_trajectories(motion, find_feet(motion.model))
        elsewhere = stance_without_plate(loads.feet, paths, up)[notable].mean() > 0.5
        return PlatePlausibility(
            PlateDoubt.WRONG if elsewhere else PlateDoubt.PARTIAL,
            f"{100 * discarded:.0f} % of the impulse of the plates acts where no foot is, up to "
            f"{lost.max():.2g} body weights: check the order and the positions of the plates, the "
            f"unit of the centers of pressure, and the clocks of plates and markers{clocks}; or a "
            "chair, a hand or another person was on a plate",
            **common,
        )
    if 0.02 < peak < MIN_STANCE_WEIGHT and loads.motion.duration > 0:
        return PlatePlausibility(
            PlateDoubt.PARTIAL,
            f"the plates never carry more than {100 * peak:.0f} % of the weight of the model: the "
            "mass or the unit of the forces is wrong, or other ground or a chair carries the rest"
            f"{clocks}",
            **common,
        )
    return PlatePlausibility(PlateDoubt.NONE, "", **common)


def _unit_sentence(raw: np.ndarray, peak: float) -> str:
    """Forces that are far too small or too large, with the unit that explains it."""
    if peak <= 0 or MIN_PLAUSIBLE_WEIGHT <= peak <= MAX_PLAUSIBLE_WEIGHT:
        return ""
    loaded = raw[raw > 0.5 * peak]
    typical = float(np.median(loaded))
    if peak < MIN_PLAUSIBLE_WEIGHT and len(loaded) < 0.05 * len(raw):
        return ""  # Noise, or a foot that brushes a plate.
    likely = next(
        (
            f"; if they are in {name}, multiply them by {1 / share:.4g}"
            for name, share in FORCE_UNIT_SHARES.items()
            if abs(typical / share - 1) < MAX_UNIT_DEVIATION
        ),
        "",
    )
    if peak < MIN_PLAUSIBLE_WEIGHT and not likely:
        return ""
    return (
        f"loaded plates carry {typical:.2g} body weights: the unit of the forces is wrong, or the "
        f"mass of the model{likely}"
    )


def _outward_sentence(loads: Loads, plates: Sequence[ForcePlate], weight: float) -> str:
    """Pairs of plates under one person that push its feet apart, with likely causes."""
    time = loads.time
    for one, two in combinations(plates, 2):
        first, second = (_readings_at(plate, time) for plate in (one, two))
        across = second[1] - first[1]
        across[:, 2] = 0.0
        distance = np.linalg.norm(across, axis=1)
        lower = np.minimum(first[0][:, 2], second[0][:, 2])
        shared = (lower > MIN_SHARED_LOAD_WEIGHTS * weight) & (distance > MIN_PLATE_DISTANCE_M)
        if shared.sum() < max(MIN_SHARED_TIME_S * loads.motion.rate, 3):
            continue
        direction = across[shared] / distance[shared, None]
        difference = (first[0] - second[0])[shared]
        towards = float(np.mean(np.sum(difference * direction, axis=1)))
        share = towards / float(np.mean((first[0] + second[0])[shared, 2]))
        if share < -MAX_OUTWARD_SHARE:
            return (
                f"plates {one.name!r} and {two.name!r} push the feet apart with "
                f"{-100 * share:.0f} % of their load, and the ground pushes feet towards each "
                "other: the plates are exchanged, or signs or axes of their horizontal forces are "
                "wrong"
            )
    return ""


def _readings_at(plate: ForcePlate, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force (N) and center of pressure (m) of a plate at some times, (frames, 3) each."""
    force, point = (
        np.column_stack(
            [
                np.interp(time, plate.time, np.nan_to_num(column), left=0.0, right=0.0)
                for column in values.T
            ]
        )
        for values in (plate.force, plate.point)
    )
    return force, point


def _clock_text(loads: Loads, plates: Sequence[ForcePlate]) -> str:
    """Durations of plates and motion where they differ."""
    spans = max((len(plate.force) - 1) / plate.rate for plate in plates)
    motion = loads.motion.duration
    if max(spans, motion) < MAX_DURATION_RATIO * min(spans, motion):
        return ""
    return f" (plates {spans:.2f} s, markers {motion:.2f} s: is the frame rate right?)"
