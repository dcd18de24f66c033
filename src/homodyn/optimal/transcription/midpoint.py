"""Implicit midpoint transcription: inverse dynamics in the middle of each interval."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn.model.configuration import integrate
from homodyn.optimal.transcription.contact_dynamics import dynamics_rows
from homodyn.optimal.transcription.interface import (
    Equations,
    PointEquations,
    Symbols,
    TimeSample,
    Transcription,
)
from homodyn.optimal.transcription.muscle_symbols import (
    muscle_rows,
    muscle_variables,
    state_rates,
)
from homodyn.optimal.transcription.time_point_builder import TimePointBuilder


class Midpoint(Transcription):
    """Piecewise constant accelerations, torques and contact forces; equations at the midpoints.

    Second order. Forward dynamics is never formed: accelerations and contact forces are decision
    variables, and the equations of motion hold in the middle of each interval.
    """

    name = "midpoint"
    has_contact_forces = True
    defect_order = 3
    violation_order = 1

    def variable_order(self, intervals: int) -> list[tuple[str, np.ndarray]]:
        """State, then controls, interval by interval."""
        order = []
        for k in range(intervals):
            node, middle = np.array([k / intervals]), np.array([(k + 0.5) / intervals])
            order += [("q", node), ("v", node), ("a", middle), ("force", middle), ("tau", middle)]
        return [*order, ("q", np.ones(1)), ("v", np.ones(1))]

    def window(self, k: int) -> dict[str, list[int]]:
        """Both states, and the controls between them."""
        return {"q": [k, k + 1], "v": [k, k + 1], "a": [k], "force": [k], "tau": [k]}

    def samples(self, builder: TimePointBuilder, symbols: Symbols) -> list[TimeSample]:
        """One sample in the middle."""
        step = builder.step
        q, v, a = symbols["q"][0], symbols["v"][0], symbols["a"][0]
        middle = integrate(builder.model, q, step / 2 * v + step**2 / 8 * a)
        tau, force = symbols["tau"][0], symbols["force"][0]
        muscles = muscle_variables(symbols, (0.5, 0.5), (1.0,))
        point = builder(middle, v + step / 2 * a, a, tau, force, 0.5, muscles)
        return [TimeSample(point, 0.5, 1.0)]

    def equations(self, builder: TimePointBuilder, symbols: Symbols) -> PointEquations:
        """Equations of motion in the middle, and the state at the end."""
        step = builder.step
        (q, q_end), (v, v_end), (a,) = symbols["q"], symbols["v"], symbols["a"]
        samples = self.samples(builder, symbols)
        q_next = integrate(builder.model, q, step * v + step**2 / 2 * a)
        point = samples[0].time_point
        rows: Equations = []
        if not builder.phase.prescribed:
            rows += [("step of q", q_next - q_end), ("step of v", v + step * a - v_end)]
        for name, rate in state_rates(point.muscle_point):
            begin, end = symbols[name]
            rows.append((f"step of {name}", begin + step * rate - end))
        rows += dynamics_rows(point, builder.phase, builder.independent_rows) + muscle_rows(
            point.muscle_point
        )
        return PointEquations(samples, rows)

    def torque_function(self, tau: np.ndarray, intervals: int) -> Callable[[float], np.ndarray]:
        """Constant torques in each interval."""
        return lambda part: tau
