"""When the load passes from one foot to the other, from the motion of the whole body.

The ground force follows from the acceleration of the center of mass, its center of pressure from
the angular momentum. In double support the center of pressure moves from the toes of the trailing
foot to the heel of the leading foot; half-way, both carry half of the load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from homodyn.capture.filters.butterworth_filter import lowpass
from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import center_of_mass, momentum
from homodyn.gait.ground_kinematics import ground_kinematics
from homodyn.motion import FOOT_OFF, FOOT_STRIKE, Event, Motion

LANDING_SHARE = 0.2
"""Place of the load under a foot that lands, as a share of the way from its heel to its toes."""
MAX_EVENT_SHIFT_S = 0.04
"""Largest correction of a foot strike or foot off."""
MAX_DOUBLE_SUPPORT_S = 0.35
"""Longer double supports are no part of a walk."""
PRESSURE_HARMONICS = 2.0
"""Cutoff frequency of the momentum in cycles per step."""
KINEMATIC_SOURCE = "kinematics"
"""Beginning of the description of events that were found without forces."""
_MIN_LOAD_SHARE = 0.1


def total_center_of_pressure(motion: Motion, cutoff: float | None) -> np.ndarray:
    """The point of the ground through which the whole ground force passes.

    Args:
        motion: A motion of a model on level ground at height 0, with frames at equal intervals.
        cutoff: Cutoff frequency (Hz) of the momentum; None without a filter.

    Returns:
        (frames, 2), m in axes with Z up: forward and to the left; NaN where the body hardly loads
        the ground.
    """
    model, rate = motion.model, motion.rate
    axes = world_axes(model)
    center = np.asarray(center_of_mass(model, motion.q)) @ axes.T
    amount = np.asarray(momentum(model, motion.q, motion.v))
    spin, linear = amount[:, :3] @ axes.T, amount[:, 3:] @ axes.T
    if cutoff is not None:
        spin, linear = lowpass(spin, rate, cutoff=cutoff), lowpass(linear, rate, cutoff=cutoff)
    moment = np.gradient(spin, motion.time, axis=0)
    force = np.gradient(linear, motion.time, axis=0)
    weight = float(model.mass) * float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))
    force[:, 2] += weight
    loaded = force[:, 2] > _MIN_LOAD_SHARE * weight
    normal = np.where(loaded, force[:, 2], np.nan)
    height = center[:, 2]
    x = center[:, 0] - (height * force[:, 0] + moment[:, 1]) / normal
    y = center[:, 1] - (height * force[:, 1] - moment[:, 0]) / normal
    return np.column_stack([x, y])


def align_events(motion: Motion, events: Sequence[Event]) -> tuple[Event, ...]:
    """Foot strikes and foot offs whose double supports have their middle where the load passes.

    Kinematic events of both ends of a double support are shifted together, by 40 ms at most. Events
    from forces or of the recording are not changed, nor is a double support that has one of them.

    Args:
        motion: The walk.
        events: Its events; the description of those to be aligned begins with ``"kinematics"``.

    Returns:
        The events in order of time.

    Raises:
        CaptureError: The motion is too short or has gaps.
    """
    found = sorted(events, key=lambda event: event.time)
    kinematics = ground_kinematics(motion)
    durations = np.diff([event.time for event in found if event.label == FOOT_STRIKE])
    if not len(durations):
        durations = np.diff([event.time for event in found if event.label == FOOT_OFF])
    if not len(durations) or motion.rate * np.median(durations) < 2.5 * PRESSURE_HARMONICS:
        return tuple(found)
    body = kinematics.motion
    pressure = total_center_of_pressure(body, PRESSURE_HARMONICS / float(np.median(durations)))
    pressure = pressure - np.outer(body.time - body.time[0], kinematics.belt[:2])
    for strike, off in _double_supports(found):
        leading = kinematics.side(str(found[strike].context))
        trailing = kinematics.side(str(found[off].context))
        landing = (1 - LANDING_SHARE) * leading.heel + LANDING_SHARE * leading.toe
        way = (landing - trailing.toe)[:, :2]
        passed = np.sum((pressure - trailing.toe[:, :2]) * way, axis=1) / np.sum(way**2, axis=1)
        middle = (found[strike].time + found[off].time) / 2
        time = _crossing(body.time, passed - 0.5, middle)
        if time is not None:
            for k in (strike, off):
                moved = found[k].time + time - middle
                text = f"{found[k].description}; double support where the load passes"
                found[k] = replace(found[k], time=moved, description=text)
    return tuple(sorted(found, key=lambda event: event.time))


def _double_supports(events: Sequence[Event]) -> list[tuple[int, int]]:
    """Pairs of a foot strike and the following foot off of the other foot, both kinematic."""
    pairs = []
    for k in range(len(events) - 1):
        one, two = events[k], events[k + 1]
        if (one.label, two.label) != (FOOT_STRIKE, FOOT_OFF) or one.context == two.context:
            continue
        kinematic = all(e.description.startswith(KINEMATIC_SOURCE) for e in (one, two))
        if kinematic and two.time - one.time <= MAX_DOUBLE_SUPPORT_S:
            pairs.append((k, k + 1))
    return pairs


def _crossing(time: np.ndarray, values: np.ndarray, middle: float) -> float | None:
    """The upward zero crossing nearest to a time, if it is near enough."""
    rises = np.flatnonzero((values[:-1] < 0) & (values[1:] >= 0))
    times = time[rises] - values[rises] * (time[rises + 1] - time[rises]) / (
        values[rises + 1] - values[rises]
    )
    near = times[np.abs(times - middle) <= MAX_EVENT_SHIFT_S]
    return None if not len(near) else float(near[np.argmin(np.abs(near - middle))])
