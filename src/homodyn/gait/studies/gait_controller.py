"""Rhythmic impedance control of two legs in antiphase.

tau = k(phase) (target(phase) - q) - b(phase) v for every joint of a leg (van den Kieboom 2014, eq.
4.1). Targets are periodic cubics; stiffness and damping are constant, switch between two values, or
are periodic cubics (table 4.1). Both legs share all parameters; their phases differ by half a
cycle. A clock or a central pattern generator advances the phases.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Literal

import casadi as ca

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.side import Side
from homodyn.network import parse
from homodyn.search import SearchParameter
from homodyn.simulate import PD
from homodyn.simulate.signals import (
    ForceFeedback,
    NetworkSignal,
    PeriodicCubic,
    PhaseVariable,
    Quantity,
    Signal,
)

Modulation = Literal["constant", "step", "ppoly"]
"""How stiffness and damping vary over a cycle."""
MODULATIONS: tuple[Modulation, ...] = ("constant", "step", "ppoly")
MIN_INTERVAL = 0.01
"""Smallest interval of a periodic cubic before scaling: intervals must not all be zero."""
MIN_GAIN = 0.5
"""Smallest constant gain (N m/rad, N m s/rad); gains are searched on a logarithmic scale."""
FREQUENCY, PHASE = "frequency", "phase"
Driver = Literal["clock", "oscillators"]
"""What advances the phases of the legs: a clock, or coupled oscillators with feedback of load."""
DRIVERS: tuple[Driver, ...] = ("clock", "oscillators")
OSCILLATORS = "leg oscillators"
"""Signal with the phases of the oscillators (rad)."""
OSCILLATOR_NETWORK = "leg_oscillators.cdn"
"""Network of the library of Homodyn with two coupled oscillators."""
COUPLING, FEEDBACK = "coupling", "load feedback"
MAX_COUPLING, MAX_FEEDBACK = 20.0, 10.0
"""Largest strengths that are searched (1/s)."""


@record(eq=True)
class JointBounds(Record):
    """Bounds of the target angle of a joint, and its coordinates."""

    right: str
    """Coordinate of the right leg."""
    left: str
    """Coordinate of the left leg."""
    lower: float
    """rad."""
    upper: float
    """rad."""


@record
class GaitController(Record):
    """The controller, with the bounds of its parameters.

    Raises:
        ModelError: The modulation is unknown, or bounds are not in order.
    """

    joints: Mapping[str, JointBounds]
    """Joints of a leg by name, such as ``"hip"``."""
    modulation: Modulation = "constant"
    points: int = 4
    """Points of the periodic cubics."""
    frequency: float | tuple[float, float] = 0.9
    """Cycles per second: a number, or bounds between which it is searched."""
    max_stiffness: float = 12000.0
    """N m/rad."""
    max_damping: float = 60.0
    """N m s/rad."""
    driver: Driver = "clock"
    """``"oscillators"`` have two further parameters: strengths of coupling and of feedback."""
    feet: Mapping[Side, tuple[str, ...]] = field(default_factory=dict)
    """Bodies whose contact forces pull the phase of their leg toward mid-stance."""
    weight: float = 1.0
    """N, to which these forces are relative."""

    def __post_init__(self) -> None:
        if self.driver not in DRIVERS:
            raise ModelError(f"driver is one of {', '.join(DRIVERS)}, got {self.driver!r}")
        if self.modulation not in MODULATIONS:
            raise ModelError(
                f"modulation is one of {', '.join(MODULATIONS)}, got {self.modulation!r}"
            )
        for name, bounds in self.joints.items():
            if not bounds.lower < bounds.upper:
                raise ModelError(f"bounds of {name!r} are not in order: {bounds.lower:g} to ...")

    @property
    def parameters(self) -> tuple[SearchParameter, ...]:
        """Parameters of a search, in the order of the joints."""
        found: list[SearchParameter] = []
        if not isinstance(self.frequency, (int, float)):
            found.append(SearchParameter(FREQUENCY, *self.frequency, "Hz"))
        if self.driver == "oscillators":
            found.append(SearchParameter(COUPLING, 0.0, MAX_COUPLING, "1/s"))
            found.append(SearchParameter(FEEDBACK, 0.0, MAX_FEEDBACK, "1/s"))
        for name, bounds in self.joints.items():
            found += self._cubic_parameters(f"{name} target", bounds.lower, bounds.upper, "rad")
            for gain, upper, unit in self._gains:
                found += self._gain_parameters(f"{name} {gain}", upper, unit)
            if self.modulation == "step":
                found += [SearchParameter(f"{name} {end}", 0.0, 1.0) for end in ("start", "share")]
        return tuple(found)

    @property
    def cycle_frequency(self) -> float:
        """Cycles per second; the middle of the bounds where it is searched."""
        given = self.frequency
        return float(given if isinstance(given, (int, float)) else sum(given) / 2)

    @property
    def phases(self) -> dict[Side, str]:
        """Names of the signals with the phase of each leg."""
        return {side: f"{side.value} {PHASE}" for side in Side}

    @property
    def _gains(self) -> tuple[tuple[str, float, str], ...]:
        return (
            ("stiffness", self.max_stiffness, "N m/rad"),
            ("damping", self.max_damping, "N m s/rad"),
        )

    def _cubic_parameters(
        self, name: str, lower: float, upper: float, unit: str
    ) -> list[SearchParameter]:
        intervals, values = self._cubic_names(name)
        return [
            *(SearchParameter(one, MIN_INTERVAL, 1.0) for one in intervals),
            *(SearchParameter(one, lower, upper, unit) for one in values),
        ]

    def _cubic_names(self, name: str) -> tuple[list[str], list[str]]:
        """Names of the intervals and values of a periodic cubic."""
        return (
            [f"{name} d{k}" for k in range(1, self.points + 2)],
            [f"{name} y{k}" for k in range(1, self.points + 1)],
        )

    def _gain_parameters(self, name: str, upper: float, unit: str) -> list[SearchParameter]:
        if self.modulation == "constant":
            return [_gain_parameter(name, upper, unit)]
        if self.modulation == "step":
            return [_gain_parameter(f"{name} {k}", upper, unit) for k in (1, 2)]
        return self._cubic_parameters(name, 0.0, upper, unit)

    def signals(self) -> dict[str, Signal | Quantity]:
        """Phases, targets and gains of both legs, by name.

        Returns:
            Signals of a simulation whose batch parameters are the parameters of the search.
        """
        frequency: Quantity = FREQUENCY
        if isinstance(self.frequency, (int, float)):
            frequency = float(self.frequency)
        found = self._phase_signals(frequency)
        for side in ("right", "left"):
            phase = f"{side} {PHASE}"
            for name in self.joints:
                target = f"{name} target"
                found[f"{side} {target}"] = PeriodicCubic(phase, *self._cubic_names(target))
                for gain, _, _ in self._gains:
                    found[f"{side} {name} {gain}"] = self._gain(name, gain, phase)
        return found

    def _phase_signals(self, frequency: Quantity) -> dict[str, Signal | Quantity]:
        """The phases of both legs (cycles), half a cycle apart at the start."""
        if self.driver == "clock":
            return {
                f"right {PHASE}": PhaseVariable(frequency),
                f"left {PHASE}": PhaseVariable(frequency, start=0.5),
            }
        found: dict[str, Signal | Quantity] = {}
        inputs: dict[str, Quantity] = {
            "frequency": frequency,
            "strength": COUPLING,
            "feedback": FEEDBACK,
        }
        for side, bodies in self.feet.items():
            for body in bodies:
                found[f"force on {body}"] = ForceFeedback(body)
            found[f"{side} load"] = self._load(bodies)
            inputs[f"{side}_load"] = f"{side} load"
        network = parse(f'require "{OSCILLATOR_NETWORK}"')
        found[OSCILLATORS] = NetworkSignal(network, ("right.p", "left.p"), inputs)
        for k, leg in enumerate(Side):
            found[f"{leg.value} {PHASE}"] = _cycle_phase(k)
        return found

    def _load(self, bodies: tuple[str, ...]) -> Quantity:
        """Vertical force on the bodies, relative to the weight."""

        def load(t: object, q: object, v: object, batch: Mapping[str, ca.SX]) -> ca.SX:
            total = ca.SX(0.0)
            for body in bodies:
                total = total + batch[f"force on {body}"][2]
            return total / self.weight

        return load

    def _gain(self, name: str, gain: str, phase: str) -> Signal | Quantity:
        """The value of a gain at a phase."""
        own = f"{name} {gain}"
        if self.modulation == "constant":
            return own
        if self.modulation == "ppoly":
            return PeriodicCubic(phase, *self._cubic_names(own))
        start, share = f"{name} start", f"{name} share"

        def switch(t: object, q: object, v: object, batch: Mapping[str, ca.SX]) -> ca.SX:
            since = batch[phase] - batch[start]
            since = since - ca.floor(since)
            return ca.if_else(since < batch[share], batch[f"{own} 1"], batch[f"{own} 2"])

        return switch

    def servos(self, stable: bool = True) -> PD:
        """The servos of all joints of both legs.

        Args:
            stable: Whether gains act at the end of the step; see `PD`.

        Returns:
            The actuation of a simulation with these `signals`.
        """

        def by_coordinate(what: str) -> dict[str, float | str]:
            return {
                coordinate: f"{side} {name} {what}"
                for name, bounds in self.joints.items()
                for side, coordinate in (("right", bounds.right), ("left", bounds.left))
            }

        return PD(
            by_coordinate("stiffness"), by_coordinate("damping"), by_coordinate("target"), stable
        )


def _cycle_phase(k: int) -> Quantity:
    """The phase of an oscillator in cycles, from 0 to below 1."""

    def phase(t: object, q: object, v: object, batch: Mapping[str, ca.SX]) -> ca.SX:
        cycles = batch[OSCILLATORS][k] / (2 * math.pi)
        return cycles - ca.floor(cycles)

    return phase


def _gain_parameter(name: str, upper: float, unit: str) -> SearchParameter:
    """A gain on a logarithmic scale: soft joints are as frequent as stiff ones."""
    return SearchParameter(name=name, lower=MIN_GAIN, upper=upper, unit=unit, scale="log")


@record
class LegJoints(Record):
    """Which joints of a model a gait controller drives."""

    names: tuple[str, ...] = ("hip", "knee", "ankle")
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """rad, by joint; the ranges of the model for others."""


def leg_joints(model: Model, joints: LegJoints | None = None) -> dict[str, JointBounds]:
    """Joints of both legs that are named ``right_hip`` and so on.

    Args:
        model: The model.
        joints: Names and bounds; hip, knee and ankle with the ranges of the model by default.

    Returns:
        Bounds by name.

    Raises:
        ModelError: The model lacks a coordinate, or a range is unknown.
    """
    chosen = joints or LegJoints()
    found = {}
    for name in chosen.names:
        right, left = f"right_{name}", f"left_{name}"
        model.coordinate_index(left)
        entry = model.coordinates[model.coordinate_index(right)]
        lower, upper = chosen.bounds.get(name, (entry.lower, entry.upper))
        if not (abs(lower) < float("inf") and abs(upper) < float("inf")):
            raise ModelError(
                f"coordinate {right!r} of model {model.name!r} has no range; give bounds (rad) for "
                f"{name!r}"
            )
        found[name] = JointBounds(right, left, float(lower), float(upper))
    return found
