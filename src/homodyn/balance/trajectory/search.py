"""The search for a timing-free path: start, solve, look densely, ask where it was weak, again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from homodyn.balance.scene import Scene
from homodyn.balance.trajectory import first_guess
from homodyn.balance.trajectory.bspline import Spline, basis_matrix
from homodyn.balance.trajectory.check import Check, check
from homodyn.balance.trajectory.timing_free import Candidate, Layout, Problem, sample_times

ENOUGH = 0.02
"""Share of the margin that a dense grid may lie below what the solver promised."""
MORE = 3
"""Rounds beyond those asked while a bound of length is still passed between the instants."""
LENGTH = 2e-7
"""m by which bounds of length are narrower in the solver than outside."""


@dataclass(frozen=True, eq=False)
class Found:
    """The best path of a search and how it came about."""

    spline: Spline
    durations: np.ndarray
    check: Check
    promised: float
    """The margin that the solver gave for its own instants."""
    rounds: int
    iterations: int
    status: str


def search(
    scene: Scene, layout: Layout, sides: Sequence[np.ndarray], *, rounds: int, pieces: int
) -> Found:
    """The best path found, with ``pieces`` spans in a phase after a first search with one."""
    sides = list(sides)
    coarse = replace(layout, pieces=1)
    begun = _start(scene, coarse, sides)
    if pieces == 1:
        return _settle(scene, coarse, sides, begun, rounds)
    found = _settle(scene, coarse, sides, begun, 1)
    fine = replace(layout, pieces=pieces)
    return _settle(scene, fine, sides, _refined(found, fine), rounds)


def _start(scene: Scene, layout: Layout, sides: list[np.ndarray]) -> Candidate:
    plan = layout.plan
    places = first_guess.stations(scene, plan)
    lasts = first_guess.durations(scene, places)
    held = first_guess.unsteady(scene, sides, layout.measure, places)
    lasts = np.clip(
        first_guess.hurried(lasts, held, layout.shortest), layout.shortest, layout.longest
    )
    changes = np.r_[0.0, np.cumsum(lasts)]
    instants = Candidate(np.zeros((0, 3)), lasts, 0.0).instants(layout.pieces)
    points = first_guess.fitted(plan, instants, changes, places)
    points = first_guess.balanced(points, layout, changes, sides)
    return Candidate(points, lasts, 0.0)


def _refined(found: Found, layout: Layout) -> Candidate:
    """The same path with more knots."""
    lasts, degree = found.durations, layout.plan.degree
    instants = Candidate(np.zeros((0, 3)), lasts, 0.0).instants(layout.pieces)
    share = np.linspace(0, 1, 2 * degree + 2)
    time = np.unique(np.concatenate([a + share * (b - a) for a, b in pairwise(instants)]))
    basis = basis_matrix(instants, degree, time)
    points = np.linalg.lstsq(basis, found.spline.at(time), rcond=None)[0]
    return Candidate(points, lasts, found.promised)


def _settle(
    scene: Scene, layout: Layout, sides: list[np.ndarray], candidate: Candidate, rounds: int
) -> Found:
    """Solve with fresh sides and instants until the dense grid keeps what the solver promised."""
    problem = Problem(layout)
    fractions = layout.fixed_fractions()
    tight = np.full(2, LENGTH)
    seen = look(scene, layout, sides, candidate)
    candidate = replace(candidate, margin=seen.smallest)
    best: tuple[tuple[bool, float], Candidate, Check] | None = None
    done, kept = 0, True
    while done < rounds or (not kept and done < rounds + MORE):
        done += 1
        told = nearest(layout, sides, candidate, fractions)
        candidate = problem.solve(candidate, fractions, told, tight)
        seen = look(scene, layout, sides, candidate)
        over = seen.tight
        kept = bool((over <= 1e-6).all())
        rank = (kept, seen.smallest if kept else -float(over.max()))
        if best is None or rank > best[0]:
            best = rank, candidate, seen
        short = candidate.margin - seen.smallest
        if kept and short <= ENOUGH * abs(candidate.margin):
            break
        fractions = weakest(layout, seen, fractions)
        tight = tight + np.where(over > 1e-6, 1.2 * over, 0.0)
    assert best is not None
    _, candidate, seen = best
    return Found(
        candidate.spline(layout.plan.degree, layout.pieces),
        candidate.durations,
        seen,
        candidate.margin,
        done,
        sum(problem.iterations),
        problem.statuses[-1],
    )


def look(scene: Scene, layout: Layout, sides: list[np.ndarray], candidate: Candidate) -> Check:
    """A candidate on the dense grid."""
    return check(
        candidate.spline(layout.plan.degree, layout.pieces),
        np.r_[0.0, np.cumsum(candidate.durations)],
        stances=scene.stances,
        sides=sides,
        measure=layout.measure,
        plan=layout.plan,
        mass=layout.mass,
        gravity=layout.gravity,
    )


def nearest(
    layout: Layout, sides: list[np.ndarray], candidate: Candidate, fractions: np.ndarray
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


def weakest(layout: Layout, seen: Check, fractions: np.ndarray) -> np.ndarray:
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
