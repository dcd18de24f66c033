"""When a foot or a force plate counts as loaded: one set of thresholds, with their reasons."""

from __future__ import annotations

import numpy as np

from homodyn.foundation.record import Record, record


@record(eq=True)
class StanceThreshold(Record):
    """Forces (N) that separate a loaded foot or plate from noise.

    The levels differ because the questions differ: a centre of pressure can be computed at 10 N,
    but it is precise enough to draw only at 40 N.
    """

    contact_n: float = 20.0
    """A foot stands on the ground. Above the noise of plates (a few N), and a few milliseconds of
    a heel strike; the usual value of gait laboratories."""
    center_of_pressure_n: float = 10.0
    """The centre of pressure is defined: moment over force is finite and within the plate."""
    drawing_n: float = 40.0
    """The centre of pressure is precise enough to draw: noise of the moments moves it by less than
    about a centimetre."""
    plate_check_n: float = 50.0
    """A plate certainly carries someone, so that its readings below are offset or drift."""
    baseline_n: float = 60.0
    """Readings below it may be the baseline of an unloaded plate, however badly zeroed."""

    def in_contact(self, force: np.ndarray) -> np.ndarray:
        """Where a force is that of a foot on the ground.

        Args:
            force: (..., 3), N.

        Returns:
            (...): True where its size exceeds ``contact_n``.
        """
        return np.linalg.norm(np.nan_to_num(force), axis=-1) > self.contact_n


STANCE_THRESHOLD = StanceThreshold()
"""The thresholds that all packages use unless they are given others."""
