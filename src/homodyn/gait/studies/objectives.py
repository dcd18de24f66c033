"""Objectives of gait studies, by name: measures of a simulation and the value made of them.

Tables 4.2, 4.5 and 5.3 of van den Kieboom (2014), and further ones. All but ``time`` look at the
second half of the simulation only. What the source does not define is stated where it is defined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.text import unknown_name
from homodyn.gait.studies.gait_objective import (
    GRAVITY_M_S2,
    GaitContext,
    GaitObjective,
    Values,
    measure_integral,
    measure_mean,
    read_measure,
)
from homodyn.gait.studies.human_objectives import HUMAN_OBJECTIVES
from homodyn.search.expression import Expression
from homodyn.simulate.measures import Mean, Measure, StandardDeviation
from homodyn.simulate.signals import StepSample

MIN_SPEED_M_S = 0.01
"""Slower gaits have no cost of transport; they get that of this speed."""


def gait_objective(name: str) -> GaitObjective:
    """An objective by its name.

    Args:
        name: Such as ``"speed_match"``.

    Returns:
        The objective.

    Raises:
        HomodynError: There is no such objective; the message lists those that there are.
    """
    if name not in GAIT_OBJECTIVES:
        raise HomodynError(unknown_name("gait objective", name, GAIT_OBJECTIVES))
    return GAIT_OBJECTIVES[name]


def _speed(step: StepSample, at: GaitContext) -> Any:
    return step.mean_v[at.forward]


def _torques(step: StepSample, at: GaitContext) -> Any:
    return ca.vertcat(*[step.torque[k] for k in at.motors])


def _powers(step: StepSample, at: GaitContext) -> Any:
    return ca.vertcat(*[step.power[k] for k in at.motors])


def _speed_match(values: Values, at: GaitContext) -> np.ndarray:
    """Speed as a fraction of the target, or the target as a fraction of a higher speed."""
    speed = np.maximum(values["speed"], 0.0)
    return np.minimum(speed, at.speed) / np.maximum(np.maximum(speed, at.speed), 1e-12)


def _cost_of_transport(power: str, weighted: bool) -> Callable[[Values, GaitContext], np.ndarray]:
    """Power over speed, and over weight where it is dimensionless."""

    def value(values: Values, at: GaitContext) -> np.ndarray:
        speed = np.maximum(values["speed"], MIN_SPEED_M_S)
        return values[power] / speed / (at.mass * GRAVITY_M_S2 if weighted else 1.0)

    return value


def _powers_and_speed(at: GaitContext) -> dict[str, Measure]:
    start = at.second_half
    return {
        "speed": Mean(lambda step: _speed(step, at), start=start),
        "power": Mean(lambda step: ca.sum1(ca.fabs(_powers(step, at))), start=start),
        "positive_power": Mean(lambda step: ca.sum1(ca.fmax(_powers(step, at), 0)), start=start),
        "signed_power": Mean(lambda step: ca.sum1(_powers(step, at)), start=start),
    }


def _limit_torque(step: StepSample, at: GaitContext) -> Any:
    """Sum of how far joints are beyond their limits (rad): limits are springs in simulations."""
    total = ca.SX(0.0)
    for k in at.motors:
        coordinate, place = at.model.coordinates[k], at.model.position_index[k]
        if place is not None:
            total += ca.fmax(step.q[place] - coordinate.upper, 0.0)
            total += ca.fmax(coordinate.lower - step.q[place], 0.0)
    return total


def _pitch(step: StepSample, at: GaitContext) -> Any:
    place = at.model.position_index[at.model.coordinate_index(at.pitch)]
    return step.q[place]


def _is_assisted(step: StepSample, at: GaitContext) -> Any:
    return ca.fabs(_pitch(step, at)) > at.neutral_zone


def _is_airborne(step: StepSample, at: GaitContext) -> Any:
    return step.total_force[2] <= 0


def _speed_deviation(at: GaitContext) -> dict[str, Measure]:
    return {"speed_std": StandardDeviation(lambda step: _speed(step, at), start=at.second_half)}


def _pitch_deviation(at: GaitContext) -> dict[str, Measure]:
    return {"pitch_std": StandardDeviation(lambda step: _pitch(step, at), start=at.second_half)}


def _squared_torque(step: StepSample, at: GaitContext) -> Any:
    return ca.sumsqr(_torques(step, at))


def _total_torque(step: StepSample, at: GaitContext) -> Any:
    return ca.sum1(ca.fabs(_torques(step, at)))


_OBJECTIVES = (
    GaitObjective(
        "time",
        "",
        True,
        0.0,
        "share of the duration before a fall",
        lambda at: {},
        lambda values, at: values["time"] / at.duration,
        needs_window=False,
    ),
    GaitObjective(
        "speed",
        "m/s",
        True,
        0.0,
        "mean speed",
        measure_mean("speed", _speed),
        read_measure("speed"),
    ),
    GaitObjective(
        "speed_match",
        "",
        True,
        0.0,
        "agreement of mean and target speed, 1 where they are equal",
        measure_mean("speed", _speed),
        _speed_match,
    ),
    GaitObjective(
        "speed_std",
        "m/s",
        False,
        1e3,
        "standard deviation of the speed",
        _speed_deviation,
        read_measure("speed_std"),
    ),
    GaitObjective(
        "assist_time",
        "s",
        False,
        1e3,
        "time in which the assistance acts",
        measure_integral("assist_time", _is_assisted),
        read_measure("assist_time"),
    ),
    GaitObjective(
        "flight_time",
        "s",
        False,
        1e3,
        "time without contact",
        measure_integral("flight_time", _is_airborne),
        read_measure("flight_time"),
    ),
    GaitObjective(
        "torque",
        "N m",
        False,
        1e6,
        "mean over time of the sum of the sizes of all motor torques",
        measure_mean("torque", _total_torque),
        read_measure("torque"),
    ),
    GaitObjective(
        "squared_torque",
        "N2 m2",
        False,
        1e9,
        "mean over time of the sum of squared motor torques",
        measure_mean("squared_torque", _squared_torque),
        read_measure("squared_torque"),
    ),
    GaitObjective(
        "power",
        "W",
        False,
        1e6,
        "mean over time of the sum of the sizes of all motor powers",
        _powers_and_speed,
        read_measure("power"),
    ),
    GaitObjective(
        "cost_of_transport",
        "J/m",
        False,
        1e6,
        "sizes of motor powers over speed, as in eq. 4.5 without the weight",
        _powers_and_speed,
        _cost_of_transport("power", weighted=False),
    ),
    GaitObjective(
        "signed_cost_of_transport",
        "J/m",
        False,
        1e6,
        "net motor power over speed",
        _powers_and_speed,
        _cost_of_transport("signed_power", weighted=False),
    ),
    GaitObjective(
        "positive_cost_of_transport",
        "J/m",
        False,
        1e6,
        "positive motor powers over speed",
        _powers_and_speed,
        _cost_of_transport("positive_power", weighted=False),
    ),
    GaitObjective(
        "dimensionless_cost_of_transport",
        "",
        False,
        1e6,
        "sizes of motor powers over speed and weight",
        _powers_and_speed,
        _cost_of_transport("power", weighted=True),
    ),
    GaitObjective(
        "limit_violation",
        "rad",
        False,
        1e3,
        "mean of how far driven joints are beyond their limits",
        measure_mean("limit_violation", _limit_torque),
        read_measure("limit_violation"),
    ),
    GaitObjective(
        "pitch_std",
        "rad",
        False,
        1e3,
        "standard deviation of the pitch of the trunk",
        _pitch_deviation,
        read_measure("pitch_std"),
    ),
)
GAIT_OBJECTIVES: dict[str, GaitObjective] = {
    one.name: one for one in (*_OBJECTIVES, *HUMAN_OBJECTIVES)
}
"""All objectives by name."""


def combine_objectives(name: str, formula: str, *, maximize: bool = False) -> GaitObjective:
    """An objective that is a formula of others.

    Args:
        name: Name of the new objective.
        formula: Such as ``"normative_distance + 20 * force_excess"``; the operators are those of
            `homodyn.search.expression`.
        maximize: Whether more is better.

    Returns:
        The objective; its value is the worst one where the formula is not finite.

    Raises:
        HomodynError: The name is taken, or the formula is wrong or names no objective.
    """
    if name in GAIT_OBJECTIVES:
        raise HomodynError(f"objective {name!r} exists; give the formula another name")
    expression = Expression(formula)
    parts = {one: gait_objective(one) for one in expression.variables}
    if not parts:
        raise HomodynError(f"formula of objective {name!r} names no objective: {formula!r}")

    def measures(at: GaitContext) -> dict[str, Measure]:
        found: dict[str, Measure] = {}
        for part in parts.values():
            found.update(part.measures(at))
        return found

    def value(values: Values, at: GaitContext) -> np.ndarray:
        return np.asarray(expression({one: part.value(values, at) for one, part in parts.items()}))

    return GaitObjective(
        name,
        "",
        maximize,
        0.0 if maximize else 1e9,
        formula,
        measures,
        value,
        any(part.needs_window for part in parts.values()),
    )
