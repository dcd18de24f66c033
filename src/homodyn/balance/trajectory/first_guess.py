"""Where a search for a path begins: over the supports that stay, one change after another."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from homodyn.balance.polygons import Level
from homodyn.balance.scene import Plan, Scene
from homodyn.balance.stance import Stance
from homodyn.balance.trajectory.bspline import basis_matrix

SPEED = 0.5
"""m/s on the way from one support to the next."""


def stations(scene: Scene, plan: Plan) -> np.ndarray:
    """(phases + 1, 3), m: start, a place over what stays at each change of support, finish.

    Its height is between those of start and finish by the share of the way, or that of the middle
    of the corridor.
    """
    level = Level.of(scene.gravity)
    places = [plan.start]
    places += [_over(before, after) for before, after in pairwise(scene.stances)]
    places = np.array([*places, plan.finish], dtype=float)
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
    return np.maximum(1.2 * shortest, 0.3 + way / SPEED)


def fitted(plan: Plan, instants: np.ndarray, changes: np.ndarray, places: np.ndarray) -> np.ndarray:
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
