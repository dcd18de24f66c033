"""Construction of the wrench set of a stance from the force generators of its supports.

The set is the Minkowski sum of the sets of its budgets. If the sums of their extreme wrenches are
few, the set is the hull of all of them. Otherwise its vertices are found by walks over its normal
fan, and a hull with the support function proves that none is missing. Limits that are not budgets
are handled by linear programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from homodyn.balance.polytopes.convex_hull import convex_hull
from homodyn.balance.polytopes.linear_program import Unbounded
from homodyn.balance.polytopes.minkowski_hull import minkowski_sum_hull
from homodyn.balance.polytopes.polytope import Polytope
from homodyn.balance.polytopes.projection import (
    TooManyVertices,
    polytope_from_support_function,
    project,
)
from homodyn.balance.stance import ContactForceSet, ForceBudget
from homodyn.errors import NoSolution

Budgets = tuple[ForceBudget, ...]
Method = Literal["auto", "hull", "shooting", "programs"]
MAX_SUMS_BEFORE_PRUNING = 400
"""Sums of generators above which intermediate hulls remove those that are not extreme."""
MAX_SUMS_FOR_HULL = 2000
"""Sums of generators up to which their hull is faster than shooting."""
RANDOM_DIRECTIONS = 30000
"""Random directions evaluated before the first hull where a budget has too many extremes."""
MAX_VERTICES = 2000
"""Vertices above which a set is refused: its thousands of facets would take more than seconds."""


def construct_wrench_polytope(
    forces: ContactForceSet,
    method: Method = "auto",
    *,
    where: str = "the stance",
    max_vertices: int = MAX_VERTICES,
) -> Polytope:
    """All wrenches (moment about the reference, force) of weights within their limits."""
    budgets = forces.budgets
    if method == "auto":
        method = (
            "programs"
            if budgets is None
            else "hull"
            if _has_few_sums(forces, budgets)
            else "shooting"
        )
    elif method == "hull" and not all(budget.has_one_part for budget in budgets or ()):
        raise NoSolution(
            "method 'hull' does not support limits of single contacts together with a common "
            "limit; use 'auto'"
        )
    elif method != "programs" and budgets is None:
        raise NoSolution(f"method {method!r} does not support moment or torque limits; use 'auto'")
    try:
        if method == "programs" or budgets is None:
            return _by_linear_programs(forces, max_vertices)
        if method == "hull":
            return _by_hull(forces, budgets)
        return _by_support_function(forces, budgets, max_vertices)
    except TooManyVertices as error:
        raise NoSolution(
            f"the wrench set of {where} has {error}: give contacts a common limit of the normal "
            "force or grasps no moment, or allow more vertices with max_vertices, which takes "
            "longer; Stance.distribute tests single wrenches"
        ) from None


def _has_few_sums(forces: ContactForceSet, budgets: Budgets) -> bool:
    """Whether all sums of loaded generators are few enough to enumerate them."""
    if not all(budget.has_one_part for budget in budgets):
        return False
    limited, rays = _budget_extremes(forces, budgets)
    return (
        float(np.prod([float(len(extremes)) for extremes in limited])) * (len(rays) + 1)
        <= MAX_SUMS_FOR_HULL
    )


def _budget_extremes(
    forces: ContactForceSet, budgets: Budgets
) -> tuple[list[np.ndarray], np.ndarray]:
    """The extreme wrenches of each budget with a limit, and the rays of those without."""
    limited, rays = [], [np.zeros((0, 6))]
    for budget in budgets:
        if budget.unbounded:
            rays += [forces.wrenches[own] for own, _ in budget.parts]
            continue
        ((own, limit),) = budget.parts
        generators = forces.wrenches[own]
        limited.append(_single_part_extremes(generators, limit))
    return limited, np.concatenate(rays)


def _single_part_extremes(generators: np.ndarray, limit: float) -> np.ndarray:
    """Zero and the loaded generators; zero lies between the two directions of a grasp axis."""
    opposed = len(generators) == 2 and np.array_equal(generators[0], -generators[1])
    return np.vstack([np.zeros((0 if opposed else 1, 6)), limit * generators])


def _extremes(forces: ContactForceSet, budget: ForceBudget) -> np.ndarray | None:
    """(extremes, 6): wrenches of a limited budget whose convex hull is the set of the budget.

    Some parts are at their limit, and one more takes the remainder of the total. None where there
    are too many.
    """
    limits = [limit for _, limit in budget.parts]
    generators = [forces.wrenches[own] for own, _ in budget.parts]
    if budget.has_one_part:
        return _single_part_extremes(generators[0], limits[0])
    sums = []
    parts = set(range(len(limits)))
    for count in range(len(limits) + 1):
        for full in combinations(range(len(limits)), count):
            remainder = budget.total - sum(limits[k] for k in full)
            if remainder < 0:
                continue
            loaded = [limits[k] * generators[k] for k in full]
            partial = [
                remainder * generators[k] for k in parts - set(full) if remainder < limits[k]
            ]
            for chosen in ([*loaded, more] for more in partial) if partial else [loaded]:
                if np.prod([len(part) for part in chosen], initial=1.0) > MAX_SUMS_FOR_HULL:
                    return None
                sums.append(_sums(chosen))
            sums.append(_sums(loaded))
    extremes = np.unique(np.vstack(sums), axis=0)
    return extremes if len(extremes) <= MAX_SUMS_FOR_HULL else None


def _sums(parts: Sequence[np.ndarray]) -> np.ndarray:
    total = np.zeros((1, 6))
    for part in parts:
        total = (total[:, None] + part[None]).reshape(-1, 6)
    return total


def _by_hull(forces: ContactForceSet, budgets: Budgets) -> Polytope:
    limited, rays = _budget_extremes(forces, budgets)
    points = np.zeros((1, 6))
    for extremes in sorted(limited, key=len):
        if len(points) * len(extremes) > MAX_SUMS_BEFORE_PRUNING:
            points = points[convex_hull(points).vertices]
        points = (points[:, None] + extremes[None]).reshape(-1, 6)
    return Polytope.from_points(points, rays)


def _by_support_function(forces: ContactForceSet, budgets: Budgets, max_vertices: int) -> Polytope:
    """Support function of a sum of sets: the sum of the extreme wrenches of each budget.

    Budgets without a limit consist of rays. These are truncated, and facets of the truncation are
    removed, as in the hull of points and rays.
    """
    bounded = [budget for budget in budgets if not budget.unbounded]
    reach = max((limit for b in bounded for _, limit in b.parts), default=1.0)
    free = [own for b in budgets if b.unbounded for own, _ in b.parts]
    if free:
        bounded.append(ForceBudget(((np.concatenate(free), reach),), reach))

    def support(directions: np.ndarray) -> np.ndarray:
        return sum(
            (_support_of_budget(forces, budget, directions) for budget in bounded), np.zeros(6)
        )

    extremes = [_extremes(forces, budget) for budget in bounded]
    parts = [part for part in extremes if part is not None]
    if len(parts) == len(extremes):
        known, hull = minkowski_sum_hull(parts, max_vertices=max_vertices)
    else:
        hull = None
        random = np.random.default_rng(0).normal(size=(RANDOM_DIRECTIONS, 6))
        known = np.unique(support(random / np.abs(forces.wrenches).max(axis=0)), axis=0)
    shape = polytope_from_support_function(
        support, 6, known=known, hull=hull, max_vertices=max_vertices
    )
    if not free:
        return shape
    rays = forces.wrenches[np.concatenate(free)]
    rays = rays / np.linalg.norm(rays, axis=1)[:, None]
    facets = (shape.A @ rays.T).max(axis=1) <= 1e-9
    vertices = shape.vertices
    for ray in rays:
        vertices = vertices[~shape.contains(vertices - 1e-3 * reach * ray)]
    if not len(vertices):
        vertices = np.zeros((1, 6))
    return Polytope(shape.A[facets], shape.b[facets], vertices, shape.E, shape.e, rays)


def _support_of_budget(
    forces: ContactForceSet, budget: ForceBudget, directions: np.ndarray
) -> np.ndarray:
    """(directions, 6): the wrench of a budget that is extreme along each direction.

    The best generator of every part is loaded, parts with the largest gain first, each up to its
    limit, until the total is reached.
    """
    count = np.arange(len(directions))
    gains, best_generators = [], []
    for own, _ in budget.parts:
        generators = forces.wrenches[own]
        products = directions @ generators.T
        best = products.argmax(axis=1)
        gains.append(products[count, best])
        best_generators.append(generators[best])
    gain, generator = np.stack(gains), np.stack(best_generators)
    order = np.argsort(-gain, axis=0)
    remainder = np.full(len(directions), budget.total if not budget.has_one_part else np.inf)
    limits = np.array([limit for _, limit in budget.parts])
    total = np.zeros((len(directions), 6))
    for choice in order:
        weight = np.where(gain[choice, count] > 0, np.minimum(limits[choice], remainder), 0.0)
        total += weight[:, None] * generator[choice, count]
        remainder = remainder - weight
    return total


def _by_linear_programs(forces: ContactForceSet, max_vertices: int) -> Polytope:
    k = len(forces.wrenches)
    # Weights in units of the largest limit: all numbers of the programs are then near one.
    unit = float(np.abs(forces.d).max(initial=0.0)) or 1.0
    rows, bounds = np.vstack([-np.eye(k), forces.C]), np.r_[np.zeros(k), forces.d / unit]
    try:
        return project(rows, bounds, unit * forces.wrenches.T, max_vertices=max_vertices).polytope
    except Unbounded:
        raise Unbounded(
            "a normal force has no limit, although there are other limits: give every contact, or "
            "the stance, a limit (N)"
        ) from None
