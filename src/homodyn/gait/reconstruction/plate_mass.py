"""The mass that force plates carry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.dynamics import center_of_mass_velocity
from homodyn.motion import Loads

MIN_MASS_FRAMES = 3
"""Fewer measured frames decide no mass."""


def plate_mass(measured: Sequence[Loads], span: tuple[float, float] | None = None) -> float | None:
    """The mass whose recorded movements plates carry, in all frames that they measure.

    Least squares of the vertical force over gravity plus acceleration of the center of mass.

    Args:
        measured: Loads under measured forces, in axes with Z up.
        span: Time span (s); the whole motions when left out.

    Returns:
        kg; None where plates measured fewer than three frames.
    """
    forces, rates = [], []
    for loads in measured:
        motion = loads.motion
        feet = [foot.force[:, 2] for foot in loads.feet if not foot.predicted]
        if not feet:
            continue
        speed = np.asarray(center_of_mass_velocity(motion.model, motion.q, motion.v))[:, 2]
        gravity = float(np.linalg.norm(np.asarray(motion.model.gravity, dtype=float)))
        rate = gravity + np.gradient(speed, motion.time)
        total = np.sum(feet, axis=0)
        known = loads.covered & (total > 0)
        if span is not None:
            known &= (motion.time >= span[0]) & (motion.time <= span[1])
        forces.append(total[known])
        rates.append(rate[known])
    if sum(map(len, forces)) < MIN_MASS_FRAMES:
        return None
    force, rate = np.concatenate(forces), np.concatenate(rates)
    return float(force @ rate / (rate @ rate))
