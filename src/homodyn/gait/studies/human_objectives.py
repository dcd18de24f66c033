"""Objectives about how human a gait is: distance to normative angles, ground forces, supports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics import position, velocity
from homodyn.errors import HomodynError
from homodyn.gait.studies.gait_objective import (
    GRAVITY_M_S2,
    GaitContext,
    GaitObjective,
    Values,
    measure_mean,
    read_measure,
)
from homodyn.gait.studies.normative_targets import TRACKED_ANGLES, normative_targets
from homodyn.model.side import Side, side_of
from homodyn.simulate.measures import Maximum, Measure
from homodyn.simulate.signals import StepSample

LOADED_SHARE = 0.02
"""A foot stands when it bears more than this share of the weight."""
COMFORTABLE_FORCE = 1.1
"""Vertical force (body weights) above which `force_excess` counts: the first peak of people."""
HEAD_MARKERS = ("vertex", "head", "Head", "HTOP", "SEL")


def foot_force(step: StepSample, at: GaitContext, side: Side) -> Any:
    """Vertical force on the shapes of one side (body weights).

    Args:
        step: The step.
        at: What is known of the study.
        side: The side.

    Returns:
        A symbol.
    """
    names = [shape.name for shape in at.model.contacts]
    total: Any = ca.SX(0.0)
    for gap, force in zip(step.gaps, step.gap_forces, strict=True):
        if gap.other < 0 and side_of(names[gap.shape]) is side:
            total = total + force[2]
    return total / (at.mass * GRAVITY_M_S2)


def _squared_deviations(step: StepSample, at: GaitContext) -> Any:
    """Squared deviations from normative angles, mean of both legs, (3,), rad2."""
    if not at.phases:
        raise HomodynError("the controller has no phase: normative_distance needs one")
    rows = []
    for target in normative_targets(at.model):
        place = at.model.position_index[at.model.coordinate_index(target.coordinate)]
        phase = step.batch[at.phases[target.side]]
        rows.append((step.q[place] - target.at(phase)) ** 2)
    count = len(TRACKED_ANGLES)
    return ca.vertcat(*[(rows[k] + rows[count + k]) / 2 for k in range(count)])


def _distance(values: Values, at: GaitContext) -> np.ndarray:
    """Root mean square over the angles (deg)."""
    return np.rad2deg(np.sqrt(np.mean(values["squared_deviations"], axis=-1)))


def _angle_distance(k: int) -> Callable[[Values, GaitContext], np.ndarray]:
    return lambda values, at: np.rad2deg(np.sqrt(values["squared_deviations"][..., k]))


def _angle_moments(step: StepSample, at: GaitContext) -> Any:
    """First and second moments of the angles and normative ones, mean of both legs, (15,)."""
    if not at.phases:
        raise HomodynError("the controller has no phase: correlations with norms need one")
    rows: list[list[Any]] = [[] for _ in TRACKED_ANGLES]
    for k, target in enumerate(normative_targets(at.model)):
        place = at.model.position_index[at.model.coordinate_index(target.coordinate)]
        q, norm = step.q[place], target.at(step.batch[at.phases[target.side]])
        rows[k % len(TRACKED_ANGLES)].append(ca.vertcat(q, norm, q * q, norm * norm, q * norm))
    return ca.vertcat(*[sum(pair) / len(pair) for pair in rows])


def _correlation(k: int) -> Callable[[Values, GaitContext], np.ndarray]:
    """Pearson's correlation from the moments; 0 where an angle does not vary."""

    def value(values: Values, at: GaitContext) -> np.ndarray:
        q, norm, qq, nn, qn = np.moveaxis(values["angle_moments"][..., 5 * k : 5 * k + 5], -1, 0)
        spread = np.sqrt(np.maximum((qq - q * q) * (nn - norm * norm), 0.0))
        return np.where(spread > 0, (qn - q * norm) / np.where(spread > 0, spread, 1.0), 0.0)

    return value


def _peak_measures(at: GaitContext) -> dict[str, Measure]:
    def largest(step: StepSample) -> Any:
        return ca.fmax(foot_force(step, at, Side.RIGHT), foot_force(step, at, Side.LEFT))

    return {"peak_force": Maximum(largest, start=at.second_half)}


def _excess(step: StepSample, at: GaitContext) -> Any:
    """Mean of both feet of the force beyond the comfortable one."""
    return sum(ca.fmax(foot_force(step, at, side) - COMFORTABLE_FORCE, 0.0) for side in Side)


def _double(step: StepSample, at: GaitContext) -> Any:
    loaded = [foot_force(step, at, side) > LOADED_SHARE for side in Side]
    return ca.logic_and(*loaded)


def _stance(step: StepSample, at: GaitContext) -> Any:
    return sum(ca.SX(foot_force(step, at, side) > LOADED_SHARE) for side in Side) / 2


def _head_point(at: GaitContext) -> str:
    """A marker of the head; the first body otherwise."""
    markers = [marker.name for marker in at.model.markers]
    return next((name for name in HEAD_MARKERS if name in markers), at.model.body_names[0])


def _head_acceleration(step: StepSample, at: GaitContext) -> Any:
    """Squared acceleration of the head over a step (m2/s4)."""
    name = _head_point(at)
    before = velocity(at.model, step.q, step.v, name)
    after = velocity(at.model, step.next_q, step.next_v, name)
    return ca.sumsqr((after - before) / step.h)


def _root(name: str) -> Callable[[Values, GaitContext], np.ndarray]:
    return lambda values, at: np.sqrt(values[name])


def _clearance(step: StepSample, at: GaitContext) -> Any:
    """Height of the lowest contact of the higher foot (m)."""
    heights = []
    for side in Side:
        own = [shape for shape in at.model.contacts if side_of(shape.name) is side]
        lowest: Any = ca.SX(np.inf)
        for shape in own:
            lowest = ca.fmin(lowest, position(at.model, step.q, shape.name)[2] - shape.radius)
        heights.append(lowest)
    return ca.fmax(heights[0], heights[1])


HUMAN_OBJECTIVES = (
    GaitObjective(
        "normative_distance",
        "deg",
        False,
        1e3,
        "rms deviation of hip, knee and ankle from normative angles at the phase of the controller",
        measure_mean("squared_deviations", _squared_deviations),
        _distance,
    ),
    *(
        GaitObjective(
            f"{name.split()[0]}_distance",
            "deg",
            False,
            1e3,
            f"rms deviation of {name} from normative angles at the phase of the controller",
            measure_mean("squared_deviations", _squared_deviations),
            _angle_distance(k),
        )
        for k, name in enumerate(TRACKED_ANGLES)
    ),
    *(
        GaitObjective(
            f"{name.split()[0]}_correlation",
            "",
            True,
            -1.0,
            f"correlation of {name} with the normative angle at the phase of the controller",
            measure_mean("angle_moments", _angle_moments),
            _correlation(k),
        )
        for k, name in enumerate(TRACKED_ANGLES)
    ),
    GaitObjective(
        "peak_force",
        "",
        False,
        1e3,
        "largest vertical force of a foot (body weights)",
        _peak_measures,
        read_measure("peak_force"),
    ),
    GaitObjective(
        "force_excess",
        "",
        False,
        1e3,
        "mean of the vertical force of each foot above 1.1 body weights (body weights)",
        measure_mean("force_excess", _excess),
        read_measure("force_excess"),
    ),
    GaitObjective(
        "stance_share",
        "",
        True,
        0.0,
        "share of the time in which a foot bears load, mean of both",
        measure_mean("stance_share", _stance),
        read_measure("stance_share"),
    ),
    GaitObjective(
        "double_support",
        "",
        True,
        0.0,
        "share of the time in which both feet bear load",
        measure_mean("double_support", _double),
        read_measure("double_support"),
    ),
    GaitObjective(
        "head_acceleration",
        "m/s2",
        False,
        1e6,
        "rms acceleration of the head",
        measure_mean("head_acceleration", _head_acceleration),
        _root("head_acceleration"),
    ),
    GaitObjective(
        "clearance",
        "m",
        True,
        0.0,
        "mean height of the lowest point of the higher foot",
        measure_mean("clearance", _clearance),
        read_measure("clearance"),
    ),
)
"""Objectives of this file, in the order of the guide."""
