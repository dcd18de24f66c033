"""How the set of wrenches of a stance is found from the generators of its supports.

A set is the sum of the sets of its budgets. Where the sums of their extreme wrenches are few, the
hull of all of them is the set; else its vertices are found by walks over the fan of their normals,
and a hull with the support function proves that none is missing. Limits that are no budgets are
left to linear programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from homodyn.balance.polytopes.convex_hull import convex_hull
from homodyn.balance.polytopes.linear_program import Unbounded
from homodyn.balance.polytopes.minkowski_sum import minkowski_sum_hull
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
"""Sums of generators above which those that are not extreme are dropped on the way."""
MAX_SUMS_FOR_HULL = 2000
"""Sums of generators up to which their hull is faster than shooting."""
SCOUTING_DIRECTIONS = 30000
"""Random directions to ask before the first hull, where the parts of a sum are too many."""
MAX_VERTICES = 2000
"""Vertices above which a set is refused: its thousands of sides would take longer than seconds."""


def construct_wrench_polytope(
    forces: ContactForceSet,
    method: Method = "auto",
    *,
    where: str = "the stance",
    largest: int = MAX_VERTICES,
) -> Polytope:
    """All wrenches (moment about the reference, force) that weights within their limits give."""
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
        raise NoSolution("method 'hull' cannot do limits of each beside one of all; use 'auto'")
    elif method != "programs" and budgets is None:
        raise NoSolution(f"method {method!r} cannot do moment or torque limits; use 'auto'")
    try:
        if method == "programs" or budgets is None:
            return _by_linear_programs(forces, largest)
        if method == "hull":
            return _by_hull(forces, budgets)
        return _by_support_function(forces, budgets, largest)
    except TooManyVertices as error:
        raise NoSolution(
            f"{where} can give a set of wrenches with {error}: let contacts share one limit of "
            "normal force, give grasps no moment, or allow more with largest= and take the time; "
            "single wrenches can be asked of Stance.distribute"
        ) from None


def _has_few_sums(forces: ContactForceSet, budgets: Budgets) -> bool:
    """Whether all sums of loaded generators are few enough to make them one by one."""
    if not all(budget.has_one_part for budget in budgets):
        return False
    limited, rays = _budget_extremes(forces, budgets)
    return (
        float(np.prod([float(len(ends)) for ends in limited])) * (len(rays) + 1)
        <= MAX_SUMS_FOR_HULL
    )


def _budget_extremes(
    forces: ContactForceSet, budgets: Budgets
) -> tuple[list[np.ndarray], np.ndarray]:
    """For each budget with a limit the extreme wrenches it can give, and rays for those without."""
    limited, rays = [], [np.zeros((0, 6))]
    for budget in budgets:
        if budget.unbounded:
            rays += [forces.wrenches[own] for own, _ in budget.parts]
            continue
        ((own, limit),) = budget.parts
        generators = forces.wrenches[own]
        # The two ways of an axis of a grasp have rest between them.
        opposed = len(own) == 2 and np.array_equal(generators[0], -generators[1])
        rest = np.zeros((0 if opposed else 1, 6))
        limited.append(np.vstack([rest, limit * generators]))
    return limited, np.concatenate(rays)


def _extremes(forces: ContactForceSet, budget: ForceBudget) -> np.ndarray | None:
    """(ends, 6): the wrenches of a budget with limits of which all others are mixtures.

    Some parts are spent to their limit, and one more with what is then left of the total. None
    where that makes too many.
    """
    limits = [limit for _, limit in budget.parts]
    gens = [forces.wrenches[own] for own, _ in budget.parts]
    if budget.has_one_part:
        ends = limits[0] * gens[0]
        opposed = len(ends) == 2 and np.array_equal(ends[0], -ends[1])
        return ends if opposed else np.vstack([np.zeros((1, 6)), ends])
    found = []
    for count in range(len(limits) + 1):
        for full in combinations(range(len(limits)), count):
            left = budget.total - sum(limits[k] for k in full)
            if left < 0:
                continue
            spent = [limits[k] * gens[k] for k in full]
            last = [left * gens[k] for k in set(range(len(limits))) - set(full) if left < limits[k]]
            for chosen in ([*spent, more] for more in last) if last else [spent]:
                if np.prod([len(part) for part in chosen], initial=1.0) > MAX_SUMS_FOR_HULL:
                    return None
                found.append(_sums(chosen))
            found.append(_sums(spent))
    ends = np.unique(np.vstack(found), axis=0)
    return ends if len(ends) <= MAX_SUMS_FOR_HULL else None


def _sums(parts: Sequence[np.ndarray]) -> np.ndarray:
    total = np.zeros((1, 6))
    for part in parts:
        total = (total[:, None] + part[None]).reshape(-1, 6)
    return total


def _by_hull(forces: ContactForceSet, budgets: Budgets) -> Polytope:
    limited, rays = _budget_extremes(forces, budgets)
    points = np.zeros((1, 6))
    for ends in sorted(limited, key=len):
        if len(points) * len(ends) > MAX_SUMS_BEFORE_PRUNING:
            points = points[convex_hull(points).vertices]
        points = (points[:, None] + ends[None]).reshape(-1, 6)
    return Polytope.from_points(points, rays)


def _by_support_function(forces: ContactForceSet, budgets: Budgets, largest: int) -> Polytope:
    """Support function of a sum of sets: the sum of the farthest wrenches of each budget.

    Budgets without a limit are made of rays: these are cut, and sides that the cut makes are left
    out, as in the hull of points and rays.
    """
    ended = [budget for budget in budgets if not budget.unbounded]
    reach = max((limit for b in ended for _, limit in b.parts), default=1.0)
    free = [own for b in budgets if b.unbounded for own, _ in b.parts]
    if free:
        ended.append(ForceBudget(((np.concatenate(free), reach),), reach))

    def farthest(directions: np.ndarray) -> np.ndarray:
        return sum(
            (_support_of_budget(forces, budget, directions) for budget in ended), np.zeros(6)
        )

    parts = [_extremes(forces, budget) for budget in ended]
    told = [part for part in parts if part is not None]
    if len(told) == len(parts):
        known, sides = minkowski_sum_hull(told, at_most=largest)
    else:
        sides = None
        random = np.random.default_rng(0).normal(size=(SCOUTING_DIRECTIONS, 6))
        known = np.unique(farthest(random / np.abs(forces.wrenches).max(axis=0)), axis=0)
    shape = polytope_from_support_function(farthest, 6, known=known, sides=sides, largest=largest)
    if not free:
        return shape
    rays = forces.wrenches[np.concatenate(free)]
    rays = rays / np.linalg.norm(rays, axis=1)[:, None]
    true = (shape.A @ rays.T).max(axis=1) <= 1e-9
    used = shape.vertices
    for ray in rays:
        used = used[~shape.contains(used - 1e-3 * reach * ray)]
    if not len(used):
        used = np.zeros((1, 6))
    return Polytope(shape.A[true], shape.b[true], used, shape.E, shape.e, rays)


def _support_of_budget(
    forces: ContactForceSet, budget: ForceBudget, directions: np.ndarray
) -> np.ndarray:
    """(directions, 6): the wrench of a budget that goes farthest along each direction.

    Every part offers its best generator; the dearest offers are bought first, each up to its
    limit, until the total is spent.
    """
    count = np.arange(len(directions))
    gains, offers = [], []
    for own, _ in budget.parts:
        generators = forces.wrenches[own]
        worth = directions @ generators.T
        best = worth.argmax(axis=1)
        gains.append(worth[count, best])
        offers.append(generators[best])
    gain, offer = np.stack(gains), np.stack(offers)
    order = np.argsort(-gain, axis=0)
    left = np.full(len(directions), budget.total if not budget.has_one_part else np.inf)
    limits = np.array([limit for _, limit in budget.parts])
    total = np.zeros((len(directions), 6))
    for choice in order:
        bought = np.where(gain[choice, count] > 0, np.minimum(limits[choice], left), 0.0)
        total += bought[:, None] * offer[choice, count]
        left = left - bought
    return total


def _by_linear_programs(forces: ContactForceSet, largest: int) -> Polytope:
    k = len(forces.wrenches)
    # Weights in units of the largest limit keep the programs near one.
    unit = float(np.abs(forces.d).max(initial=0.0)) or 1.0
    rows, bounds = np.vstack([-np.eye(k), forces.C]), np.r_[np.zeros(k), forces.d / unit]
    try:
        return project(rows, bounds, unit * forces.wrenches.T, largest=largest).polytope
    except Unbounded:
        raise Unbounded(
            "some normal force has no limit beside other limits: give every contact, or the "
            "stance, a limit (N)"
        ) from None
