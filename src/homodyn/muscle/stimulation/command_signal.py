"""The command signal of a stimulated muscle and the part of its fibers that an impulse recruits.

HuMAnS (INRIA, User Documentation of 23 October 2006), sections 1.2.1 and 1.2.2.
"""

from __future__ import annotations

from enum import IntEnum

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.muscle.geometry.selects import select
from homodyn.spatial import Array

RAMP, STEP = "ramp", "step"
PROFILES = (RAMP, STEP)
"""How the command falls from stimulation to relaxation: linearly, or at once."""
RECRUITMENT_STEEPNESS = 5.0
CLOCK_TOLERANCE_S = 1e-9
"""Times that differ by less are the same; sums of steps deviate by rounding."""


class CalciumPhase(IntEnum):
    """What the calcium in a muscle does."""

    RELAXED = 0
    """The command is at its relaxation level."""
    RELAXATION = 1
    """The impulse is over; the command falls to the relaxation level."""
    STIMULATION = 2
    """An impulse acts."""


@record
class CommandSignal(Record):
    """Levels and times of the command that an impulse causes.

    An impulse acts ``delay_s`` after it was computed: the command is ``stimulation_level`` for
    ``stimulation_time_s``, falls to minus ``relaxation_level`` during ``relaxation_time_s`` and
    stays there. A later impulse starts the sequence again. The document states the levels without
    a sign; only a negative level relaxes the muscle.

    Raises:
        ModelError: A level is not positive, a time is negative, or the profile is unknown.
    """

    stimulation_level: float = 5.0
    """1/s."""
    relaxation_level: float = 5.0
    """1/s; the command is minus this."""
    delay_s: float = 0.05
    stimulation_time_s: float = 0.02
    relaxation_time_s: float = 0.01
    profile: str = RAMP
    """``"ramp"`` or ``"step"``; the document does not state it."""

    def __post_init__(self) -> None:
        if self.profile not in PROFILES:
            raise ModelError(unknown_name("profile", self.profile, PROFILES))
        levels = (self.stimulation_level, self.relaxation_level)
        times = (self.delay_s, self.stimulation_time_s, self.relaxation_time_s)
        if not all(np.isfinite(x) and x > 0 for x in levels):
            raise ModelError(f"levels of a command signal must be positive (1/s), got {levels}")
        if not all(np.isfinite(x) and x >= 0 for x in times):
            raise ModelError(f"times of a command signal must not be negative (s), got {times}")

    def phase(self, elapsed: Array) -> Array:
        """The `CalciumPhase` at a time since an impulse began to act.

        Args:
            elapsed: s; negative before it acts.

        Returns:
            2, 1 or 0.
        """
        since = elapsed + CLOCK_TOLERANCE_S
        falling = self.stimulation_time_s
        end = falling + self.relaxation_time_s
        after = select(since < falling, 2.0, select(since < end, 1.0, 0.0))
        return select(since < 0.0, 0.0, after)

    def level(self, elapsed: Array) -> Array:
        """The command at a time since an impulse began to act.

        Args:
            elapsed: s; negative before it acts.

        Returns:
            1/s; positive while it stimulates.
        """
        high, low = self.stimulation_level, -self.relaxation_level
        since = elapsed + CLOCK_TOLERANCE_S
        falling = low
        if self.profile == RAMP and self.relaxation_time_s > 0:
            part = (since - self.stimulation_time_s) / self.relaxation_time_s
            falling = high + (low - high) * ca.fmin(ca.fmax(part, 0.0), 1.0)
        after = select(since < self.stimulation_time_s, high, falling)
        return select(since < 0.0, low, after)


def recruitment_rate(charge: Array) -> Array:
    """The part of the fibers that an impulse recruits.

    ``1/2 + 1/2 tanh(5 (p - 1/2)) / tanh(5/2)``: 0 at p = 0 and 1 at p = 1.

    Args:
        charge: Pulse width times intensity, as a part p of the largest: 0 to 1.

    Returns:
        0 to 1.
    """
    half = RECRUITMENT_STEEPNESS / 2
    return 0.5 + 0.5 * ca.tanh(RECRUITMENT_STEEPNESS * (charge - 0.5)) / np.tanh(half)


def charge_for(rate: Array) -> Array:
    """The impulse that recruits a part of the fibers; the inverse of `recruitment_rate`.

    Args:
        rate: Recruitment rate; limited to 0 to 1.

    Returns:
        Pulse width times intensity, as a part of the largest, 0 to 1.
    """
    within = ca.fmin(ca.fmax(rate, 0.0), 1.0)
    tangent = (2 * within - 1) * np.tanh(RECRUITMENT_STEEPNESS / 2)
    return 0.5 + 0.5 * ca.log((1 + tangent) / (1 - tangent)) / RECRUITMENT_STEEPNESS
