"""Initial guess of a path: over the supports that two consecutive stances share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.optimize import linprog

from homodyn.balance.com_planning.plan_check import PlanConstraints
from homodyn.balance.com_planning.timing_problem import PlanLayout, knot_instants
from homodyn.balance.stance import Stance
from homodyn.balance.support_areas import GroundAxes
from homodyn.motion.bspline import basis_matrix
from homodyn.motion.scene import ComPlanRequest, SceneStep

TRAVEL_SPEED_M_PER_S = 0.5
"""Assumed speed from one support to the next."""
MIN_TRAVEL_TIME_S = 0.3
"""Assumed duration of a phase without displacement."""
MIN_DURATION_FACTOR = 1.2
"""Initial duration of a phase over its minimum duration."""
ROUGHNESS_WEIGHT = 0.02
"""Weight of the acceleration of the fitted spline (s2)."""
MAX_POINT_STEP_M = 0.3
"""Largest change of a control point in one linear program."""
MARGIN_PROGRAMS = 3
"""Linear programs for the largest margin."""
NEAREST_FACETS = 48
"""Facets that are constraints at each instant of these programs."""
RECOVERY_FACTORS = (2, 4)
"""Duration of a phase next to an unstable one over the duration of that one: at the ends of the
sequence, and between two phases. Found by trial."""


def waypoints(constraints: PlanConstraints) -> np.ndarray:
    """(phases + 1, 3), m: start, a position over the common supports of each change, finish.

    Heights are interpolated between start and finish, or in the middle of the corridor.
    """
    plan = constraints.plan
    up = GroundAxes.of(constraints.gravity).up
    changes = [_common_middle(before, after) for before, after in pairwise(constraints.stances)]
    places = np.array([plan.start, *changes, plan.finish], dtype=float)
    flat = places - (places @ up)[:, None] * up
    distance = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(flat, axis=0), axis=1))]
    if distance[-1] < 1e-6:
        distance = np.arange(len(places), dtype=float)
    fraction = distance / distance[-1]
    height = (1 - fraction) * float(plan.start @ up) + fraction * float(plan.finish @ up)
    found = flat + height[:, None] * up
    if plan.upper is not None and plan.lower is not None:
        middle = (plan.upper.height(found[:, 0]) + plan.lower.height(found[:, 0])) / 2
        found[1:-1, 2] = middle[1:-1]
    return found


def travel_durations(steps: Sequence[SceneStep], places: np.ndarray) -> np.ndarray:
    """(phases,), s: longer than the minimum, and in proportion to the distance."""
    minimum = np.array([step.min_duration for step in steps])
    distance = np.linalg.norm(np.diff(places, axis=0), axis=1)
    travel = MIN_TRAVEL_TIME_S + distance / TRAVEL_SPEED_M_PER_S
    return np.maximum(MIN_DURATION_FACTOR * minimum, travel)


def fit_spline(
    plan: ComPlanRequest, instants: np.ndarray, changes: np.ndarray, places: np.ndarray
) -> np.ndarray:
    """(control points, 3), m: a smooth spline that passes near places at changes of support (s)."""
    degree = plan.degree
    count = len(instants) - 1 + degree
    time = np.linspace(instants[0], instants[-1], 12 * len(instants))
    straight = np.column_stack([np.interp(time, changes, places[:, c]) for c in range(3)])
    position = basis_matrix(instants, degree, time)
    acceleration = basis_matrix(instants, degree, time, 2)
    rows = np.vstack([position, ROUGHNESS_WEIGHT * acceleration])
    target = np.vstack([straight, np.zeros_like(straight)])
    points = np.zeros((count, 3))
    first, last = 1 + plan.start_at_rest, 1 + plan.finish_at_rest
    points[:first], points[count - last :] = plan.start, plan.finish
    inner = slice(first, count - last)
    points[inner] = np.linalg.lstsq(rows[:, inner], target - rows @ points, rcond=None)[0]
    return points


def _common_middle(before: Stance, after: Stance) -> np.ndarray:
    """The mean of the contacts that two stances share, or of the later ones."""
    middles = [p.middle for p in before.patches if p.name in after.names]
    if not middles:
        middles = [p.middle for p in after.patches]
    if not middles:
        middles = [after.reference]
    return np.asarray(np.mean(middles, axis=0))


def is_unstable_at_rest(constraints: PlanConstraints, places: np.ndarray) -> np.ndarray:
    """(phases,): True where the supports cannot carry the body at rest between two waypoints."""
    weight = np.tile(constraints.force(np.zeros(3)), (3, 1))
    unstable = []
    for facets, pair in zip(constraints.facets, pairwise(places), strict=True):
        positions = np.array([*pair, np.mean(pair, axis=0)])
        distances = constraints.objective.distances(facets, positions, weight)
        unstable.append(distances.min(axis=1).max() < 0)
    return np.array(unstable)


def maximize_margin(
    points: np.ndarray, layout: PlanLayout, changes: np.ndarray, facets: Sequence[np.ndarray]
) -> np.ndarray:
    """(control points, 3), m: for fixed durations, linear programs for the largest margin.

    The moment p x f is linearized about the last path. This is only an initial guess for the search
    with free durations, which also imposes reach and corridor.
    """
    degree = layout.plan.degree
    instants = knot_instants(np.diff(changes), layout.pieces)
    fraction = np.linspace(0, 1, 2 + 3 * layout.pieces)
    time = [a + fraction * (b - a) for a, b in pairwise(changes)]
    bases = [
        (basis_matrix(instants, degree, t), basis_matrix(instants, degree, t, 2)) for t in time
    ]
    first, last = layout.fixed_points
    free = slice(first, len(points) - last)
    for _ in range(MARGIN_PROGRAMS):
        parts = [
            _linearized_distances(points, layout, rows, basis, free)
            for rows, basis in zip(facets, bases, strict=True)
        ]
        matrix = np.vstack([rows for rows, _ in parts])
        solution = linprog(
            np.r_[np.zeros(matrix.shape[1]), -1.0],
            A_ub=np.c_[matrix, np.ones(len(matrix))],
            b_ub=np.concatenate([slack for _, slack in parts]),
            bounds=[(-MAX_POINT_STEP_M, MAX_POINT_STEP_M)] * matrix.shape[1] + [(None, None)],
            method="highs",
        )
        if solution.status != 0:
            return points
        points = points.copy()
        points[free] += solution.x[:-1].reshape(-1, 3)
    return points


def _linearized_distances(
    points: np.ndarray,
    layout: PlanLayout,
    facets: np.ndarray,
    basis: tuple[np.ndarray, np.ndarray],
    free: slice,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows over the free control points, and distances, of the nearest facets of a phase.

    d(distance) = -(at_com . m d(acceleration) + (f x m) . d(position)) / length.
    """
    position, second = basis
    com = position @ points
    force = layout.mass * (second @ points - layout.gravity)
    distances = layout.objective.distances(facets, com, force)
    order = np.argsort(distances, axis=1)[:, :NEAREST_FACETS]
    slack = np.take_along_axis(distances, order, axis=1)
    nearest = facets[order]
    moment = nearest[..., :3]
    at_com = nearest[..., 3:6] + np.cross(moment, com[:, None])
    lever = np.cross(force[:, None], moment)
    length = layout.objective.row_lengths(moment, at_com)
    change = layout.mass * at_com[..., None, :] * second[:, None, free, None]
    change = change + lever[..., None, :] * position[:, None, free, None]
    change = change / length[..., None, None]
    return change.reshape(slack.size, -1), slack.ravel()


def shorten_unstable_phases(
    durations: np.ndarray, unstable: np.ndarray, min_durations: np.ndarray
) -> np.ndarray:
    """Durations with minimum time for phases in which the body falls, and time to recover.

    Momentum lost in a fall is regained at the rate that the supports before and after it allow.
    """
    durations = durations.copy()
    at_ends, between = RECOVERY_FACTORS
    for k in np.flatnonzero(unstable):
        durations[k] = min_durations[k]
        for neighbor in (k - 1, k + 1):
            if 0 <= neighbor < len(durations) and not unstable[neighbor]:
                factor = between if 0 < neighbor < len(durations) - 1 else at_ends
                durations[neighbor] = max(durations[neighbor], factor * durations[k])
    return durations
