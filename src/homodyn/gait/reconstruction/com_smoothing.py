"""A recorded motion whose center of mass moves as smoothly as the ground force allows.

Skin and clothing swing for a tenth of a second after a foot strike. A millimeter at 8 Hz is a
quarter of the weight in mass times acceleration. The ground force of a walking step consists of its
first two harmonics (Schneider and Chao 1983), so that faster motion of the center of mass is error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.interpolate import make_interp_spline

from homodyn.capture.filters.butterworth_filter import lowpass
from homodyn.dynamics import center_of_mass
from homodyn.gait.contact_schedule import FootContact, FootContactPhase
from homodyn.gait.treadmill import root_translation
from homodyn.motion import Motion, Side

STEP_HARMONICS = 2.0
"""Cutoff frequency of the center of mass in cycles per step."""
MIN_RATE_RATIO = 2.5
"""Motions with a lower rate, in multiples of the cutoff, are not filtered."""


def smooth_center_of_mass(motion: Motion, step_duration: float) -> Motion:
    """The motion with a translation of the root that low-pass filters its center of mass.

    Joint angles are unchanged. Where the root cannot translate in a direction, as in planar models,
    the center of mass is not filtered in that direction.

    Args:
        motion: A walk, with frames at equal intervals.
        step_duration: Duration of a step (s).

    Returns:
        The motion.
    """
    entries, columns, rates = root_translation(motion.model)
    cutoff = STEP_HARMONICS / step_duration
    if not entries or motion.rate < MIN_RATE_RATIO * cutoff:
        return motion
    path = np.asarray(center_of_mass(motion.model, motion.q), dtype=float)
    shift = lowpass(path, motion.rate, cutoff=cutoff) - path
    amounts = shift @ np.linalg.pinv(rates).T
    curve = make_interp_spline(motion.time, amounts, k=min(5, len(amounts) - 1))
    q, v, a = np.array(motion.q), np.array(motion.v), np.array(motion.a)
    q[:, entries] += amounts
    v[:, columns] += curve.derivative(1)(motion.time)
    a[:, columns] += curve.derivative(2)(motion.time)
    return replace(motion, q=q, v=v, a=a)


def mean_step_duration(schedule: Sequence[FootContactPhase]) -> float | None:
    """Duration of a step, as the mean time between two foot offs.

    Args:
        schedule: The contact schedule, whose ends count as foot offs.

    Returns:
        s; None where no foot comes down, so that nothing is known about steps.
    """
    landings = 0
    for before, after in pairwise(schedule):
        for side in Side:
            swings = before.feet[side] is FootContact.SWING
            landings += swings and after.feet[side] is not FootContact.SWING
    return (schedule[-1].end - schedule[0].begin) / landings if landings else None
