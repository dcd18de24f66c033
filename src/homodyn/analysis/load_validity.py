"""Which loads are known: plates see a few steps, and a stance beside them must not be averaged.

Torques of a leg follow from its own foot inwards. They are right while the foot swings, or stands
where its force was measured, whatever the other foot does; those of trunk and arms always are.
"""

from __future__ import annotations

import numpy as np

from homodyn.analysis.curves import SIDES, CycleSegmentation
from homodyn.foundation import Record, record
from homodyn.gait import cycles
from homodyn.motion import Loads
from homodyn.motion.anatomical_axes import Axes
from homodyn.motion.clinical import LEGS, Reading, pairs, readings

MIN_LOADED_FORCE_N = 20.0
"""Vertical force (N) from which on a foot is carried."""
MIN_LOADED_STANCE_SHARE = 0.8
"""Part of a stance in which the foot must be carried for the stance to count as measured."""


def foot_force_valid(loads: Loads, segmentation: CycleSegmentation, side: str) -> np.ndarray:
    """(frames,): True where a foot is in the air, or stands with its force known."""
    time = loads.motion.time
    if loads.predicted:
        return np.ones(len(time), dtype=bool)
    stances = segmentation.stances(side)
    if not stances:
        return loads.covered
    up = Axes.of(loads.motion.model).up
    force = sum((foot.force @ up for foot in loads.feet if foot.side == side), np.zeros(len(time)))
    known = np.ones(len(time), dtype=bool)
    # The strike that ends a stride also begins a stance; two frames of it are the stride's.
    spare = 2.0 / loads.motion.rate
    for start, end in stances:
        inside = (time > start + spare) & (time <= end)
        if (
            inside.sum() > 3
            and np.mean(force[inside] > MIN_LOADED_FORCE_N) < MIN_LOADED_STANCE_SHARE
        ):
            known &= ~inside
    return known


def valid_torques(loads: Loads, segmentation: CycleSegmentation) -> np.ndarray:
    """(frames, nv): torques with NaN where a leg stands on ground that was not measured."""
    return np.where(_load_mask(loads, segmentation), loads.tau, np.nan)


def valid_power(loads: Loads, segmentation: CycleSegmentation) -> np.ndarray:
    """(frames, nv): power with NaN where a leg stands on ground that was not measured."""
    return np.where(_load_mask(loads, segmentation), loads.power, np.nan)


def all_loads_valid(loads: Loads, segmentation: CycleSegmentation) -> bool:
    """Whether the loads of both legs are known all the time."""
    return all(foot_force_valid(loads, segmentation, side).all() for side in SIDES)


@record(eq=True)
class JointWork(Record):
    """Work of a joint of one side, all its coordinates together, in the mean of its strides (J)."""

    joint: str
    side: str
    strides: int
    """Strides that count; 0 where it is the work of the whole trial."""
    positive: float
    negative: float
    """At most zero."""

    @property
    def net(self) -> float:
        """What it gave more than it took (J)."""
        return self.positive + self.negative


def joint_work(loads: Loads, segmentation: CycleSegmentation) -> list[JointWork]:
    """Work of each joint per stride of its side; of the middle, per stride of the right.

    Without strides it is that of the whole trial. Joints whose loads are not known are left out.
    """
    model = loads.motion.model
    power = valid_power(loads, segmentation)
    groups: dict[tuple[str, str], list[int]] = {}
    for reading in readings(model):
        groups.setdefault((reading.joint or reading.title, reading.side), []).append(reading.index)
    order = list(dict.fromkeys(pair.joint or pair.title for pair in pairs(model)))
    made = []
    for joint, side in sorted(groups, key=lambda key: (order.index(key[0]), key[1] == "left")):
        columns = power[:, groups[joint, side]]
        seen = side if side in SIDES else next((s for s in SIDES if segmentation.count(s)), "right")
        found = _work_per_stride(loads.motion.time, columns, segmentation, seen)
        if found is not None:
            made.append(JointWork(joint, side, *found))
    return made


def _work_per_stride(
    time: np.ndarray, power: np.ndarray, segmentation: CycleSegmentation, side: str
) -> tuple[int, float, float] | None:
    if not segmentation.has_cycles:
        if not np.isfinite(power).all():
            return None
        return 0, *_positive_and_negative(power, time)
    cut = cycles(time, power, segmentation.events, side)
    whole = [
        _positive_and_negative(values, np.linspace(0.0, stride.duration, len(values)))
        for values, stride, complete in zip(cut.values, cut.strides, cut.complete, strict=True)
        if complete
    ]
    if not whole:
        return None
    given, taken = np.mean(whole, axis=0)
    return len(whole), float(given), float(taken)


def _positive_and_negative(power: np.ndarray, time: np.ndarray) -> tuple[float, float]:
    return (
        float(np.trapezoid(np.maximum(power, 0.0), time, axis=0).sum()),
        float(np.trapezoid(np.minimum(power, 0.0), time, axis=0).sum()),
    )


def _load_mask(loads: Loads, segmentation: CycleSegmentation) -> np.ndarray:
    known = np.ones(loads.tau.shape, dtype=bool)
    feet = {side: foot_force_valid(loads, segmentation, side) for side in SIDES}
    for reading in readings(loads.motion.model):
        if _in_a_leg(reading):
            known[:, reading.index] = feet[reading.side]
    return known


def _in_a_leg(reading: Reading) -> bool:
    return reading.side in SIDES and reading.joint in LEGS
