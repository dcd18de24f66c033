"""Direct multiple shooting: forward dynamics and Runge-Kutta steps in each interval."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn.integrate import RK4, runge_kutta
from homodyn.model.configuration import rates
from homodyn.optimal.transcription.contact_dynamics import constrained_dynamics
from homodyn.optimal.transcription.interface import (
    PointEquations,
    Symbols,
    TimeSample,
    Transcription,
)
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
            drive = builder.expand_torques(tau[k]) + builder.generalized_load(q[k], v[k], part)
            a, force = constrained_dynamics(model, phase, q[k], v[k], drive)
            samples.append(TimeSample(builder(q[k], v[k], a, tau[k], force, part), part, 0.5))
        return samples

    def equations(self, builder: TimePointBuilder, symbols: Symbols) -> PointEquations:
        """The state at the end of the interval by RK4 steps."""
        model, phase = builder.model, builder.phase
        q, v, tau = symbols["q"], symbols["v"], symbols["tau"]
        step = builder.step / RUNGE_KUTTA_STEPS
        state: tuple[Array, ...] = q[0], v[0]
        for k in range(RUNGE_KUTTA_STEPS):

            def rate(fraction: float, x: tuple[Array, ...], first: int = k) -> tuple[Array, ...]:
                part = (first + fraction) / RUNGE_KUTTA_STEPS
                drive = builder.expand_torques((1 - part) * tau[0] + part * tau[1])
                drive = drive + builder.generalized_load(x[0], x[1], part)
                acceleration, _ = constrained_dynamics(model, phase, x[0], x[1], drive)
                return rates(model, x[0], x[1]), acceleration

            state = runge_kutta(RK4, rate, state, step)
        rows = [("step of q", state[0] - q[1]), ("step of v", state[1] - v[1])]
        return PointEquations(self.samples(builder, symbols), rows)

    def torque_function(self, tau: np.ndarray, intervals: int) -> Callable[[float], np.ndarray]:
        """Torques that are linear from node to node."""
        return lambda part: (1 - part) * tau[:-1] + part * tau[1:]
