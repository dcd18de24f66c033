"""Validity of loads: strides whose stance is not on a plate must not be averaged.

Torques of a leg depend on the force on its own foot. They are valid in swing and in a measured
stance, whatever the other foot does; those of trunk and arms are always valid.
"""

from __future__ import annotations

import numpy as np

from homodyn.analysis.curves import CycleSegmentation, hidden_columns
from homodyn.foundation import Record, record
from homodyn.gait import cycles
from homodyn.motion import STANCE_THRESHOLD, Loads, Side
from homodyn.motion.anatomical_axes import Axes
from homodyn.motion.clinical import LEGS, Reading, pairs, readings

MIN_LOADED_STANCE_SHARE = 0.8
"""Share of a stance in which the foot is loaded, for the stance to count as measured."""


def foot_force_valid(loads: Loads, segmentation: CycleSegmentation, side: str) -> np.ndarray:
    """(frames,): True where a foot is in swing, or in a measured stance."""
    time = loads.motion.time
    if loads.predicted:
        return loads.covered
    stances = segmentation.stances(side)
    if not stances:
        return loads.covered
    up = Axes.of(loads.motion.model).up
    force = sum((foot.force @ up for foot in loads.feet if foot.side == side), np.zeros(len(time)))
    known = np.ones(len(time), dtype=bool)
    # The strike that ends a stride also begins a stance: two frames of it belong to the stride.
    margin = 2.0 / loads.motion.rate
    for start, end in stances:
        inside = (time > start + margin) & (time <= end)
        if (
            inside.sum() > 3
            and np.mean(force[inside] > STANCE_THRESHOLD.contact_n) < MIN_LOADED_STANCE_SHARE
        ):
            known &= ~inside
    return known


def valid_torques(loads: Loads, segmentation: CycleSegmentation) -> np.ndarray:
    """(frames, nv): torques with NaN where they are not known.

    These are legs in a stance that was not measured, the ends of a filtered recording, and
    coordinates that no marker shows.
    """
    return np.where(_load_mask(loads, segmentation), loads.tau, np.nan)


def valid_power(loads: Loads, segmentation: CycleSegmentation) -> np.ndarray:
    """(frames, nv): power with NaN where the torques are not known, as in `valid_torques`."""
    return np.where(_load_mask(loads, segmentation), loads.power, np.nan)


def all_loads_valid(loads: Loads, segmentation: CycleSegmentation) -> bool:
    """Whether the loads of both legs are valid in all frames."""
    return all(foot_force_valid(loads, segmentation, side).all() for side in tuple(Side))


@record(eq=True)
class JointWork(Record):
    """Work of a joint of one side, all its coordinates together, mean over its strides."""

    joint: str
    """Such as ``"Knee"``."""
    side: str
    """``"right"``, ``"left"`` or ``"middle"``."""
    strides: int
    """Number of strides; 0 for the work of the whole trial."""
    positive: float
    """J."""
    negative: float
    """J, at most zero."""

    @property
    def net(self) -> float:
        """Net work (J)."""
        return self.positive + self.negative


def joint_work(loads: Loads, segmentation: CycleSegmentation) -> list[JointWork]:
    """Work of each joint per stride of its side; for joints of the midline, per right stride.

    Without strides it is the work of the whole trial without the ends of a filtered one. Joints
    without valid loads are left out.
    """
    model = loads.motion.model
    power = valid_power(loads, segmentation)
    hidden = hidden_columns(loads.motion)
    groups: dict[tuple[str, str], list[int]] = {}
    for reading in readings(model):
        groups.setdefault((reading.joint or reading.title, reading.side), []).append(reading.index)
    order = list(dict.fromkeys(pair.joint or pair.title for pair in pairs(model)))
    rows = []
    for joint, side in sorted(groups, key=lambda key: (order.index(key[0]), key[1] == "left")):
        kept = [k for k in groups[joint, side] if k not in hidden]
        if not kept:
            continue
        columns = power[:, kept]
        used = (
            side
            if side in tuple(Side)
            else next((s for s in Side if segmentation.count(s)), "right")
        )
        found = _work_per_stride(loads, columns, segmentation, used)
        if found is not None:
            rows.append(JointWork(joint, side, *found))
    return rows


def _work_per_stride(
    loads: Loads,
    power: np.ndarray,
    segmentation: CycleSegmentation,
    side: str,
) -> tuple[int, float, float] | None:
    """Number of strides, mean positive and mean negative work (J); None without valid power."""
    time, edge = loads.motion.time, loads.edge
    if not segmentation.has_cycles:
        inside = ~edge if edge.size else np.ones(len(time), dtype=bool)
        if not np.isfinite(power[inside]).all():
            return None
        return 0, *_positive_and_negative(power[inside], time[inside])
    cut = cycles(time, power, segmentation.events, side)
    work = [
        _positive_and_negative(values, np.linspace(0.0, stride.duration, len(values)))
        for values, stride, complete in zip(cut.values, cut.strides, cut.complete, strict=True)
        if complete
    ]
    if not work:
        return None
    positive, negative = np.mean(work, axis=0)
    return len(work), float(positive), float(negative)


def _positive_and_negative(power: np.ndarray, time: np.ndarray) -> tuple[float, float]:
    return (
        float(np.trapezoid(np.maximum(power, 0.0), time, axis=0).sum()),
        float(np.trapezoid(np.minimum(power, 0.0), time, axis=0).sum()),
    )


def _load_mask(loads: Loads, segmentation: CycleSegmentation) -> np.ndarray:
    known = np.ones(loads.tau.shape, dtype=bool)
    feet = {side: foot_force_valid(loads, segmentation, side) for side in Side}
    for reading in readings(loads.motion.model):
        if _in_a_leg(reading):
            known[:, reading.index] = feet[Side(reading.side)]
    known[:, sorted(hidden_columns(loads.motion))] = False
    if loads.edge.size:
        known[loads.edge] = False
    return known


def _in_a_leg(reading: Reading) -> bool:
    return reading.side in tuple(Side) and reading.joint in LEGS
