"""Where a search for a path begins: over the supports that stay, one change after another."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.optimize import linprog

from homodyn.balance.com_planning.bspline import basis_matrix
from homodyn.balance.com_planning.margin_objective import MarginObjective
from homodyn.balance.com_planning.timing_problem import PlanCandidate, PlanLayout
from homodyn.balance.scene import ComPlanRequest, Scene
from homodyn.balance.stance import Stance
from homodyn.balance.support_areas import GroundAxes

TRAVEL_SPEED_M_PER_S = 0.5
"""m/s on the way from one support to the next."""


def stations(scene: Scene, plan: ComPlanRequest) -> np.ndarray:
    """(phases + 1, 3), m: start, a place over what stays at each change of support, finish.

    Its height is between those of start and finish by the share of the way, or that of the middle
    of the corridor.
    """
    level = GroundAxes.of(scene.gravity)
    over = [_over(before, after) for before, after in pairwise(scene.stances)]
    places = np.array([plan.start, *over, plan.finish], dtype=float)
    up = level.up
    flat = places - (places @ up)[:, None] * up
    way = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(flat, axis=0), axis=1))]
    if way[-1] < 1e-6:
        way = np.arange(len(places), dtype=float)
    share = way / way[-1]
    height = (1 - share) * float(plan.start @ up) + share * float(plan.finish @ up)
    found = flat + height[:, None] * up
    if plan.upper is not None and plan.lower is not None:
        middle = (plan.upper.height(found[:, 0]) + plan.lower.height(found[:, 0])) / 2
        found[1:-1, 2] = middle[1:-1]
    return found


def durations(scene: Scene, places: np.ndarray) -> np.ndarray:
    """(phases,), s: the shortest, or longer where the way is long."""
    shortest = np.array([step.shortest for step in scene.steps])
    way = np.linalg.norm(np.diff(places, axis=0), axis=1)
    return np.maximum(1.2 * shortest, 0.3 + way / TRAVEL_SPEED_M_PER_S)


def fit_spline(
    plan: ComPlanRequest, instants: np.ndarray, changes: np.ndarray, places: np.ndarray
) -> np.ndarray:
    """(control points, 3), m: a smooth spline that passes near places at changes (s)."""
    degree = plan.degree
    count = len(instants) - 1 + degree
    time = np.linspace(instants[0], instants[-1], 12 * len(instants))
    straight = np.column_stack([np.interp(time, changes, places[:, c]) for c in range(3)])
    near = basis_matrix(instants, degree, time)
    rough = basis_matrix(instants, degree, time, 2)
    rows = np.vstack([near, 0.02 * rough])
    target = np.vstack([straight, np.zeros_like(straight)])
    points = np.zeros((count, 3))
    first, last = 1 + plan.start_at_rest, 1 + plan.finish_at_rest
    points[:first], points[count - last :] = plan.start, plan.finish
    inner = slice(first, count - last)
    points[inner] = np.linalg.lstsq(rows[:, inner], target - rows @ points, rcond=None)[0]
    return points


def _over(before: Stance, after: Stance) -> np.ndarray:
    """The middle of the contacts that two stances share, or of the later ones."""
    stay = [p.middle for p in before.patches if p.name in after.names]
    if not stay:
        stay = [p.middle for p in after.patches]
    if not stay:
        stay = [after.reference]
    return np.asarray(np.mean(stay, axis=0))


def is_unsteady(
    scene: Scene, sides: list[np.ndarray], measure: MarginObjective, places: np.ndarray
) -> np.ndarray:
    """(phases,): True where the supports cannot hold the body at rest on the way."""
    still = -scene.mass * scene.gravity
    found = []
    for told, pair in zip(sides, pairwise(places), strict=True):
        ends = np.array([*pair, np.mean(pair, axis=0)])
        found.append(measure.distances(told, ends, np.tile(still, (3, 1))).min(axis=1).max() < 0)
    return np.array(found)


def maximize_margin(
    points: np.ndarray,
    layout: PlanLayout,
    changes: np.ndarray,
    sides: list[np.ndarray],
    *,
    rounds: int = 3,
    rows: int = 48,
) -> np.ndarray:
    """(control points, 3), m: for fixed durations, linear programs for the largest margin.

    The moment p x f is linear about the last path; steps are of 0.3 m at most. Only a start for the
    search with free durations: reach and corridor are left to it.
    """
    plan, measure, mass = layout.plan, layout.measure, layout.mass
    instants = PlanCandidate(points, np.diff(changes), 0.0).instants(layout.pieces)
    share = np.linspace(0, 1, 2 + 3 * layout.pieces)
    time = [a + share * (b - a) for a, b in pairwise(changes)]
    value = [basis_matrix(instants, plan.degree, t) for t in time]
    bend = [basis_matrix(instants, plan.degree, t, 2) for t in time]
    first, last = layout.fixed_points
    free = slice(first, len(points) - last)
    for _ in range(rounds):
        matrices, limits = [], []
        for told, basis, second in zip(sides, value, bend, strict=True):
            com, force = basis @ points, mass * (second @ points - layout.gravity)
            distances = measure.distances(told, com, force)
            near = np.argsort(distances, axis=1)[:, :rows]
            left = np.take_along_axis(distances, near, axis=1)
            kept = told[near]
            at = kept[..., 3:6] + np.cross(kept[..., :3], com[:, None])
            turn = np.cross(force[:, None], kept[..., :3])
            length = np.ones(near.shape)
            if not measure.fixed:
                turning, pushing = measure.shares
                square = turning * (kept[..., :3] ** 2).sum(-1) + pushing * (at**2).sum(-1)
                length = np.sqrt(np.maximum(square, 1e-24))
            # d(distance) = -(at . m d(acceleration) + (f x m) . d(place)) / length
            change = mass * at[..., None, :] * second[:, None, free, None]
            change = change + turn[..., None, :] * basis[:, None, free, None]
            change = change / length[..., None, None]
            matrices.append(change.reshape(left.size, -1))
            limits.append(left.ravel())
        rows_of = np.vstack(matrices)
        found = linprog(
            np.r_[np.zeros(rows_of.shape[1]), -1.0],
            A_ub=np.c_[rows_of, np.ones(len(rows_of))],
            b_ub=np.concatenate(limits),
            bounds=[(-0.3, 0.3)] * rows_of.shape[1] + [(None, None)],
            method="highs",
        )
        if found.status != 0:
            return points
        points = points.copy()
        points[free] += found.x[:-1].reshape(-1, 3)
    return points


def shorten_unsteady_phases(
    lasts: np.ndarray, unsteady: np.ndarray, shortest: np.ndarray
) -> np.ndarray:
    """Durations with those phases short in which the body falls, and time beside them to recover.

    Speed that is lost in a fall comes back at the rate that the supports around it can give; four
    times as long between two of them, twice at the ends, were good starts.
    """
    lasts = lasts.copy()
    for k in np.flatnonzero(unsteady):
        lasts[k] = shortest[k]
        for beside in (k - 1, k + 1):
            if 0 <= beside < len(lasts) and not unsteady[beside]:
                times = 4 if 0 < beside < len(lasts) - 1 else 2
                lasts[beside] = max(lasts[beside], times * lasts[k])
    return lasts
