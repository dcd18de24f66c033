"""Force thresholds of loaded feet and force plates, with their reasons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.foundation.record import Record, record

MAX_WEIGHT_FRACTIONS = {
    "contact_n": 0.05,
    "center_of_pressure_n": 0.02,
    "drawing_n": 0.1,
    "plate_check_n": 0.1,
    "baseline_n": 0.1,
}
"""Largest thresholds as fractions of the weight: a robot of 1 kg stands on less than 20 N."""


@record(eq=True)
class StanceThreshold(Record):
    """Forces (N) that separate a loaded foot or plate from noise.

    The thresholds differ because they answer different questions: a center of pressure can be
    computed at 10 N, but it is precise enough to draw only at 40 N.
    """

    contact_n: float = 20.0
    """A foot is on the ground. The value is above the noise of plates (a few N) and is exceeded
    within a few milliseconds of a heel strike; it is the usual value of gait laboratories."""
    computed_n: float = 1e-6
    """A computed force, which has no noise, is not zero."""
    center_of_pressure_n: float = 10.0
    """The center of pressure is defined: moment over force is finite and within the plate."""
    drawing_n: float = 40.0
    """The center of pressure is precise enough to draw: noise of the moments shifts it by less than
    about a centimeter."""
    plate_check_n: float = 50.0
    """A plate certainly carries a person; readings below are those of an empty plate with an offset
    or a drift."""
    baseline_n: float = 60.0
    """Readings below it may be the baseline of an unloaded plate, however badly zeroed."""

    def for_weight(self, weight: float) -> StanceThreshold:
        """The thresholds for a body of some weight: those of people, or less for a light robot.

        Args:
            weight: Weight of the body (N).

        Returns:
            Thresholds of at most the fractions of `MAX_WEIGHT_FRACTIONS` of the weight.
        """
        limits = {
            name: min(getattr(self, name), fraction * weight)
            for name, fraction in MAX_WEIGHT_FRACTIONS.items()
        }
        return replace(self, **limits)

    def in_contact(self, force: np.ndarray) -> np.ndarray:
        """Where a force is that of a foot on the ground.

        Args:
            force: (..., 3), N.

        Returns:
            (...): True where its magnitude exceeds ``contact_n``.
        """
        return np.linalg.norm(np.nan_to_num(force), axis=-1) > self.contact_n


STANCE_THRESHOLD = StanceThreshold()
"""The thresholds that all packages use unless they are given others."""
