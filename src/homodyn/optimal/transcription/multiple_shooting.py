"""Direct multiple shooting: forward dynamics and Runge-Kutta steps in each interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from homodyn.integrate import RK4, runge_kutta
from homodyn.model.configuration import rates
from homodyn.optimal.statement.muscle_drive import ACTIVATION
from homodyn.optimal.statement.muscle_point import MuscleVariables
from homodyn.optimal.transcription.contact_dynamics import constrained_dynamics
from homodyn.optimal.transcription.interface import (
    PointEquations,
    Symbols,
    TimeSample,
    Transcription,
)
from homodyn.optimal.transcription.muscle_symbols import muscle_variables
from homodyn.optimal.transcription.time_point_builder import TimePointBuilder
from homodyn.spatial import Array

RUNGE_KUTTA_STEPS = 2
"""RK4 steps in each interval."""


class MultipleShooting(Transcription):
    """Continuous, piecewise linear torques; the state at the end of each interval by RK4.

    Accelerations and contact forces follow from forward dynamics under the contacts (Felis 2015,
    section 5.2).
    """

    name = "multiple_shooting"
    has_contact_forces = False
    samples_at_nodes = True
    defect_order = 5
    violation_order = 2

    def variable_order(self, intervals: int) -> list[tuple[str, np.ndarray]]:
        """State and torques at each node."""
        order = []
        for k in range(intervals + 1):
            node = np.array([k / intervals])
            order += [("q", node), ("v", node), ("tau", node)]
        return order

    def window(self, k: int) -> dict[str, list[int]]:
        """Both nodes."""
        return {key: [k, k + 1] for key in ("q", "v", "tau")}

    def samples(self, builder: TimePointBuilder, symbols: Symbols) -> list[TimeSample]:
        """One sample at each end, each with half of the weight."""
        model, phase = builder.model, builder.phase
        q, v, tau = symbols["q"], symbols["v"], symbols["tau"]
        samples = []
        for k, part in enumerate((0.0, 1.0)):
            only = (1.0 - part, part)
            muscles = muscle_variables(symbols, only, only)
            drive = self._drive(builder, (q[k], v[k]), tau[k], muscles, part)
            a, force = constrained_dynamics(model, phase, q[k], v[k], drive)
            point = builder(q[k], v[k], a, tau[k], force, part, muscles)
            samples.append(TimeSample(point, part, 0.5))
        return samples

    @staticmethod
    def _drive(
        builder: TimePointBuilder,
        state: tuple[Array, Array],
        tau: Array,
        muscles: MuscleVariables | None,
        part: float,
    ) -> Array:
        """Generalized force of torques, loads and muscles."""
        drive = builder.expand_torques(tau) + builder.generalized_load(*state, part)
        point = builder.muscle_point(*state, muscles)
        return drive if point is None else drive + point.torque

    def equations(self, builder: TimePointBuilder, symbols: Symbols) -> PointEquations:
        """The state at the end of the interval by RK4 steps."""
        model, phase = builder.model, builder.phase
        q, v, tau = symbols["q"], symbols["v"], symbols["tau"]
        step = builder.step / RUNGE_KUTTA_STEPS
        state: tuple[Array, ...] = q[0], v[0]
        if builder.muscles is not None:
            state = (*state, symbols[ACTIVATION][0])
        for k in range(RUNGE_KUTTA_STEPS):

            def rate(fraction: float, x: tuple[Array, ...], first: int = k) -> tuple[Array, ...]:
                part = (first + fraction) / RUNGE_KUTTA_STEPS
                muscles = muscle_variables(symbols, (1.0, 0.0), (1 - part, part))
                if muscles is not None:
                    muscles = replace(muscles, activation=x[2])
                torque = (1 - part) * tau[0] + part * tau[1]
                drive = self._drive(builder, (x[0], x[1]), torque, muscles, part)
                acceleration, _ = constrained_dynamics(model, phase, x[0], x[1], drive)
                point = builder.muscle_point(x[0], x[1], muscles)
                more = () if point is None else (point.activation_rate,)
                return (rates(model, x[0], x[1]), acceleration, *more)

            state = runge_kutta(RK4, rate, state, step)
        rows = [("step of q", state[0] - q[1]), ("step of v", state[1] - v[1])]
        if builder.muscles is not None:
            rows.append((f"step of {ACTIVATION}", state[2] - symbols[ACTIVATION][1]))
        return PointEquations(self.samples(builder, symbols), rows)

    def torque_function(self, tau: np.ndarray, intervals: int) -> Callable[[float], np.ndarray]:
        """Torques that are linear from node to node."""
        return lambda part: (1 - part) * tau[:-1] + part * tau[1:]
