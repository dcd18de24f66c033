"""Walking by motors: one compiled program for all numbers of a model, its loops and its motors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.codesign.drive import phase_signals
from homodyn.codesign.motor_set import MotorSet
from homodyn.dynamics import ConstraintSet
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.gait.studies import PitchAssistance
from homodyn.gait.studies.gait_study import BROKEN_STATUSES, FALL_HEIGHT_SHARE
from homodyn.model import Model
from homodyn.simulate import (
    BatchSimulator,
    JointLimits,
    SimulationOptions,
    SimulationResult,
    SoftContact,
    StateEvent,
    place_on_ground,
    run,
)
from homodyn.simulate.laws import ContactLaw
from homodyn.simulate.measures import Mean, Measure
from homodyn.simulate.signals import StepSample

LIGAMENTS = JointLimits(stiffness=1000.0, damping=20.0)
"""Limits of all joints (N m/rad, N m s/rad)."""


@record
class WalkingTask(Record):
    """What is simulated: walking at a speed for a time.

    Raises:
        HomodynError: A number is out of range.
    """

    speed: float = 1.3
    """Target, and speed at the start (m/s)."""
    frequency: float = 0.9
    """Strides per second."""
    duration: float = 10.0
    """s; the second half counts."""
    dt: float = 2e-3
    """s."""
    contact: ContactLaw = field(default_factory=lambda: SoftContact(stiffness=3e4, damping=60.0))
    assistance: PitchAssistance = field(default_factory=PitchAssistance)
    """Support of the trunk, which the objectives ask not to use."""
    joint_limits: JointLimits = LIGAMENTS
    """Limits of the person's joints; constants, since those of a model with parameters would follow
    its nominal robot."""

    def __post_init__(self) -> None:
        for name in ("speed", "frequency", "duration", "dt"):
            number = getattr(self, name)
            if not (np.isfinite(number) and number > 0):
                raise HomodynError(f"{name} of walking must be positive, got {number}")

    @property
    def second_half(self) -> float:
        """Start of the time that counts (s)."""
        return self.duration / 2


@record
class WalkingOutcome(Record):
    """Measures of the second half of a batch of simulations; NaN where it was not reached."""

    time: np.ndarray
    """Share of the duration before a fall, (candidates,)."""
    speed: np.ndarray
    """Mean speed (m/s), (candidates,)."""
    assist_share: np.ndarray
    """Share of the time in which the assistance acts, (candidates,)."""
    power: np.ndarray
    """Mean of the sum of the sizes of all motor powers (W), (candidates,)."""
    torque: np.ndarray
    """Mean of the sum of the sizes of all motor torques (N m), (candidates,)."""
    broken: np.ndarray
    """Whether the simulation broke: not finite or not solved, (candidates,)."""
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    """Further measures by name, (candidates,)."""


MeasureBuilder = Callable[[StepSample], ca.SX]
"""``f(step)`` over symbols."""


@record
class Walker(Record):
    """A model whose motors walk, with or without closed loops."""

    model: Model
    motors: MotorSet
    task: WalkingTask
    loops: ConstraintSet | None = None
    extra: Mapping[str, MeasureBuilder] = field(default_factory=dict)
    """Further quantities whose mean over the second half is measured."""

    @cached_property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Initial positions and velocities: upright on the ground, at the target speed."""
        nominal = dict(
            zip(self.model.parameter_names, map(float, self.model.parameter_values), strict=True)
        )
        q = place_on_ground(self.model.at(nominal), self.model.neutral())
        v = np.zeros(self.model.nv)
        v[self.model.root.v[0]] = self.task.speed
        return q, v

    @cached_property
    def simulator(self) -> BatchSimulator:
        """The compiled simulation."""
        return BatchSimulator(self.model, contact=self.task.contact, options=self.options())

    def options(self, values: Mapping[str, float] | None = None) -> SimulationOptions:
        """Options of the simulations.

        Args:
            values: Batch parameters; zero by default, for batches that give their own.

        Returns:
            Loops, rows, signals, measures and the event of a fall.
        """
        motors, task = self.motors, self.task
        return SimulationOptions(
            events=(self._fall(),),
            joint_limits=task.joint_limits,
            constraints=self.loops,
            rows=(*motors.servos, *motors.springs, task.assistance.row()),
            signals={**phase_signals(task.frequency), **motors.signals},
            batch_parameters=dict.fromkeys(motors.batch_names, 0.0) if values is None else values,
            measures=self._measures(),
        )

    def _fall(self) -> StateEvent:
        up = self.model.position_index[self.model.root.v[1]]
        if up is None:
            raise HomodynError(f"the root of {self.model.name!r} has no height of its own")
        limit = FALL_HEIGHT_SHARE * float(self.start[0][up])
        return StateEvent("fall", lambda t, q, v, batch: q[up] - limit, "falling", action="end")

    def _measures(self) -> dict[str, Measure]:
        motors, assistance = self.motors, self.task.assistance
        forward = self.model.root.v[0]
        pitch = self.model.position_index[assistance.index(self.model)]
        quantities: dict[str, MeasureBuilder] = {
            "speed": lambda step: step.mean_v[forward],
            "assist_share": lambda step: ca.fabs(step.q[pitch]) > assistance.neutral_zone,
            "power": lambda step: ca.sum1(ca.fabs(motors.power(step))),
            "torque": lambda step: ca.sum1(ca.fabs(motors.torque(step))),
            **self.extra,
        }
        start = self.task.second_half
        return {name: Mean(function, start=start) for name, function in quantities.items()}

    def simulate(
        self,
        batch: Mapping[str, np.ndarray],
        parameters: Mapping[str, np.ndarray] | None = None,
        threads: int | None = None,
    ) -> WalkingOutcome:
        """Simulate candidates.

        Args:
            batch: Values of all batch parameters, (candidates,).
            parameters: Values of the parameters of the model, (candidates,).
            threads: Threads; all by default.

        Returns:
            What was measured.
        """
        count = len(next(iter(batch.values())))
        q, v = self.start
        rolled = self.simulator(
            np.tile(q, (count, 1)),
            np.tile(v, (count, 1)),
            self.task.duration,
            self.task.dt,
            parameters=parameters if self.model.parameters else None,
            batch_parameters=batch,
            threads=threads,
        )
        broken = np.isin(rolled.status, [status.value for status in BROKEN_STATUSES])
        kept = ~broken & (rolled.end_time > self.task.second_half)
        measured = {
            name: np.where(kept, np.asarray(values, float), np.nan)
            for name, values in rolled.measures.items()
        }
        names = ("speed", "assist_share", "power", "torque")
        return WalkingOutcome(
            time=np.where(broken, np.nan, rolled.end_time / self.task.duration),
            **{name: measured[name] for name in names},
            broken=broken,
            extra={name: measured[name] for name in self.extra},
        )

    def replay(
        self,
        batch: Mapping[str, float],
        parameters: Mapping[str, float] | None = None,
        duration: float | None = None,
    ) -> SimulationResult:
        """Simulate one candidate and record everything.

        Args:
            batch: Values of all batch parameters.
            parameters: Values of the parameters of the model.
            duration: s; that of the task by default.

        Returns:
            The simulation, of the model with numbers.
        """
        model = self.model
        if model.parameters:
            model = model.at({name: float(value) for name, value in (parameters or {}).items()})
        q, v = self.start
        return run(
            model,
            q,
            v,
            duration=duration or self.task.duration,
            dt=self.task.dt,
            contact=self.task.contact,
            options=self.options({name: float(value) for name, value in batch.items()}),
        )
