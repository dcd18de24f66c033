"""Geared electric motors behind a sampled control law with a delay.

Torque of a coordinate from the voltage U of its motor, with gear ratio n, torque constant k and
resistance R: ``tau = n k (U - k n v) / R``. The states are those of the module BipActuators
(HuMAnS, INRIA 2006, sections 6.1.3 and 6.4.2); its gear ratios are frozen at a pose there too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record

SAME_TIME_S = 1e-9
"""Times closer than this are one."""


@record
class GearedMotors(Record):
    """Motors of the driven coordinates.

    Raises:
        ModelError: A number is not positive, or sizes differ.
    """

    gear_ratio: ArrayLike
    """(motors,): turns of the motor per turn of the joint."""
    torque_constant: ArrayLike
    """(motors,), N m/A, which is also V s/rad."""
    resistance: ArrayLike
    """(motors,), ohm."""
    max_voltage: ArrayLike
    """(motors,), V."""

    def __post_init__(self) -> None:
        for name in ("gear_ratio", "torque_constant", "resistance", "max_voltage"):
            values = np.array(getattr(self, name), dtype=float)
            if values.shape != np.shape(self.gear_ratio) or not (values > 0).all():
                raise ModelError(f"motors: {name} is one number above 0 per motor, got {values}")
            object.__setattr__(self, name, values)

    @property
    def count(self) -> int:
        """Number of motors."""
        return int(np.size(self.gear_ratio))

    def torque(self, voltage: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Torques at given voltages and joint velocities.

        Args:
            voltage: (..., motors), V.
            v: (..., motors), rad/s.

        Returns:
            (..., motors), N m.
        """
        ratio, constant = np.asarray(self.gear_ratio), np.asarray(self.torque_constant)
        current = (voltage - constant * ratio * np.asarray(v)) / np.asarray(self.resistance)
        return np.asarray(ratio * constant * current)

    def damping(self) -> np.ndarray:
        """Torque per velocity of the induced voltage, (motors,), N m s/rad."""
        ratio, constant = np.asarray(self.gear_ratio), np.asarray(self.torque_constant)
        return np.asarray((ratio * constant) ** 2 / np.asarray(self.resistance))

    def voltage(self, torque: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Voltages for given torques at given velocities, within the largest voltage.

        Args:
            torque: (..., motors), N m.
            v: (..., motors), rad/s.

        Returns:
            (..., motors), V.
        """
        ratio, constant = np.asarray(self.gear_ratio), np.asarray(self.torque_constant)
        needed = np.asarray(self.resistance) * np.asarray(torque) / (ratio * constant)
        needed = needed + constant * ratio * np.asarray(v)
        most = np.asarray(self.max_voltage)
        return np.asarray(np.clip(needed, -most, most))


@record
class MotorState(Record):
    """The state of sampled motors between two events."""

    next_call: float
    """s: when the control law is called next."""
    next_change: float
    """s: when the waiting voltage acts; in the past where it acts already."""
    voltage: np.ndarray
    """(motors,), V: acting now."""
    waiting: np.ndarray
    """(motors,), V: computed, not acting yet."""
    gear_pose: np.ndarray
    """(nq,): pose at which gear ratios are taken."""

    def to_array(self) -> np.ndarray:
        """All entries in the order of the document, (2 + 2 motors + nq,)."""
        times = [self.next_call, self.next_change]
        return np.concatenate([times, self.voltage, self.waiting, self.gear_pose])


class SampledMotors:
    """Calls a control law every period; its voltage acts after a delay, the first one at once.

    Args:
        law: ``f(t)``: voltages (motors,) from what the sensors have at the time, V.
        period: Time between calls, s.
        delay: Time from a call until its voltage acts, s, shorter than the period.
        gear_pose: Pose at which gear ratios are taken, (nq,).
        start: Time of the first call, s.

    Raises:
        ModelError: Period and delay do not fit.
    """

    def __init__(
        self,
        law: Callable[[float], np.ndarray],
        period: float,
        delay: float,
        gear_pose: ArrayLike,
        start: float = 0.0,
    ) -> None:
        if not 0 <= delay < period:
            raise ModelError(
                f"the delay of motors is from 0 s up to their period, got {delay!r} s and "
                f"{period!r} s"
            )
        self._law, self._period, self._delay = law, float(period), float(delay)
        first = np.array(law(start), dtype=float)
        self.state = MotorState(
            next_call=start + period,
            next_change=start,
            voltage=first,
            waiting=first,
            gear_pose=np.array(gear_pose, dtype=float),
        )

    @property
    def next_event(self) -> float:
        """s: the next time at which the law is called or a voltage changes."""
        state = self.state
        waiting = state.next_change > state.next_call - self._period + SAME_TIME_S
        return min(state.next_call, state.next_change) if waiting else state.next_call

    def advance(self, t: float) -> np.ndarray:
        """The voltages that act from a time on.

        Args:
            t: Time, s; not beyond the next event.

        Returns:
            (motors,), V.
        """
        state = self.state
        if t >= state.next_change - SAME_TIME_S:
            state = MotorState(
                next_call=state.next_call,
                next_change=state.next_change - self._delay,
                voltage=state.waiting,
                waiting=state.waiting,
                gear_pose=state.gear_pose,
            )
        if t >= state.next_call - SAME_TIME_S:
            waiting = np.array(self._law(t), dtype=float)
            state = MotorState(
                next_call=state.next_call + self._period,
                next_change=t + self._delay,
                voltage=waiting if self._delay == 0 else state.voltage,
                waiting=waiting,
                gear_pose=state.gear_pose,
            )
        self.state = state
        return np.array(state.voltage)
