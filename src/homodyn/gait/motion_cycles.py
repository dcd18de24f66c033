"""Gait cycles of a coordinate of a motion, or of any time series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import CaptureError
from homodyn.gait.events import motion_events
from homodyn.gait.gait_cycles import CYCLE_POINTS, GaitCycles, normalize_cycles
from homodyn.model.side import side_of
from homodyn.motion import Event, Motion


@overload
def cycles(
    time: ArrayLike,
    values: ArrayLike,
    events: Sequence[Event],
    side: str,
    *,
    points: int = CYCLE_POINTS,
) -> GaitCycles: ...


@overload
def cycles(
    motion: Motion,
    name: str,
    /,
    events: Sequence[Event] | None = None,
    side: str | None = None,
    *,
    points: int = CYCLE_POINTS,
) -> GaitCycles: ...


def cycles(
    time: ArrayLike | Motion,
    values: ArrayLike | str,
    events: Sequence[Event] | None = None,
    side: str | None = None,
    *,
    points: int = CYCLE_POINTS,
) -> GaitCycles:
    """Cut a quantity into the strides of a side and normalize each to 0-100 %.

    ``cycles(motion, "right knee flexion")`` takes a coordinate of a motion, in degrees where it is
    an angle; ``cycles(time, values, events, "right")`` takes any time series. Samples are
    interpolated by monotone cubics (PCHIP), which are smooth and do not overshoot at the steps of a
    force.

    Args:
        time: (samples,), s, increasing; or a motion.
        values: (samples, ...): angles, torques, powers, forces or envelopes; NaN marks gaps. With a
            motion: a coordinate, clinical or OpenSim name, as in ``motion["knee_angle_r"]``.
        events: Foot strikes and foot offs. With a motion they may be left out: those that it
            carries, or detected ones.
        side: ``"left"`` or ``"right"``. With a motion it may be left out where the name has a side.
        points: Points per cycle.

    Returns:
        The cycles. Points inside a gap are NaN, and such a cycle is not ``complete``.

    Raises:
        CaptureError: Times and values do not match, times do not increase, the side is unknown, or
            events or side are missing.
        HomodynError: The motion has no coordinate of this name.
    """
    if isinstance(time, Motion):
        if not isinstance(values, str):
            raise CaptureError(
                "cycles of a motion needs the name of a coordinate, such as "
                f"'right knee flexion'; got {type(values).__name__}"
            )
        return _motion_cycles(time, values, events, side, points)
    if events is None or side is None:
        raise CaptureError("cycles of a time series needs its events and a side, left or right")
    return normalize_cycles(np.asarray(time), np.asarray(values), events, side, points=points)


def _motion_cycles(
    motion: Motion, name: str, events: Sequence[Event] | None, side: str | None, points: int
) -> GaitCycles:
    """Cycles of one coordinate of a motion."""
    curve = motion[name]
    side = side or side_of(curve.name)
    if side is None:
        raise CaptureError(
            f"{curve.name!r} belongs to no side; choose the strides by side='left' or side='right'"
        )
    if events is None:
        events = motion_events(motion)
    angle = curve.unit == "rad"
    values = np.rad2deg(curve.values) if angle else curve.values
    found = normalize_cycles(motion.time, values, events, side, points=points)
    return replace(found, name=curve.name, unit="deg" if angle else curve.unit)
