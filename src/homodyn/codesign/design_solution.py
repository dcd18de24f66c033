"""A robot that a search found: its simulation, motors, cuffs, mass and bars."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from homodyn.codesign.cuff_force import CuffForces, cuff_force_series
from homodyn.codesign.design import Design
from homodyn.codesign.design_check import DesignChecks, DesignVerdict, check_designs
from homodyn.codesign.design_space import POOL, design_values
from homodyn.codesign.design_study import DesignStudy
from homodyn.codesign.device import Device
from homodyn.codesign.joint_rows import JointServo
from homodyn.codesign.motor_set import SLOTS
from homodyn.dynamics import center_of_mass
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.simulate import SimulationResult, SimulationStatus


@record
class MotorSeries(Record):
    """Torque and power of one motor over time."""

    name: str
    time: np.ndarray
    """Start of each step (s), (steps,)."""
    torque: np.ndarray
    """N m, (steps,)."""
    power: np.ndarray
    """W, (steps,)."""


@record
class DesignSolution(Record):
    """One candidate of a design study, simulated once more."""

    study: DesignStudy
    group: str
    """Topology and actuated joints, such as ``"2: 1-6"``."""
    parameters: dict[str, float]
    objectives: dict[str, float]
    """Values by name; those of the simulation are missing where the design is rejected."""
    stage: int
    """Number of objectives, in order, whose condition is met."""
    checks: DesignChecks
    result: SimulationResult | None
    """The simulation; None where the design is rejected."""

    @cached_property
    def design(self) -> Design:
        """Topology, actuated joints and places."""
        return self.study.designs.design(self.parameters, {POOL: self.group})

    @cached_property
    def device(self) -> Device:
        """The device of its topology."""
        return self.study.device(self.design.topology)

    @cached_property
    def values(self) -> dict[str, float]:
        """Parameters of the model."""
        return design_values(self.device, self.design)

    @cached_property
    def model(self) -> Model:
        """The person with the robot, of numbers."""
        return self.device.model.at(self.values)

    @property
    def robot_mass(self) -> float:
        """Mass of the robot on both legs (kg)."""
        return float(self.model.mass - self.study.person.mass)

    @property
    def center_shift(self) -> tuple[float, float]:
        """Shift of the center of mass by the robot in upright posture: forward and up (m)."""
        with_robot = center_of_mass(self.model, self.model.neutral())
        person = self.study.person
        shift = np.asarray(with_robot) - np.asarray(center_of_mass(person, person.neutral()))
        return float(shift[0]), float(shift[2])

    @property
    def bars(self) -> tuple[float, float]:
        """Length of the shortest and of the longest bar (m)."""
        return float(self.checks.bar_lengths[0, 0]), float(self.checks.bar_lengths[0, 1])

    @property
    def walks(self) -> bool:
        """Whether it reached the last objective."""
        return self.stage == len(self.study.objectives) - 1

    @property
    def sentence(self) -> str:
        """The outcome in one sentence."""
        if self.checks.verdicts[0] is not DesignVerdict.ACCEPTED:
            return self.checks.reason(0)
        assert self.result is not None
        if self.walks:
            value = self.objectives[self.study.objective]
            return f"walks with {self.study.objective.replace('_', ' ')} {value:.4g}"
        ended = self.result.status is not SimulationStatus.FINISHED
        what = self.study.objectives[self.stage].name
        return f"does not walk: {what} is not good enough" + (
            f"; {self.result.message}" if ended else ""
        )

    @cached_property
    def motors(self) -> tuple[MotorSeries, ...]:
        """Torque and power of the robot's actuators and the ankles over the simulation."""
        if self.result is None:
            return ()
        return tuple(
            self._motor(servo) for servo in self.study.walker(self.design.topology).motors.servos
        )

    def _motor(self, servo: JointServo) -> MotorSeries:
        result = self.result
        assert result is not None
        torque = result.constraint_forces[:-1, result.constraint_names.index(servo.name)]
        mean = (result.v[:-1] + result.v[1:]) / 2
        angle = servo.joints[0]
        if servo.selectors:
            slot = next(one for one in SLOTS if servo.name.endswith(f" {one} motor"))
            angle = servo.joints[self.design.actuated[SLOTS.index(slot)] - 1]
        rate = sum(
            factor * mean[:, result.model.coordinate_index(name)] for name, factor in angle.items()
        )
        return MotorSeries(servo.name, result.time[:-1], torque, torque * np.asarray(rate))

    @cached_property
    def cuffs(self) -> CuffForces | None:
        """Forces on the person; None where the design is rejected."""
        if self.result is None:
            return None
        return cuff_force_series(self.device, self.result, self.values)

    def second_half(self, time: np.ndarray) -> np.ndarray:
        """Which samples count.

        Args:
            time: s, (samples,).

        Returns:
            True in the second half of the simulation.
        """
        assert self.result is not None
        return np.asarray(time >= float(self.result.time[-1]) / 2)

    def headline(self) -> str:
        """Group and outcome."""
        return f"DesignSolution {self.group!r} of study {self.study.name!r}: {self.sentence}"


def solve_design(
    study: DesignStudy,
    parameters: Mapping[str, float],
    structure: Mapping[str, str],
    *,
    duration: float | None = None,
) -> DesignSolution:
    """Check and simulate a candidate of a study, and evaluate it.

    Args:
        study: The study.
        parameters: Values by name, such as ``result.best.parameters``.
        structure: Its group, such as ``result.best.structure``.
        duration: Duration of the replay (s); that of the study by default.

    Returns:
        The robot and its walk.

    Raises:
        HomodynError: A parameter is missing, or the group does not exist.
    """
    if POOL not in structure:
        raise HomodynError(f"the group of a design is needed, such as {{{POOL!r}: '2: 1-6'}}")
    designs = study.designs
    row = designs.row(parameters, structure)[None]
    number = designs.space.group_numbers(structure)
    group = designs.groups[int(number[0])]
    pairs, shares, places = designs.places(row, number, group.topology)
    device = study.device(group.topology)
    checks = check_designs(device, pairs, shares, places)
    evaluation = study.evaluate(row, number)
    objectives = {name: float(value[0]) for name, value in evaluation.objectives.items()}
    result = None
    if evaluation.verdicts[0] is DesignVerdict.ACCEPTED:
        batch = {name: float(value[0]) for name, value in designs.batch(row, pairs).items()}
        values = device.parameter_values(pairs[0], shares[0], places[0])
        result = study.walker(group.topology).replay(
            batch, {name: float(value) for name, value in values.items()}, duration
        )
    met = [bool(one.is_met(np.array([objectives[one.name]]))[0]) for one in study.objectives[:-1]]
    stage = met.index(False) if False in met else len(met)
    found = {name: float(parameters[name]) for name in parameters}
    return DesignSolution(study, group.name, found, objectives, stage, checks, result)
