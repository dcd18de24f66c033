"""Planning of the center of mass: `plan_com` returns a checked plan, or raises with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter
from typing import Literal, Unpack

import numpy as np

from homodyn.balance.com_planning.com_plan import ComPlan
from homodyn.balance.com_planning.keyframes import KeyFrames, plan_through_keyframes
from homodyn.balance.com_planning.margin_objective import MarginKind, MarginObjective
from homodyn.balance.com_planning.obstacle_check import require_free_path
from homodyn.balance.com_planning.plan_check import (
    LENGTH_TOLERANCE_M,
    PlanCheck,
    PlanConstraints,
    support_positions,
)
from homodyn.balance.com_planning.plan_options import PlanKeywords, PlanOptions, PlanWeights
from homodyn.balance.com_planning.plan_search import search_plan
from homodyn.balance.com_planning.timing_problem import PlanLayout
from homodyn.balance.scene_phases import scene_mass, scene_stances
from homodyn.balance.stability_margins import TransitionDifficulty, transition_difficulty
from homodyn.balance.stance import ContactForceSet, Stance
from homodyn.balance.wrench_polytope import WrenchSet, wrench_set
from homodyn.errors import ModelError, NoSolution
from homodyn.foundation.options import change_options
from homodyn.motion import Scene
from homodyn.motion.bspline import ComSpline
from homodyn.motion.scene import ComPlanRequest
from homodyn.symbolic.threads import pool, thread_count

PlanMethod = Literal["timing-free", "keyframes"]
MIN_PHASE_DURATION_S = 1e-3
"""Minimum duration of a phase where the scene gives none."""
RELATIVE_FORCE_TOLERANCE = 1e-9
"""Fraction of the weight by which rounding may place the largest force below it."""
MIN_DEGREE = 3
"""Degree from which accelerations are continuous."""


@dataclass(frozen=True, eq=False)
class _Path:
    """The path of either method."""

    spline: ComSpline
    durations: np.ndarray
    check: PlanCheck
    status: str
    rounds: int
    iterations: int = 0
    inserted: tuple[float, ...] = ()


def plan_com(
    scene: Scene,
    method: PlanMethod = "timing-free",
    *,
    keyframes: KeyFrames | None = None,
    sets: Sequence[WrenchSet] | None = None,
    options: PlanOptions | None = None,
    **changes: Unpack[PlanKeywords],
) -> ComPlan:
    """Plan the path of the center of mass over the supports of a scene.

    The plan satisfies all bounds of the scene on a dense time grid.

    Args:
        scene: Scene with a mass and a plan request (start, finish and bounds).
        method: ``"timing-free"`` chooses the phase durations and maximizes the smallest margin.
            ``"keyframes"`` finds the smoothest balanced path through given positions at given
            instants; all phases need durations.
        keyframes: Positions for ``"keyframes"``; None takes those of the scene path at the changes
            of support.
        sets: Wrench sets of the phases, if already computed with `wrench_sets`.
        options: Margin, weights and resolution; the defaults when left out.
        changes: Fields of `PlanOptions` to change, such as ``min_margin=5.0``.

    Returns:
        The path with its margins, constraint check and timing.

    Raises:
        ModelError: The scene has no plan request, mass or path, phases lack durations, or an
            argument is invalid.
        NoSolution: No path satisfies all constraints; the message names the phase and constraint.
    """
    chosen = change_options("plan_com", options or PlanOptions(), changes)
    plan = scene.plan
    if plan is None:
        raise ModelError(f"scene {scene.name!r} has no plan request: give start and finish")
    if plan.degree < MIN_DEGREE:
        raise ModelError(
            f"accelerations are continuous from degree {MIN_DEGREE} on, got {plan.degree!r}"
        )
    objective = _objective(plan, chosen)
    start = perf_counter()
    known = tuple(sets) if sets is not None else wrench_sets(scene)
    if len(known) != len(scene.steps):
        raise ModelError(f"{len(scene.steps)} phases need as many sets, got {len(known)}")
    sets_end = perf_counter()
    constraints = PlanConstraints(
        scene_stances(scene),
        [objective.facets(each) for each in known],
        objective,
        plan,
        scene_mass(scene),
        scene.gravity,
    )
    reference = objective.about or (0.0, 0.0, 0.0)
    difficulty = (
        transition_difficulty(known, about=reference, unit=objective.unit)
        if len(known) > 1
        else None
    )
    _refuse_weak_supports(scene, known)
    _refuse_infeasible(scene, constraints, difficulty, chosen.min_margin)
    path = _find_path(scene, method, keyframes, constraints, chosen)
    _require_feasible(scene, path, objective, chosen.min_margin)
    require_free_path(scene, path.spline)
    return ComPlan(
        scene,
        method,
        path.status,
        path.spline,
        path.durations,
        path.check,
        objective,
        difficulty,
        known,
        perf_counter() - sets_end,
        sets_end - start,
        path.rounds,
        path.iterations,
        path.inserted,
    )


def _objective(plan: ComPlanRequest, options: PlanOptions) -> MarginObjective:
    about = options.about
    fixed = None if about is None else (float(about[0]), float(about[1]), float(about[2]))
    return MarginObjective(MarginKind(options.margin or plan.margin), fixed, options.unit)


def _find_path(
    scene: Scene,
    method: str,
    keyframes: KeyFrames | None,
    constraints: PlanConstraints,
    options: PlanOptions,
) -> _Path:
    plan = constraints.plan
    height = PlanWeights.height if plan.height_weight is None else plan.height_weight
    weights = options.weights or PlanWeights(height=height)
    if method == "timing-free":
        pieces = options.pieces or plan.pieces
        layout = PlanLayout(
            constraints.mass,
            scene.gravity,
            plan,
            np.array(
                [s.duration or max(s.min_duration, MIN_PHASE_DURATION_S) for s in scene.steps]
            ),
            np.array([step.duration or np.inf for step in scene.steps]),
            tuple(support_positions(stance) for stance in constraints.stances),
            constraints.objective,
            weights,
            samples=options.samples or (6 if pieces == 1 else 3),
        )
        search = search_plan(scene.steps, layout, constraints, rounds=options.rounds, pieces=pieces)
        return _Path(
            search.spline,
            search.durations,
            search.check,
            search.status,
            search.rounds,
            search.iterations,
        )
    if method == "keyframes":
        path = plan_through_keyframes(
            scene, keyframes, constraints, min_margin=options.min_margin, weights=weights
        )
        return _Path(
            path.spline, path.durations, path.check, "Solved", path.rounds, inserted=path.inserted
        )
    raise ModelError(f"method is 'timing-free' or 'keyframes', got {method!r}")


def _require_feasible(
    scene: Scene, path: _Path, objective: MarginObjective, min_margin: float
) -> None:
    """Raise `NoSolution` if the path violates a constraint or has too small a margin."""
    names = [step.name for step in scene.steps]
    check, unit = path.check, objective.margin.unit
    violation = check.violation(names, unit)
    if violation is None and check.smallest < min_margin:
        violation = (
            f"the margin is {check.smallest:.3g} {unit}, less than {min_margin:g}, at "
            f"{check.time[check.worst]:.3f} s, in phase {names[check.phase[check.worst]]!r}"
        )
    if violation is not None:
        raise NoSolution(
            f"scene {scene.name!r}: no path was found ({path.status}); in the best path {violation}"
        )


def wrench_sets(scene: Scene) -> tuple[WrenchSet, ...]:
    """Compute the wrench sets of all stances of a scene.

    Stances that differ only by a translation share one polytope.

    Args:
        scene: The scene.

    Returns:
        One wrench set per phase.

    Raises:
        NoSolution: The wrench set of a stance has too many vertices.
    """
    stances = scene_stances(scene)
    distinct: list[Stance] = []
    which = []
    for stance in stances:
        same = (k for k, each in enumerate(distinct) if _is_translated(each.forces, stance.forces))
        which.append(next(same, len(distinct)))
        if which[-1] == len(distinct):
            distinct.append(stance)
    # Hulls are computed outside the interpreter, so that threads run in parallel.
    sets = list(pool(thread_count()).map(wrench_set, distinct))
    return tuple(
        replace(sets[k], stance=stance, forces=stance.forces)
        for k, stance in zip(which, stances, strict=True)
    )


def _is_translated(a: ContactForceSet, b: ContactForceSet) -> bool:
    """Whether forces about their own reference points are equal except for rounding."""
    size = float(np.abs(a.wrenches).max())
    return bool(
        a.wrenches.shape == b.wrenches.shape
        and a.C.shape == b.C.shape
        and np.allclose(a.wrenches, b.wrenches, rtol=0, atol=1e-12 * size)
        and np.array_equal(a.C, b.C)
        and np.array_equal(a.d, b.d)
    )


def _refuse_infeasible(
    scene: Scene,
    constraints: PlanConstraints,
    difficulty: TransitionDifficulty | None,
    min_margin: float,
) -> None:
    """Refuse what is infeasible without a search: changes without overlap, ends out of bounds."""
    names = [step.name for step in scene.steps]
    if difficulty is not None:
        k = difficulty.hardest_transition
        change = f"the change from phase {names[k]!r} to {names[k + 1]!r}"
        if not difficulty.feasible:
            raise NoSolution(
                f"scene {scene.name!r}: {change} is impossible: no wrench can be given by both "
                "stances, and accelerations are continuous; let them share a support"
            )
        if constraints.objective.fixed and min_margin > difficulty.index:
            raise NoSolution(
                f"scene {scene.name!r}: a margin of {min_margin:g} N m is impossible: at {change} "
                "the largest ball of wrenches common to both has the radius "
                f"{difficulty.index:.4g} N m"
            )
    _refuse_ends(scene, constraints)
    _refuse_far_supports(scene, constraints)


def _refuse_weak_supports(scene: Scene, sets: Sequence[WrenchSet]) -> None:
    """Refuse supports that nowhere carry the weight: its mean is their force from rest to rest."""
    plan, weight = scene.plan, scene_mass(scene) * scene.gravity
    size = float(np.linalg.norm(weight))
    if plan is None or not (plan.start_at_rest and plan.finish_at_rest) or not size:
        return
    up = np.r_[np.zeros(3), -weight / size]
    strongest = max(each.polytope.support(up) for each in sets)
    if strongest < size * (1 - RELATIVE_FORCE_TOLERANCE):
        raise NoSolution(
            f"scene {scene.name!r}: the supports of each phase carry at most {strongest:.4g} N, "
            f"less than the weight of {size:.4g} N; raise the limits of the scene or its supports, "
            "or add supports"
        )


def _refuse_far_supports(scene: Scene, constraints: PlanConstraints) -> None:
    """Refuse consecutive stances that no center of mass reaches at the same time."""
    reach = constraints.plan.reach
    for (first, second), (one, other) in zip(
        pairwise(constraints.stances), pairwise(scene.steps), strict=True
    ):
        a, b = support_positions(first), support_positions(second)
        distance = float(np.linalg.norm(a[:, None] - b, axis=-1).max())
        if distance > 2 * (reach + LENGTH_TOLERANCE_M):
            raise NoSolution(
                f"scene {scene.name!r}: a support of phase {one.name!r} is {distance:.3f} m from "
                f"one of phase {other.name!r}, more than twice the reach of {reach:g} m, so that "
                "the center of mass cannot be near both at the change"
            )


def _refuse_ends(scene: Scene, constraints: PlanConstraints) -> None:
    """Refuse a start or finish out of reach or outside of the corridor of heights."""
    names = [step.name for step in scene.steps]
    plan = constraints.plan
    for what, place, k in (("start", plan.start, 0), ("finish", plan.finish, len(names) - 1)):
        supports = support_positions(constraints.stances[k])
        distance = float(np.linalg.norm(place - supports, axis=1).max())
        if distance > plan.reach + LENGTH_TOLERANCE_M:
            raise NoSolution(
                f"scene {scene.name!r}: the {what} is {distance:.3f} m from a support of phase "
                f"{names[k]!r}, more than the reach of {plan.reach:g} m"
            )
        for ramp, sign, bound in ((plan.upper, 1, "above"), (plan.lower, -1, "below")):
            excess = 0.0 if ramp is None else sign * (place[2] - float(ramp.height(place[0])))
            if excess > LENGTH_TOLERANCE_M:
                raise NoSolution(
                    f"scene {scene.name!r}: the {what} is {excess:.4f} m {bound} the corridor of "
                    f"heights, in phase {names[k]!r}"
                )
