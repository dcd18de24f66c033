"""Foot flat and heel rise of a stance, from the roll of the foot over its own flat position.

The roll is the height of the heel above the toes, relative to the level at which the foot rests.
No height above the ground is needed: a fitted foot may be some millimeters off the floor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.foundation.record import Record, record

ROLLED_ANGLE_RAD = np.deg2rad(6.0)
"""A foot that is rolled by more is on its heel or on its toes."""
SLOW_ROLL_SHARE = 0.3
"""Share of the stance, that with the slowest roll, in which the foot is taken to be flat."""
ROLL_NOISE_DEVIATIONS = 6.0
"""Median absolute deviations of the flat foot beyond which its heel has left the ground."""
MIN_ROLL_HEIGHT_M = 0.00002
"""Smallest height of a heel that has left the ground, where the flat foot is perfectly quiet."""
MIN_FLAT_FRAMES = 5
"""Frames of a flat foot from which its deviations are estimated."""


@record
class FootRoll(Record):
    """When a foot is flat during one stance."""

    flat: float | None
    """s: the toes come down; None where the foot is flat from the beginning."""
    rise: float | None
    """s: the heel leaves the ground; None where it does not in this stance."""
    confidence: float
    """0 to 1: 1 less the unrest of the flat foot as a share of the angle of a rolled one."""


def flat_level(time: np.ndarray, roll: np.ndarray, stance: np.ndarray) -> float:
    """The roll of the flat foot.

    Args:
        time: (frames,), s.
        roll: (frames,), m: height of the heel above the toes.
        stance: (frames,): whether the foot is on the ground.

    Returns:
        The median roll (m) of the slowest frames in stance; 0 without stance.
    """
    if not stance.any():
        return 0.0
    rate = np.abs(np.gradient(roll, time))
    slow = rate <= np.quantile(rate[stance], SLOW_ROLL_SHARE)
    return float(np.median(roll[stance & slow]))


def find_foot_roll(time: np.ndarray, roll: np.ndarray, length: float) -> FootRoll:
    """Foot flat and heel rise of one stance.

    The time at which the foot has rolled by `ROLLED_ANGLE_RAD` is followed back along the tangent
    to the flat position, and farther where the flat foot is quieter than that.

    Args:
        time: (frames,), s: frames of the stance.
        roll: (frames,), m: height of the heel above the toes, minus that of the flat foot.
        length: Length of the foot (m).

    Returns:
        The times, and how certain they are.
    """
    rolled = length * np.sin(ROLLED_ANGLE_RAD)
    rise = _departure(time, roll, rolled)
    landing = _departure(-time[::-1], -roll[::-1], rolled)
    flat = None if landing is None else -landing
    begin = time[0] if flat is None else flat
    end = time[-1] if rise is None else rise
    resting = (time >= begin) & (time <= end)
    if resting.sum() < MIN_FLAT_FRAMES:
        return FootRoll(flat, None if rise is None else max(rise, float(begin)), 0.0)
    level = float(np.median(roll[resting]))
    unrest = ROLL_NOISE_DEVIATIONS * float(np.median(np.abs(roll[resting] - level)))
    low = np.flatnonzero(resting & (roll <= level + max(MIN_ROLL_HEIGHT_M, unrest)))
    high = np.flatnonzero(resting & (roll >= level - max(MIN_ROLL_HEIGHT_M, unrest)))
    if rise is not None and low.size:
        rise = min(rise, float(time[low[-1]]))
    if flat is not None and high.size:
        flat = max(flat, float(time[high[0]]))
    if flat is not None and rise is not None:
        rise = max(rise, flat)
    return FootRoll(flat, rise, float(np.clip(1 - unrest / (2 * rolled), 0.0, 1.0)))


def stance_frames(time: np.ndarray, spans: Sequence[tuple[float, float]]) -> np.ndarray:
    """(frames,): whether each time is within a span (s)."""
    inside = np.zeros(len(time), dtype=bool)
    for begin, end in spans:
        inside |= (time >= begin) & (time <= end)
    return inside


def _departure(time: np.ndarray, roll: np.ndarray, rolled: float) -> float | None:
    """When a roll that ends above a level left zero, along its tangent there; None if it did not.

    A roll that is above the level throughout left zero before the first time.
    """
    if roll[-1] <= rolled:
        return None
    below = np.flatnonzero(roll <= rolled)
    if not below.size:
        return float(time[0])
    k = int(below[-1])
    slope = (roll[k + 1] - roll[k]) / (time[k + 1] - time[k])
    return float(max(time[k] - roll[k] / slope, time[0]))
