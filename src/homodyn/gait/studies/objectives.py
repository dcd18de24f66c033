"""Objectives of gait studies, by name: measures of a simulation and the value made of them.

Tables 4.2, 4.5 and 5.3 of van den Kieboom (2014), and further ones. All but ``time`` look at the
second half of the simulation only. What the source does not define is stated where it is defined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.simulate.measures import Integral, Mean, Measure, StandardDeviation
from homodyn.simulate.signals import StepSample

GRAVITY_M_S2 = 9.81
MIN_SPEED_M_S = 0.01
"""Slower gaits have no cost of transport; they get that of this speed."""


@dataclass(frozen=True)
class GaitContext:
    """What objectives know of a study."""

    model: Model
    duration: float
    """s."""
    speed: float
    """Target (m/s)."""
    pitch: str
    """Coordinate of the pitch of the trunk."""
    neutral_zone: float
    """Pitch (rad) beyond which the assistance acts."""
    motors: tuple[int, ...]
    """Indices in v of the coordinates that the controller drives."""

    @property
    def forward(self) -> int:
        """Index in v of the forward translation."""
        return self.model.root.v[0]

    @property
    def second_half(self) -> float:
        """Start of the window that counts (s)."""
        return self.duration / 2

    @property
    def mass(self) -> float:
        """Kg."""
        return float(self.model.nominal_value(self.model.mass))


Values = Mapping[str, np.ndarray]
"""Values of measures by name, (candidates,); ``"time"`` is the end of the simulation (s)."""


@record
class GaitObjective(Record):
    """A number that describes a gait."""

    name: str
    unit: str
    maximize: bool
    worst: float
    """Value of a gait that ended before the window began."""
    description: str
    measures: Callable[[GaitContext], dict[str, Measure]]
    """Measures of the simulation by name."""
    value: Callable[[Values, GaitContext], np.ndarray]
    """The value for every candidate, from the measures."""
    needs_window: bool = True
    """Whether a candidate must reach the second half of the simulation to have a value."""

    def headline(self) -> str:
        """Name and unit."""
        return f"GaitObjective {self.name!r} ({self.unit or '1'}): {self.description}"


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


def _mean(name: str, function: Callable[[StepSample, GaitContext], Any]) -> Any:
    """A factory of one mean over the window."""
    return lambda at: {name: Mean(lambda step: function(step, at), start=at.second_half)}


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


def _read(name: str) -> Callable[[Values, GaitContext], np.ndarray]:
    return lambda values, at: values[name]


def _integral(name: str, function: Callable[[StepSample, GaitContext], Any]) -> Any:
    return lambda at: {name: Integral(lambda step: function(step, at), start=at.second_half)}


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
    GaitObjective("speed", "m/s", True, 0.0, "mean speed", _mean("speed", _speed), _read("speed")),
    GaitObjective(
        "speed_match",
        "",
        True,
        0.0,
        "agreement of mean and target speed, 1 where they are equal",
        _mean("speed", _speed),
        _speed_match,
    ),
    GaitObjective(
        "speed_std",
        "m/s",
        False,
        1e3,
        "standard deviation of the speed",
        _speed_deviation,
        _read("speed_std"),
    ),
    GaitObjective(
        "assist_time",
        "s",
        False,
        1e3,
        "time in which the assistance acts",
        _integral("assist_time", _is_assisted),
        _read("assist_time"),
    ),
    GaitObjective(
        "flight_time",
        "s",
        False,
        1e3,
        "time without contact",
        _integral("flight_time", _is_airborne),
        _read("flight_time"),
    ),
    GaitObjective(
        "torque",
        "N m",
        False,
        1e6,
        "mean over time of the sum of the sizes of all motor torques",
        _mean("torque", _total_torque),
        _read("torque"),
    ),
    GaitObjective(
        "squared_torque",
        "N2 m2",
        False,
        1e9,
        "mean over time of the sum of squared motor torques",
        _mean("squared_torque", _squared_torque),
        _read("squared_torque"),
    ),
    GaitObjective(
        "power",
        "W",
        False,
        1e6,
        "mean over time of the sum of the sizes of all motor powers",
        _powers_and_speed,
        _read("power"),
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
        _mean("limit_violation", _limit_torque),
        _read("limit_violation"),
    ),
    GaitObjective(
        "pitch_std",
        "rad",
        False,
        1e3,
        "standard deviation of the pitch of the trunk",
        _pitch_deviation,
        _read("pitch_std"),
    ),
)
GAIT_OBJECTIVES: dict[str, GaitObjective] = {one.name: one for one in _OBJECTIVES}
"""All objectives by name."""
