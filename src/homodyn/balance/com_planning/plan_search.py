"""The search for a timing-free path: start, solve, look densely, ask where it was weak, again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from homodyn.balance.com_planning import initial_guess
from homodyn.balance.com_planning.bspline import ComSpline, basis_matrix
from homodyn.balance.com_planning.plan_check import PlanCheck, check_plan
from homodyn.balance.com_planning.timing_problem import (
    PlanCandidate,
    PlanLayout,
    TimingProblem,
    sample_times,
)
from homodyn.balance.scene import Scene

RELATIVE_MARGIN_LOSS = 0.02
"""Share of the margin that a dense grid may lie below what the solver promised."""
EXTRA_ROUNDS = 3
"""Rounds beyond those asked while a bound of length is still passed between the instants."""
LENGTH_RESERVE_M = 2e-7
"""m by which bounds of length are narrower in the solver than outside."""


@dataclass(frozen=True, eq=False)
class PlanSearchResult:
    """The best path of a search and how it came about."""

    spline: ComSpline
    durations: np.ndarray
    check: PlanCheck
    promised: float
    """The margin that the solver gave for its own instants."""
    rounds: int
    iterations: int
    status: str


def search_plan(
    scene: Scene, layout: PlanLayout, sides: Sequence[np.ndarray], *, rounds: int, pieces: int
) -> PlanSearchResult:
    """The best path found, with ``pieces`` spans in a phase after a first search with one."""
    sides = list(sides)
    coarse = replace(layout, pieces=1)
    begun = _start(scene, coarse, sides)
    if pieces == 1:
        return _iterate(scene, coarse, sides, begun, rounds)
    found = _iterate(scene, coarse, sides, begun, 1)
    fine = replace(layout, pieces=pieces)
    return _iterate(scene, fine, sides, _refine(found, fine), rounds)


def _start(scene: Scene, layout: PlanLayout, sides: list[np.ndarray]) -> PlanCandidate:
    plan = layout.plan
    places = initial_guess.stations(scene, plan)
    lasts = initial_guess.durations(scene, places)
    held = initial_guess.is_unsteady(scene, sides, layout.measure, places)
    lasts = np.clip(
        initial_guess.shorten_unsteady_phases(lasts, held, layout.shortest),
        layout.shortest,
        layout.longest,
    )
    changes = np.r_[0.0, np.cumsum(lasts)]
    instants = PlanCandidate(np.zeros((0, 3)), lasts, 0.0).instants(layout.pieces)
    points = initial_guess.fit_spline(plan, instants, changes, places)
    points = initial_guess.maximize_margin(points, layout, changes, sides)
    return PlanCandidate(points, lasts, 0.0)


def _refine(found: PlanSearchResult, layout: PlanLayout) -> PlanCandidate:
    """The same path with more knots."""
    lasts, degree = found.durations, layout.plan.degree
    instants = PlanCandidate(np.zeros((0, 3)), lasts, 0.0).instants(layout.pieces)
    share = np.linspace(0, 1, 2 * degree + 2)
    time = np.unique(np.concatenate([a + share * (b - a) for a, b in pairwise(instants)]))
    basis = basis_matrix(instants, degree, time)
    points = np.linalg.lstsq(basis, found.spline.at(time), rcond=None)[0]
    return PlanCandidate(points, lasts, found.promised)


def _iterate(
    scene: Scene, layout: PlanLayout, sides: list[np.ndarray], candidate: PlanCandidate, rounds: int
) -> PlanSearchResult:
    """Solve with fresh sides and instants until the dense grid keeps what the solver promised."""
    problem = TimingProblem(layout)
    fractions = layout.fixed_fractions()
    tight = np.full(2, LENGTH_RESERVE_M)
    seen = check_candidate(scene, layout, sides, candidate)
    candidate = replace(candidate, margin=seen.smallest)
    best: tuple[tuple[bool, float], PlanCandidate, PlanCheck] | None = None
    done, kept = 0, True
    while done < rounds or (not kept and done < rounds + EXTRA_ROUNDS):
        done += 1
        told = nearest_sides(layout, sides, candidate, fractions)
        candidate = problem.solve(candidate, fractions, told, tight)
        seen = check_candidate(scene, layout, sides, candidate)
        over = seen.tight
        kept = bool((over <= 1e-6).all())
        rank = (kept, seen.smallest if kept else -float(over.max()))
        if best is None or rank > best[0]:
            best = rank, candidate, seen
        short = candidate.margin - seen.smallest
        if kept and short <= RELATIVE_MARGIN_LOSS * abs(candidate.margin):
            break
        fractions = weakest_instants(layout, seen, fractions)
        tight = tight + np.where(over > 1e-6, 1.2 * over, 0.0)
    assert best is not None
    _, candidate, seen = best
    return PlanSearchResult(
        candidate.spline(layout.plan.degree, layout.pieces),
        candidate.durations,
        seen,
        candidate.margin,
        done,
        sum(problem.iterations),
        problem.statuses[-1],
    )


def check_candidate(
    scene: Scene, layout: PlanLayout, sides: list[np.ndarray], candidate: PlanCandidate
) -> PlanCheck:
    """A candidate on the dense grid."""
    return check_plan(
        candidate.spline(layout.plan.degree, layout.pieces),
        np.r_[0.0, np.cumsum(candidate.durations)],
        stances=scene.stances,
        sides=sides,
        measure=layout.measure,
        plan=layout.plan,
        mass=layout.mass,
        gravity=layout.gravity,
    )


def nearest_sides(
    layout: PlanLayout, sides: list[np.ndarray], candidate: PlanCandidate, fractions: np.ndarray
) -> np.ndarray:
    """(count, rows, 7): for each instant the sides that are nearest; a few may be told twice."""
    spline = candidate.spline(layout.plan.degree, layout.pieces)
    time = sample_times(spline.instants, fractions)
    com, force = spline.at(time), layout.mass * (spline.at(time, 2) - layout.gravity)
    found = np.zeros((layout.count, layout.rows, 7))
    many = layout.per_span * layout.pieces
    for k, told in enumerate(sides):
        mine = slice(k * many, (k + 1) * many)
        distances = layout.measure.distances(told, com[mine], force[mine])
        order = np.argsort(distances, axis=1)[:, : layout.rows]
        order = np.resize(order.T, (layout.rows, many)).T
        found[mine] = told[order]
    return found


def weakest_instants(layout: PlanLayout, seen: PlanCheck, fractions: np.ndarray) -> np.ndarray:
    """Instants with the two that move put where the margin, and the rest, is smallest in a span."""
    moved = fractions.copy()
    changes = np.r_[0.0, [seen.time[seen.phase == k][-1] for k in range(layout.phases)]]
    geometry = np.minimum(np.minimum(seen.reach, seen.headroom), seen.clearance)
    for k in range(layout.phases):
        mine = seen.phase == k
        share = (seen.time[mine] - changes[k]) / (changes[k + 1] - changes[k]) * layout.pieces
        for piece in range(layout.pieces):
            held = (share >= piece) & (share <= piece + 1)
            where = share[held] - piece
            row = k * layout.pieces + piece
            low = _dips(seen.margin[mine][held])
            second = geometry[mine][held]
            bounded = np.isfinite(second).any() and float(second.min()) < 1e-3
            other = int(second.argmin()) if bounded else low[1]
            moved[row, -2:] = where[low[0]], where[other]
    return moved


def _dips(values: np.ndarray) -> tuple[int, int]:
    """The lowest instant and the lowest that is not beside it."""
    first = int(values.argmin())
    away = np.abs(np.arange(len(values)) - first) > len(values) // 6
    rest = np.where(away, values, np.inf)
    return first, int(rest.argmin())
