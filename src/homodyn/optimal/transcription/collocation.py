"""Gauss-Legendre collocation: polynomials and inverse dynamics at their points."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.model.configuration import rates
from homodyn.optimal.transcription.contact_dynamics import dynamics_rows
from homodyn.optimal.transcription.interface import (
    Equations,
    EvaluationPoints,
    PointEquations,
    Symbols,
    TimeSample,
    Transcription,
)
from homodyn.optimal.transcription.muscle_symbols import (
    INTERIOR_SUFFIX,
    muscle_rows,
    muscle_variables,
    state_rates,
)
from homodyn.optimal.transcription.time_point_builder import TimePointBuilder
from homodyn.spatial import Array

DEFAULT_DEGREE = 4
POINT_QUANTITIES = ("q inside", "v inside", "a", "force", "tau")


class LegendreCollocation(Transcription):
    """States are polynomials; the equations of motion hold at as many Legendre points.

    The order in the states is twice the degree. Accelerations and contact forces are decision
    variables. Degree 2 has the order of Hermite and Simpson's method.

    Args:
        degree: Degree of the polynomials, 2 or more.

    Raises:
        ModelError: The degree is below 2.
    """

    name = "collocation"
    has_contact_forces = True

    def __init__(self, degree: int = DEFAULT_DEGREE) -> None:
        if degree < 2:
            raise ModelError(
                f"the degree of collocation must be 2 or more, got {degree}; 'midpoint' has one "
                "point per interval"
            )
        self.degree = degree
        self.defect_order, self.violation_order = 2 * degree + 1, degree
        points = ca.collocation_points(self.degree, "legendre")
        C, D, B = ca.collocation_coeff(points)
        self.points_in_interval = np.array(points)
        self.C, self.D, self.B = np.array(C), np.array(D)[:, 0], np.array(B)[:, 0]
        others = [[b for b in points if b != a] for a in points]
        shapes = [np.polynomial.Polynomial.fromroots(rest) for rest in others]
        self.bases = [shape / shape(a) for a, shape in zip(points, shapes, strict=True)]

    def variable_order(self, intervals: int) -> list[tuple[str, np.ndarray]]:
        """State at the node, then state and controls at each point of the interval."""
        order = []
        for k in range(intervals):
            node = np.array([k / intervals])
            order += [("q", node), ("v", node)]
            for point in self.points_in_interval:
                at = np.array([(k + point) / intervals])
                order += [(quantity, at) for quantity in POINT_QUANTITIES]
        return [*order, ("q", np.ones(1)), ("v", np.ones(1))]

    def window(self, k: int) -> dict[str, list[int]]:
        """Both states at the nodes, and everything between them."""
        inside = list(range(self.degree * k, self.degree * (k + 1)))
        return {"q": [k, k + 1], "v": [k, k + 1], **dict.fromkeys(POINT_QUANTITIES, inside)}

    def points(self, intervals: int) -> EvaluationPoints:
        """The collocation points of all intervals."""
        count = self.degree * intervals
        windows = tuple({key: [n] for key in POINT_QUANTITIES} for n in range(count))
        positions = np.tile(self.points_in_interval, intervals)
        nodes = np.repeat(np.arange(intervals), self.degree) + positions
        width = np.tile(self.B, intervals) / intervals
        return EvaluationPoints(windows, nodes / intervals, width, nodes)

    def samples(self, builder: TimePointBuilder, symbols: Symbols) -> list[TimeSample]:
        """The collocation point itself."""
        keys = ("q inside", "v inside", "a", "tau", "force")
        q, v, a, tau, force = (symbols[key][0] for key in keys)
        muscles = muscle_variables(symbols, (1.0,), (1.0,), INTERIOR_SUFFIX)
        return [TimeSample(builder(q, v, a, tau, force, 0.0, muscles), 0.0, 1.0)]

    def equations(self, builder: TimePointBuilder, symbols: Symbols) -> PointEquations:
        """Equations of motion at the point."""
        samples = self.samples(builder, symbols)
        point = samples[0].time_point
        rows = dynamics_rows(point, builder.phase, builder.independent_rows)
        return PointEquations(samples, rows + muscle_rows(point.muscle_point))

    def interval_equations(self, builder: TimePointBuilder, symbols: Symbols) -> Equations:
        """Slopes of the polynomials at each point; the state at the end by extrapolation."""
        rows = [] if builder.phase.prescribed else self._kinematic_equations(builder, symbols)
        for name, rates_ in self._muscle_rates(builder, symbols).items():
            values = [symbols[name][0], *symbols[f"{name}{INTERIOR_SUFFIX}"]]
            for j, rate in enumerate(rates_):
                slope = sum(self.C[i, j] * part for i, part in enumerate(values))
                rows.append((f"slope of {name}", builder.step * rate - slope))
            end = sum(self.D[i] * part for i, part in enumerate(values))
            rows.append((f"step of {name}", end - symbols[name][1]))
        return rows

    def _muscle_rates(self, builder: TimePointBuilder, symbols: Symbols) -> dict[str, list[Array]]:
        """Rates of the states of muscles at all points of an interval."""
        found: dict[str, list[Array]] = {}
        for j in range(self.degree if builder.muscles is not None else 0):
            only = [float(i == j) for i in range(self.degree)]
            variables = muscle_variables(symbols, only, only, INTERIOR_SUFFIX)
            q, v = symbols["q inside"][j], symbols["v inside"][j]
            for name, rate in state_rates(builder.muscle_point(q, v, variables)):
                found.setdefault(name, []).append(rate)
        return found

    def _kinematic_equations(self, builder: TimePointBuilder, symbols: Symbols) -> Equations:
        """The same for positions and velocities."""
        model, step = builder.model, builder.step
        q = [symbols["q"][0], *symbols["q inside"]]
        v = [symbols["v"][0], *symbols["v inside"]]
        rows: Equations = []
        for j in range(self.degree):
            slope_q = sum(self.C[i, j] * part for i, part in enumerate(q))
            slope_v = sum(self.C[i, j] * part for i, part in enumerate(v))
            rows += [
                ("slope of q", step * rates(model, q[j + 1], v[j + 1]) - slope_q),
                ("slope of v", step * symbols["a"][j] - slope_v),
            ]
        end_q = sum(self.D[i] * part for i, part in enumerate(q))
        end_v = sum(self.D[i] * part for i, part in enumerate(v))
        rows += [("step of q", end_q - symbols["q"][1]), ("step of v", end_v - symbols["v"][1])]
        return rows

    def torque_function(self, tau: np.ndarray, intervals: int) -> Callable[[float], np.ndarray]:
        """Polynomials through the torques at the collocation points."""
        at_points = tau.reshape(intervals, self.degree, -1)
        return lambda part: np.einsum("p,kpj->kj", self.weights(part), at_points)

    def boundary_weights(self, at: float) -> np.ndarray:
        """Weights of the polynomial through all points of the interval."""
        return self.weights(at)

    def weights(self, part: float) -> np.ndarray:
        """Weight of each point in the polynomial of controls at a fraction of the interval."""
        return np.array([basis(part) for basis in self.bases])

    def integral_weights(self, part: float) -> np.ndarray:
        """Weight of each point in the integral from the start of the interval to a fraction."""
        return np.array([basis.integ()(part) for basis in self.bases])
