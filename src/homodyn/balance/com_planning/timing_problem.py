"""Paths of the center of mass with free phase durations.

Unknowns are control points, durations and the smallest margin d. The sum of ``-d``, roughness and
duration is minimized, subject to a margin of at least d at every sampled instant, and to bounds of
the height and of the distances to the supports (Qiu 2012, section 5.4). At a change of support the
constraints of both stances apply, because accelerations are continuous.

Positions and accelerations of the sampled instants are unknowns too, coupled to the control points
by equations: facets, reach and corridor are then functions of six numbers each, and second
derivatives stay exact and sparse. Of each polytope only the nearest facets are constraints, and
sampled instants move to where the last check found the smallest margin. Both are updated from round
to round and enter as parameters, so that the problem is built once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import casadi as ca
import numpy as np

from homodyn.balance.com_planning.margin_objective import MarginObjective
from homodyn.balance.com_planning.plan_options import PlanWeights
from homodyn.balance.com_planning.separable_nlp import NlpTerm, SeparableNlp
from homodyn.motion.bspline import ComSpline, span_derivatives
from homodyn.motion.scene import ComPlanRequest, HeightRamp

IPOPT_OPTIONS = {
    "print_level": 0,
    "sb": "yes",
    "max_iter": 150,
    "tol": 1e-5,
    "acceptable_tol": 1e-4,
    "acceptable_iter": 5,
    "linear_solver": "mumps",
}
BARRIER_STRATEGIES = ({"mu_strategy": "monotone", "mu_init": 0.02}, {"mu_strategy": "adaptive"})
"""The first takes half of the iterations of the second, but fails more often."""


@dataclass(frozen=True, eq=False)
class PlanLayout:
    """Sizes and constants of a problem that do not change from round to round."""

    mass: float
    """kg."""
    gravity: np.ndarray
    """(3,), m/s2."""
    plan: ComPlanRequest
    min_durations: np.ndarray
    """(phases,), s."""
    max_durations: np.ndarray
    """(phases,), s."""
    supports: tuple[np.ndarray, ...]
    """Of each phase (supports, 3), m: positions from which the reach is measured."""
    objective: MarginObjective
    weights: PlanWeights
    pieces: int = 1
    """Spans of the spline per phase."""
    samples: int = 6
    """Fixed instants per span; two more move to where the margin is smallest."""
    rows: int = 14
    """Facets that are constraints at each instant."""

    @property
    def phases(self) -> int:
        """Number of phases."""
        return len(self.min_durations)

    @property
    def spans(self) -> int:
        """Number of spans of the spline."""
        return self.phases * self.pieces

    @property
    def per_span(self) -> int:
        """Sampled instants per span."""
        return self.samples + 2

    @property
    def count(self) -> int:
        """Number of sampled instants."""
        return self.spans * self.per_span

    @property
    def control_points(self) -> int:
        """Number of control points."""
        return self.spans + self.plan.degree

    @cached_property
    def fixed_points(self) -> tuple[int, int]:
        """Numbers of control points that the conditions at start and finish determine."""
        return 1 + self.plan.start_at_rest, 1 + self.plan.finish_at_rest

    def fixed_fractions(self) -> np.ndarray:
        """(spans, per_span): initial instants as fractions of their span, both ends included."""
        grid = np.linspace(0.0, 1.0, self.samples)
        return np.tile(
            np.r_[grid, 0.5 * (grid[1] - grid[0]), 1 - 0.5 * (grid[1] - grid[0])], (self.spans, 1)
        )


@dataclass(frozen=True, eq=False)
class PlanCandidate:
    """A path at the start or end of a round."""

    points: np.ndarray
    """(control points, 3), m."""
    durations: np.ndarray
    """(phases,), s."""
    margin: float
    """N m or N."""

    def spline(self, degree: int, pieces: int) -> ComSpline:
        """The path as a spline with ``pieces`` spans per phase."""
        return ComSpline(degree, knot_instants(self.durations, pieces), self.points)


def knot_instants(durations: np.ndarray, pieces: int) -> np.ndarray:
    """(spans + 1,), s: knots of phases of given durations (s), with ``pieces`` spans each."""
    return np.r_[0.0, np.cumsum(np.repeat(durations / pieces, pieces))]


class TimingProblem:
    """The nonlinear program of a layout, solved repeatedly with different parameters.

    Unknowns: free control points, durations, margin, positions and accelerations of the instants.
    """

    def __init__(self, layout: PlanLayout) -> None:
        self.layout = layout
        first, last = layout.fixed_points
        self._free = 3 * (layout.control_points - first - last)
        self._margin = self._free + layout.phases
        place = self._margin + 1 + np.arange(3 * layout.count).reshape(-1, 3)
        acceleration = place + 3 * layout.count
        span = np.repeat(np.arange(layout.spans), layout.per_span)
        index, factor, constant = self._span_unknowns()
        coupling = NlpTerm(
            partial(_coupling_residual, degree=layout.plan.degree),
            np.hstack([index[span], place, acceleration]),
            np.hstack([factor[span], np.ones((layout.count, 6))]),
            np.hstack([constant[span], np.zeros((layout.count, 6))]),
            parameters=1,
        )
        limits = [
            _plain_term(
                partial(_margin_slack, layout=layout),
                [place, acceleration, self._margin],
                7 * layout.rows,
            )
        ]
        limits += self._geometry(place)
        linear = np.zeros(self._margin + 1 + 6 * layout.count)
        linear[self._free : self._margin] = layout.weights.time
        linear[self._margin] = -layout.weights.margin
        roughness = NlpTerm(partial(_roughness, layout=layout), index, factor, constant)
        self._program = SeparableNlp(
            len(linear),
            [roughness],
            linear,
            [coupling, *limits],
            IPOPT_OPTIONS,
            BARRIER_STRATEGIES,
        )
        self.statuses: list[str] = []
        self.iterations: list[int] = []

    def _span_unknowns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Unknowns of each span: its k + 1 control points and the lengths of 2 k - 1 spans."""
        layout, k = self.layout, self.layout.plan.degree
        n = layout.control_points
        first, last = layout.fixed_points
        number = np.full((n, 3), -1)
        number[first : n - last] = np.arange(self._free).reshape(-1, 3)
        fixed = np.zeros((n, 3))
        fixed[:first], fixed[n - last :] = layout.plan.start, layout.plan.finish
        control = np.arange(layout.spans)[:, None] + np.arange(k + 1)
        neighbors = np.arange(layout.spans)[:, None] + np.arange(1 - k, k)
        exists = (neighbors >= 0) & (neighbors < layout.spans)
        index = np.hstack(
            [
                number[control].reshape(layout.spans, -1),
                np.where(exists, self._free + neighbors // layout.pieces, -1),
            ]
        )
        factor = np.ones(index.shape)
        factor[:, 3 * (k + 1) :] = 1 / layout.pieces
        constant = np.zeros(index.shape)
        constant[:, : 3 * (k + 1)] = fixed[control].reshape(layout.spans, -1)
        return index, factor, constant

    def _geometry(self, place: np.ndarray) -> list[NlpTerm]:
        """Reach and corridor, where the plan has them."""
        layout, plan = self.layout, self.layout.plan
        terms = []
        if np.isfinite(plan.reach):
            phase = np.arange(layout.count) // (layout.per_span * layout.pieces)
            pairs = [(j, each) for j in range(layout.count) for each in layout.supports[phase[j]]]
            positions = np.array([support for _, support in pairs])
            terms.append(
                NlpTerm(
                    partial(_reach_slack, reach=plan.reach),
                    np.hstack([place[[j for j, _ in pairs]], np.full(positions.shape, -1)]),
                    np.ones((len(positions), 6)),
                    np.hstack([np.zeros(positions.shape), positions]),
                    parameters=1,
                )
            )
        terms += [
            _plain_term(partial(_ramp_clearance, ramp=ramp, sign=sign), [place], 1)
            for ramp, sign in ((plan.upper, 1.0), (plan.lower, -1.0))
            if ramp is not None
        ]
        return terms

    def solve(
        self,
        candidate: PlanCandidate,
        fractions: np.ndarray,
        facets: np.ndarray,
        tightening: np.ndarray,
    ) -> PlanCandidate:
        """The best path near a candidate, for facets (count, rows, 7) at instants of the spans.

        ``tightening`` (2,), m: by how much reach and corridor are narrower than in the plan.
        """
        layout, free = self.layout, self._free
        first, last = layout.fixed_points
        spline = candidate.spline(layout.plan.degree, layout.pieces)
        time = sample_times(spline.instants, fractions)
        start = np.r_[
            candidate.points[first : len(candidate.points) - last].ravel(),
            candidate.durations,
            candidate.margin,
            spline.at(time).ravel(),
            spline.at(time, 2).ravel(),
        ]
        lower, upper = np.full(len(start), -np.inf), np.full(len(start), np.inf)
        lower[free : self._margin] = layout.min_durations
        upper[free : self._margin] = layout.max_durations
        equations, _, *others = self._program.sizes
        parameters = [fractions.ravel(), facets.ravel()]
        if np.isfinite(layout.plan.reach):
            parameters.append(np.full(others.pop(0), tightening[0]))
        parameters += [np.full(count, tightening[1]) for count in others]
        total = sum(self._program.sizes)
        x, status, iterations = self._program.solve(
            start,
            np.concatenate(parameters),
            (lower, upper),
            (np.zeros(total), np.r_[np.zeros(equations), np.full(total - equations, np.inf)]),
        )
        self.statuses.append(status)
        self.iterations.append(iterations)
        plan = layout.plan
        points = np.vstack(
            [
                np.tile(plan.start, (first, 1)),
                x[:free].reshape(-1, 3),
                np.tile(plan.finish, (last, 1)),
            ]
        )
        # The solver may violate a bound by its tolerance.
        durations = np.clip(x[free : self._margin], layout.min_durations, layout.max_durations)
        return PlanCandidate(points, durations, float(x[self._margin]))


def _plain_term(
    template: Callable[[Any, Any], Any], unknowns: list[Any], parameters: int
) -> NlpTerm:
    """A term of the unknowns themselves; a single unknown is the same for all copies."""
    count = len(unknowns[0])
    index = np.hstack(
        [np.full((count, 1), u) if np.ndim(u) == 0 else np.asarray(u) for u in unknowns]
    )
    return NlpTerm(template, index, np.ones(index.shape), np.zeros(index.shape), parameters)


def _span(y: Any, degree: int) -> tuple[list[Any], list[Any], Any]:
    """Knots around a span, its control points and its length, from the unknowns of a span."""
    points = 3 * (degree + 1)
    lengths = ca.vertsplit(y[points : points + 2 * degree - 1])
    control = [y[3 * i : 3 * i + 3] for i in range(degree + 1)]
    own = degree - 1
    return _surrounding_knots(lengths, own, degree), control, lengths[own]


def _coupling_residual(y: Any, p: Any, *, degree: int) -> Any:
    """Deviation of the position and acceleration of an instant from those of the spline."""
    knots, control, length = _span(y, degree)
    place, _, acceleration = span_derivatives(knots, control, p[0] * length, 2)
    own = y[3 * (degree + 1) + 2 * degree - 1 :]
    return ca.vertcat(own[:3] - place, own[3:] - acceleration)


def _margin_slack(y: Any, p: Any, *, layout: PlanLayout) -> Any:
    """Slack of the facets beyond the margin; y is position, acceleration and margin."""
    objective = layout.objective
    x, margin = y[:3], y[6]
    force = layout.mass * (y[3:6] - ca.DM(layout.gravity))
    facets = ca.reshape(p, 7, layout.rows)
    moment, bound = facets[:3, :], facets[6, :]
    at_com = facets[3:6, :] - ca.skew(x) @ moment
    slack = bound.T - at_com.T @ force
    if objective.fixed:
        return slack - margin
    of_moment, of_force = objective.length_weights
    square = of_moment * ca.sum1(moment**2) + of_force * ca.sum1(at_com**2)
    return slack - margin * ca.sqrt(square.T + 1e-12)


def _reach_slack(y: Any, p: Any, *, reach: float) -> Any:
    arm = y[:3] - y[3:6]
    return (reach - p[0]) ** 2 - ca.dot(arm, arm)


def _ramp_clearance(y: Any, p: Any, *, ramp: HeightRamp, sign: float) -> Any:
    angle = ca.atan(ramp.steepness * (y[0] - ramp.middle))
    if np.isfinite(ramp.rise):
        angle -= ca.atan(ramp.steepness * (y[0] - ramp.rise))
    height = ramp.level - ramp.drop * angle / np.pi
    return sign * (height - y[2]) - p[0]


def sample_times(instants: np.ndarray, fractions: np.ndarray) -> np.ndarray:
    """(count,), s: instants at fractions (spans, per_span) of the spans."""
    return (instants[:-1, None] + fractions * np.diff(instants)[:, None]).ravel()


def _surrounding_knots(lengths: list[Any], span: int, degree: int) -> list[Any]:
    """The 2 k knots around a span, relative to its start."""
    before: list[Any] = [0.0]
    for r in range(1, degree):
        before.append(before[-1] - lengths[span - r] if span - r >= 0 else before[-1])
    after: list[Any] = [lengths[span]]
    for r in range(1, degree):
        after.append(after[-1] + lengths[span + r] if span + r < len(lengths) else after[-1])
    return [*before[::-1], *after]


def _roughness(y: Any, p: Any, *, layout: PlanLayout) -> Any:
    """Integrals of squared velocity and jerk over a span, by an exact Gauss rule."""
    nodes, quadrature = np.polynomial.legendre.leggauss(layout.plan.degree)
    knots, control, length = _span(y, layout.plan.degree)
    weights = layout.weights
    total: Any = 0.0
    for node, weight in zip((nodes + 1) / 2, quadrature / 2, strict=True):
        _, velocity, _, jerk = span_derivatives(knots, control, node * length, 3)
        term = weights.velocity * ca.dot(velocity, velocity) + weights.jerk * ca.dot(jerk, jerk)
        total += weight * length * (term + weights.height * velocity[2] ** 2)
    return total
