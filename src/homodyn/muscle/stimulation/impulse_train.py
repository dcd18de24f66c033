"""Impulses of a stimulator at given times."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.muscle.stimulation.command_signal import CLOCK_TOLERANCE_S
from homodyn.spatial import Array

LONG_AGO_S = 1e9
"""Time since an impulse that has not come."""


@record
class ImpulseTrain(Record):
    """Impulses of all muscles at given times.

    Raises:
        ModelError: Times do not increase, there is not one row per time, or a charge is not a
            number from 0 to 1.
    """

    time: ArrayLike
    """(impulses,), s: when they are computed; they act after the delay of the command signal."""
    charges: ArrayLike
    """(impulses, muscles): pulse width times intensity as a part of the largest, 0 to 1; 0: no
    impulse to this muscle."""

    def __post_init__(self) -> None:
        time = np.atleast_1d(np.array(self.time, float))
        charges = np.atleast_2d(np.array(self.charges, float))
        if time.ndim != 1 or not np.isfinite(time).all() or not (np.diff(time) > 0).all():
            raise ModelError("times of impulses must be finite numbers that increase (s)")
        if charges.ndim != 2 or len(charges) != len(time):
            raise ModelError(
                f"impulses need one row for each of the {count_of(len(time), 'time')}, got shape "
                f"{charges.shape}"
            )
        for row, muscle in np.argwhere(~((charges >= 0) & (charges <= 1))):
            raise ModelError(
                f"the charge of muscle {muscle} at {time[row]:g} s (impulse {row}) is "
                f"{charges[row, muscle]:g}; numbers from 0 to 1 are accepted"
            )
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "charges", charges)

    @staticmethod
    def periodic(
        charges: ArrayLike, period_s: float, duration_s: float, start_s: float = 0.0
    ) -> ImpulseTrain:
        """The same impulses again and again.

        Args:
            charges: (muscles,), 0 to 1.
            period_s: Time between impulses, s.
            duration_s: Time in which they are computed, s.
            start_s: Time of the first one, s.

        Raises:
            ModelError: The period is not positive, or a charge is not a number from 0 to 1.
        """
        if not (period_s > 0 and duration_s > 0):
            raise ModelError(
                f"a period and a duration above zero are needed (s), got {period_s} and "
                f"{duration_s}"
            )
        time = start_s + period_s * np.arange(int(np.ceil(duration_s / period_s - 1e-9)))
        return ImpulseTrain(time, np.tile(np.asarray(charges, float), (len(time), 1)))

    def headline(self) -> str:
        """Number of impulses and their times."""
        time = np.asarray(self.time)
        return f"ImpulseTrain: {count_of(len(time), 'impulse')} from {time[0]:g} to {time[-1]:g} s"

    def last_impulses(self, t: Array, delay_s: float) -> tuple[Array, Array]:
        """When the last impulses began to act, and their charges, over symbols.

        Args:
            t: Time, s.
            delay_s: Time from an impulse to its effect, s.

        Returns:
            s and 0 to 1, (muscles,) each.
        """
        charges = np.asarray(self.charges)
        begun: list[Array] = [ca.SX(-LONG_AGO_S)] * charges.shape[1]
        charge: list[Array] = [ca.SX(0.0)] * charges.shape[1]
        for moment, row in zip(np.asarray(self.time) + delay_s, charges, strict=True):
            acts = t + CLOCK_TOLERANCE_S >= moment
            for k in np.flatnonzero(row):
                begun[k] = ca.if_else(acts, moment, begun[k])
                charge[k] = ca.if_else(acts, row[k], charge[k])
        return ca.vertcat(*begun), ca.vertcat(*charge)
