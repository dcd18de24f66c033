"""Paths of the centre of mass whose phases may last as long as they like.

Unknowns are control points, durations and the smallest margin d; the sum of ``-d``, smoothness and
duration is minimised with the margin of every sampled instant at least d, distances to the supports
and the height in their bounds (Qiu 2012, section 5.4). Both neighbours of a change of support are
asked, because accelerations are continuous there.

Each sampled instant has its place and acceleration among the unknowns too, tied to the control
points by equations: sides of polytopes, reach and corridor are then functions of six numbers each,
and second derivatives stay exact and sparse. Of the sides of a polytope only the nearest are told
to the solver, and instants are where the last check was weakest; both are renewed from round to
round and enter as parameters, so that the problem is built once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import casadi as ca
import numpy as np

from homodyn.balance.com_planning.bspline import ComSpline, span_derivatives
from homodyn.balance.com_planning.margin_objective import MarginObjective
from homodyn.balance.com_planning.separable_nlp import NlpTerm, SeparableNlp
from homodyn.balance.scene import ComPlanRequest, HeightRamp


@dataclass(frozen=True)
class PlanWeights:
    """Weights of the objective terms."""

    margin: float = 1.0
    """of 1 N m (or 1 N) of the smallest margin."""
    velocity: float = 0.1
    """of 1 m2/s: the integral of the squared speed."""
    jerk: float = 1e-4
    """of 1 m2/s5: the integral of the squared jerk."""
    height: float = 15.0
    """of 1 m2/s: the integral of the squared vertical velocity. Without it the margin alone decides
    how far a body bends its knees, and it may ask for more than legs have."""
    time: float = 1.0
    """of 1 s."""


@dataclass(frozen=True, eq=False)
class PlanLayout:
    """Sizes and constants of a problem; what changes from round to round is not here."""

    mass: float
    gravity: np.ndarray
    plan: ComPlanRequest
    shortest: np.ndarray
    """(phases,), s."""
    longest: np.ndarray
    """(phases,), s."""
    supports: tuple[np.ndarray, ...]
    """Of each phase (supports, 3), m: the places that the reach is measured from."""
    measure: MarginObjective
    weights: PlanWeights
    pieces: int = 1
    """Spans of the spline in a phase."""
    samples: int = 6
    """Instants in a span that stay where they are; two more move to where it is weakest."""
    rows: int = 14
    """Sides told for each instant."""

    @property
    def phases(self) -> int:
        return len(self.shortest)

    @property
    def spans(self) -> int:
        return self.phases * self.pieces

    @property
    def per_span(self) -> int:
        return self.samples + 2

    @property
    def count(self) -> int:
        """Sampled instants."""
        return self.spans * self.per_span

    @property
    def control_points(self) -> int:
        return self.spans + self.plan.degree

    @cached_property
    def fixed_points(self) -> tuple[int, int]:
        """Control points given by the conditions at start and finish."""
        return 1 + self.plan.start_at_rest, 1 + self.plan.finish_at_rest

    def fixed_fractions(self) -> np.ndarray:
        """(spans, per_span): where instants are in their span at first, both ends among them."""
        grid = np.linspace(0.0, 1.0, self.samples)
        return np.tile(
            np.r_[grid, 0.5 * (grid[1] - grid[0]), 1 - 0.5 * (grid[1] - grid[0])], (self.spans, 1)
        )


@dataclass(frozen=True, eq=False)
class PlanCandidate:
    """A path that a round begins with or ends with."""

    points: np.ndarray
    durations: np.ndarray
    margin: float

    def instants(self, pieces: int) -> np.ndarray:
        return np.r_[0.0, np.cumsum(np.repeat(self.durations / pieces, pieces))]

    def spline(self, degree: int, pieces: int) -> ComSpline:
        return ComSpline(degree, self.instants(pieces), self.points)


class TimingProblem:
    """The nonlinear program of a layout, to be solved again and again.

    Unknowns: free control points, durations, margin, places and accelerations of the instants.
    """

    def __init__(self, layout: PlanLayout, *, iterations: int = 150) -> None:
        self.layout = layout
        first, last = layout.fixed_points
        self._free = 3 * (layout.control_points - first - last)
        self._margin = self._free + layout.phases
        place = self._margin + 1 + np.arange(3 * layout.count).reshape(-1, 3)
        pull = place + 3 * layout.count
        span = np.repeat(np.arange(layout.spans), layout.per_span)
        index, factor, constant = self._spans()
        tie = NlpTerm(
            partial(_ties, degree=layout.plan.degree),
            np.hstack([index[span], place, pull]),
            np.hstack([factor[span], np.ones((layout.count, 6))]),
            np.hstack([constant[span], np.zeros((layout.count, 6))]),
            parameters=1,
        )
        limits = [
            _plain(partial(_room, layout=layout), [place, pull, self._margin], 7 * layout.rows)
        ]
        limits += self._geometry(place)
        linear = np.zeros(self._margin + 1 + 6 * layout.count)
        linear[self._free : self._margin] = layout.weights.time
        linear[self._margin] = -layout.weights.margin
        rough = NlpTerm(partial(_roughness, layout=layout), index, factor, constant)
        self._program = SeparableNlp(
            len(linear),
            [rough],
            linear,
            [tie, *limits],
            {
                "print_level": 0,
                "sb": "yes",
                "max_iter": iterations,
                "tol": 1e-5,
                "acceptable_tol": 1e-4,
                "acceptable_iter": 5,
                "linear_solver": "mumps",
            },
            # The first took half of the iterations of the second, but gives up more often.
            ({"mu_strategy": "monotone", "mu_init": 0.02}, {"mu_strategy": "adaptive"}),
        )
        self.statuses: list[str] = []
        self.iterations: list[int] = []

    def _spans(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Unknowns of each span: its k + 1 control points and the lengths of 2 k - 1 spans."""
        layout, k = self.layout, self.layout.plan.degree
        n = layout.control_points
        first, last = layout.fixed_points
        number = np.full((n, 3), -1)
        number[first : n - last] = np.arange(self._free).reshape(-1, 3)
        given = np.zeros((n, 3))
        given[:first], given[n - last :] = layout.plan.start, layout.plan.finish
        held = np.arange(layout.spans)[:, None] + np.arange(k + 1)
        near = np.arange(layout.spans)[:, None] + np.arange(1 - k, k)
        there = (near >= 0) & (near < layout.spans)
        index = np.hstack(
            [
                number[held].reshape(layout.spans, -1),
                np.where(there, self._free + near // layout.pieces, -1),
            ]
        )
        factor = np.ones(index.shape)
        factor[:, 3 * (k + 1) :] = 1 / layout.pieces
        constant = np.zeros(index.shape)
        constant[:, : 3 * (k + 1)] = given[held].reshape(layout.spans, -1)
        return index, factor, constant

    def _geometry(self, place: np.ndarray) -> list[NlpTerm]:
        """Reach and corridor, where the plan has them."""
        layout, plan = self.layout, self.layout.plan
        found = []
        if np.isfinite(plan.reach):
            phase = np.arange(layout.count) // (layout.per_span * layout.pieces)
            at, support = [], []
            for j in range(layout.count):
                for each in layout.supports[phase[j]]:
                    at.append(place[j])
                    support.append(each)
            still = np.array(support)
            found.append(
                NlpTerm(
                    partial(_reach, reach=plan.reach),
                    np.hstack([np.array(at), np.full(still.shape, -1)]),
                    np.ones((len(still), 6)),
                    np.hstack([np.zeros(still.shape), still]),
                    parameters=1,
                )
            )
        found += [
            _plain(partial(_ramp_clearance, ramp=ramp, sign=sign), [place], 1)
            for ramp, sign in ((plan.upper, 1.0), (plan.lower, -1.0))
            if ramp is not None
        ]
        return found

    def solve(
        self,
        candidate: PlanCandidate,
        fractions: np.ndarray,
        sides: np.ndarray,
        tight: np.ndarray,
    ) -> PlanCandidate:
        """The best path near a candidate, for sides (count, rows, 7) at instants of the spans.

        ``tight`` (2,), m: by how much reach and corridor are narrower than the plan wants.
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
        lower[free : self._margin] = layout.shortest
        upper[free : self._margin] = layout.longest
        ties, _, *others = self._program.sizes
        told = [fractions.ravel(), sides.ravel()]
        if np.isfinite(layout.plan.reach):
            told.append(np.full(others.pop(0), tight[0]))
        told += [np.full(count, tight[1]) for count in others]
        kept = sum(self._program.sizes)
        x, status, iterations = self._program.solve(
            start,
            np.concatenate(told),
            lower,
            upper,
            np.zeros(kept),
            np.r_[np.zeros(ties), np.full(kept - ties, np.inf)],
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
        # The solver may pass a bound by its tolerance.
        durations = np.clip(x[free : self._margin], layout.shortest, layout.longest)
        return PlanCandidate(points, durations, float(x[self._margin]))


def _plain(template: Callable[[Any, Any], Any], unknowns: list[Any], parameters: int) -> NlpTerm:
    """A part that takes unknowns as they are; a single one is the same for all copies."""
    count = len(unknowns[0])
    index = np.hstack(
        [np.full((count, 1), u) if np.ndim(u) == 0 else np.asarray(u) for u in unknowns]
    )
    return NlpTerm(template, index, np.ones(index.shape), np.zeros(index.shape), parameters)


def _span(y: Any, degree: int) -> tuple[list[Any], list[Any], Any]:
    """Knots around a span, its control points and its length, of the unknowns of a span."""
    many = 3 * (degree + 1)
    lengths = ca.vertsplit(y[many : many + 2 * degree - 1])
    held = [y[3 * i : 3 * i + 3] for i in range(degree + 1)]
    own = degree - 1
    return _around(lengths, own, degree), held, lengths[own]


def _ties(y: Any, p: Any, *, degree: int) -> Any:
    """What place and acceleration of an instant are off from those of the spline."""
    knots, held, length = _span(y, degree)
    place, _, pull = span_derivatives(knots, held, p[0] * length, 2)
    own = y[3 * (degree + 1) + 2 * degree - 1 :]
    return ca.vertcat(own[:3] - place, own[3:] - pull)


def _room(y: Any, p: Any, *, layout: PlanLayout) -> Any:
    """What is left to the sides beyond the margin: y is place, acceleration and margin."""
    measure = layout.measure
    x, margin = y[:3], y[6]
    force = layout.mass * (y[3:6] - ca.DM(layout.gravity))
    sides = ca.reshape(p, 7, layout.rows)
    moment, bound = sides[:3, :], sides[6, :]
    at = sides[3:6, :] - ca.skew(x) @ moment
    left = bound.T - at.T @ force
    if measure.fixed:
        return left - margin
    turning, pushing = measure.shares
    square = turning * ca.sum1(moment**2) + pushing * ca.sum1(at**2)
    return left - margin * ca.sqrt(square.T + 1e-12)


def _reach(y: Any, p: Any, *, reach: float) -> Any:
    away = y[:3] - y[3:6]
    return (reach - p[0]) ** 2 - ca.dot(away, away)


def _ramp_clearance(y: Any, p: Any, *, ramp: HeightRamp, sign: float) -> Any:
    height = ramp.level - ramp.drop * ca.atan(ramp.steepness * (y[0] - ramp.middle)) / np.pi
    return sign * (height - y[2]) - p[0]


def sample_times(instants: np.ndarray, fractions: np.ndarray) -> np.ndarray:
    """(count,), s: instants at fractions (spans, per_span) of the spans."""
    return (instants[:-1, None] + fractions * np.diff(instants)[:, None]).ravel()


def _around(lengths: list[Any], span: int, degree: int) -> list[Any]:
    """The 2 k knots around a span, counted from its start."""
    before: list[Any] = [0.0]
    for r in range(1, degree):
        before.append(before[-1] - lengths[span - r] if span - r >= 0 else before[-1])
    after: list[Any] = [lengths[span]]
    for r in range(1, degree):
        after.append(after[-1] + lengths[span + r] if span + r < len(lengths) else after[-1])
    return [*before[::-1], *after]


def _roughness(y: Any, p: Any, *, layout: PlanLayout) -> Any:
    """Integrals of squared velocity and jerk over a span, by a Gauss rule that is exact."""
    places, shares = np.polynomial.legendre.leggauss(layout.plan.degree)
    knots, held, length = _span(y, layout.plan.degree)
    weights = layout.weights
    total: Any = 0.0
    for place, share in zip((places + 1) / 2, shares / 2, strict=True):
        _, velocity, _, jerk = span_derivatives(knots, held, place * length, 3)
        term = weights.velocity * ca.dot(velocity, velocity) + weights.jerk * ca.dot(jerk, jerk)
        total += share * length * (term + weights.height * velocity[2] ** 2)
    return total
