"""Search for a timing-free path: solve, check on a dense grid, refine the constraints, repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from homodyn.balance.com_planning import initial_guess
from homodyn.balance.com_planning.plan_check import (
    LENGTH_TOLERANCE_M,
    PlanCheck,
    PlanConstraints,
    check_plan,
)
from homodyn.balance.com_planning.timing_problem import (
    PlanCandidate,
    PlanLayout,
    TimingProblem,
    knot_instants,
    sample_times,
)
from homodyn.motion.bspline import ComSpline, basis_matrix
from homodyn.motion.scene import SceneStep

RELATIVE_MARGIN_LOSS = 0.02
"""Fraction by which the margin on the dense grid may be below the margin of the solver."""
EXTRA_ROUNDS = 3
"""Additional rounds while a bound of length is violated between the sampled instants."""
LENGTH_RESERVE_M = 2e-7
"""Tightening of the bounds of length in the solver."""
TIGHTENING_FACTOR = 1.2
"""Factor of a violation by which its bound is tightened for the next round."""
CLOSE_BOUND_M = 1e-3
"""Slack of a bound of length below which a sampled instant is placed at it."""


@dataclass(frozen=True, eq=False)
class PlanSearchResult:
    """The best path of a search."""

    spline: ComSpline
    durations: np.ndarray
    """(phases,), s."""
    check: PlanCheck
    solver_margin: float
    """The margin at the sampled instants."""
    rounds: int
    iterations: int
    status: str


def search_plan(
    steps: Sequence[SceneStep],
    layout: PlanLayout,
    constraints: PlanConstraints,
    *,
    rounds: int,
    pieces: int,
) -> PlanSearchResult:
    """The best path found, with ``pieces`` spans per phase after a first search with one."""
    coarse = replace(layout, pieces=1)
    start = _initial_candidate(steps, coarse, constraints)
    if pieces == 1:
        return _iterate(coarse, constraints, start, rounds)
    first = _iterate(coarse, constraints, start, 1)
    fine = replace(layout, pieces=pieces)
    return _iterate(fine, constraints, _refine(first, fine), rounds)


def _initial_candidate(
    steps: Sequence[SceneStep], layout: PlanLayout, constraints: PlanConstraints
) -> PlanCandidate:
    plan = layout.plan
    places = initial_guess.waypoints(constraints)
    durations = initial_guess.travel_durations(steps, places)
    unstable = initial_guess.is_unstable_at_rest(constraints, places)
    durations = np.clip(
        initial_guess.shorten_unstable_phases(durations, unstable, layout.min_durations),
        layout.min_durations,
        layout.max_durations,
    )
    changes = np.r_[0.0, np.cumsum(durations)]
    instants = knot_instants(durations, layout.pieces)
    points = initial_guess.fit_spline(plan, instants, changes, places)
    points = initial_guess.maximize_margin(points, layout, changes, constraints.facets)
    return PlanCandidate(points, durations, 0.0)


def _refine(result: PlanSearchResult, layout: PlanLayout) -> PlanCandidate:
    """The same path with more knots."""
    degree = layout.plan.degree
    instants = knot_instants(result.durations, layout.pieces)
    fraction = np.linspace(0, 1, 2 * degree + 2)
    time = np.unique(np.concatenate([a + fraction * (b - a) for a, b in pairwise(instants)]))
    basis = basis_matrix(instants, degree, time)
    points = np.linalg.lstsq(basis, result.spline.at(time), rcond=None)[0]
    return PlanCandidate(points, result.durations, result.solver_margin)


def _iterate(
    layout: PlanLayout, constraints: PlanConstraints, candidate: PlanCandidate, rounds: int
) -> PlanSearchResult:
    """Solve with updated facets and instants until the dense grid confirms the solver's margin."""
    problem = TimingProblem(layout)
    fractions = layout.fixed_fractions()
    tightening = np.full(2, LENGTH_RESERVE_M)
    check = check_candidate(layout, constraints, candidate)
    candidate = replace(candidate, margin=check.smallest)
    best: tuple[tuple[bool, float], PlanCandidate, PlanCheck] | None = None
    count, feasible = 0, True
    while count < rounds or (not feasible and count < rounds + EXTRA_ROUNDS):
        count += 1
        facets = nearest_facets(layout, constraints, candidate, fractions)
        candidate = problem.solve(candidate, fractions, facets, tightening)
        check = check_candidate(layout, constraints, candidate)
        violations = check.length_violations
        feasible = bool((violations <= LENGTH_TOLERANCE_M).all())
        rank = (feasible, check.smallest if feasible else -float(violations.max()))
        if best is None or rank > best[0]:
            best = rank, candidate, check
        loss = candidate.margin - check.smallest
        if feasible and loss <= RELATIVE_MARGIN_LOSS * abs(candidate.margin):
            break
        fractions = weakest_instants(layout, check, fractions)
        tightening = tightening + np.where(
            violations > LENGTH_TOLERANCE_M, TIGHTENING_FACTOR * violations, 0.0
        )
    assert best is not None
    _, candidate, check = best
    return PlanSearchResult(
        candidate.spline(layout.plan.degree, layout.pieces),
        candidate.durations,
        check,
        candidate.margin,
        count,
        sum(problem.iterations),
        problem.statuses[-1],
    )


def check_candidate(
    layout: PlanLayout, constraints: PlanConstraints, candidate: PlanCandidate
) -> PlanCheck:
    """The constraints of a candidate on the dense grid."""
    spline = candidate.spline(layout.plan.degree, layout.pieces)
    return check_plan(spline, np.r_[0.0, np.cumsum(candidate.durations)], constraints)


def nearest_facets(
    layout: PlanLayout,
    constraints: PlanConstraints,
    candidate: PlanCandidate,
    fractions: np.ndarray,
) -> np.ndarray:
    """(count, rows, 7): the nearest facets of each instant; repeated where there are too few."""
    spline = candidate.spline(layout.plan.degree, layout.pieces)
    time = sample_times(spline.instants, fractions)
    com, force = spline.at(time), constraints.force(spline.at(time, 2))
    nearest = np.zeros((layout.count, layout.rows, 7))
    per_phase = layout.per_span * layout.pieces
    for k, facets in enumerate(constraints.facets):
        own = slice(k * per_phase, (k + 1) * per_phase)
        distances = layout.objective.distances(facets, com[own], force[own])
        order = np.argsort(distances, axis=1)[:, : layout.rows]
        order = np.resize(order.T, (layout.rows, per_phase)).T
        nearest[own] = facets[order]
    return nearest


def weakest_instants(layout: PlanLayout, check: PlanCheck, fractions: np.ndarray) -> np.ndarray:
    """Instants whose two moving ones per span are at the smallest margin and the tightest bound."""
    updated = fractions.copy()
    changes = np.r_[0.0, [check.time[check.phase == k][-1] for k in range(layout.phases)]]
    geometry = np.minimum(np.minimum(check.reach, check.headroom), check.clearance)
    for k in range(layout.phases):
        own = check.phase == k
        place = (check.time[own] - changes[k]) / (changes[k + 1] - changes[k]) * layout.pieces
        for piece in range(layout.pieces):
            inside = (place >= piece) & (place <= piece + 1)
            fraction = place[inside] - piece
            row = k * layout.pieces + piece
            minima = _two_minima(check.margin[own][inside])
            bounds = geometry[own][inside]
            bounded = np.isfinite(bounds).any() and float(bounds.min()) < CLOSE_BOUND_M
            other = int(bounds.argmin()) if bounded else minima[1]
            updated[row, -2:] = fraction[minima[0]], fraction[other]
    return updated


def _two_minima(values: np.ndarray) -> tuple[int, int]:
    """Index of the smallest value, and of the smallest one that is not close to it."""
    first = int(values.argmin())
    distant = np.abs(np.arange(len(values)) - first) > len(values) // 6
    return first, int(np.where(distant, values, np.inf).argmin())
