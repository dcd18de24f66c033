"""Plans of the centre of mass: ask for one, and get it with its margins or the reason why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Literal

import numpy as np

from homodyn.balance.com_planning.bspline import ComSpline
from homodyn.balance.com_planning.keyframes import KeyFrames, plan_through_keyframes
from homodyn.balance.com_planning.margin_objective import MarginKind, MarginObjective
from homodyn.balance.com_planning.plan_check import LENGTH_TOLERANCE_M, PlanCheck, support_places
from homodyn.balance.com_planning.plan_search import search_plan
from homodyn.balance.com_planning.timing_problem import PlanLayout, PlanWeights
from homodyn.balance.contact_phases import SupportPhase
from homodyn.balance.limiting_contacts import limiting_contacts
from homodyn.balance.required_wrench import RequiredWrench, point_mass_wrench
from homodyn.balance.scene import ComPath, ComPlanRequest, Scene
from homodyn.balance.stability_margins import TransitionDifficulty, transition_difficulty
from homodyn.balance.stance import ContactForceSet, Stance
from homodyn.balance.wrench_polytope import WrenchSet, wrench_set
from homodyn.errors import ModelError, NoSolution
from homodyn.symbolic.threads import pool, thread_count

Method = Literal["timing-free", "keyframes"]


@dataclass(frozen=True, eq=False)
class ComPlan:
    """A path of the centre of mass over a sequence of supports, checked on a dense time grid."""

    scene: Scene
    method: str
    status: str
    """Final status of the solver."""
    spline: ComSpline
    durations: np.ndarray
    """(phases,), s."""
    check: PlanCheck
    """Every constraint at every instant of the dense grid."""
    measure: MarginObjective
    difficulty: TransitionDifficulty | None
    """Overlap of consecutive stances; None with a single phase."""
    sets: tuple[WrenchSet, ...]
    seconds: float
    """Computing time of the search, without the wrench sets, s."""
    set_seconds: float
    """Computing time of the wrench sets, s."""
    rounds: int
    iterations: int
    inserted: tuple[float, ...] = ()
    """s: instants added by a plan through key frames."""

    @property
    def instants(self) -> np.ndarray:
        """(phases + 1,), s: start, changes of support, end."""
        return np.r_[0.0, np.cumsum(self.durations)]

    @property
    def duration(self) -> float:
        """Duration, s."""
        return float(self.durations.sum())

    @property
    def margin(self) -> float:
        """N m (N for a force margin): the smallest margin on the dense grid."""
        return self.check.smallest

    @property
    def worst(self) -> float:
        """s: the instant with the smallest margin."""
        return float(self.check.time[self.check.worst])

    @property
    def phases(self) -> tuple[SupportPhase, ...]:
        """The stances with the times of the plan."""
        at = self.instants
        found = []
        for k, (known, step) in enumerate(zip(self.sets, self.scene.steps, strict=True)):
            phase = SupportPhase(known.stance, float(at[k]), float(at[k + 1]), step.name)
            # The wrenches are known already; without this a phase would find them again.
            vars(phase)["wrenches"] = known
            found.append(phase)
        return tuple(found)

    @property
    def path(self) -> ComPath:
        """The path in the form of a scene.

        Raises:
            ModelError: An inner knot is not a change of support.
        """
        if len(self.spline.instants) != len(self.instants):
            raise ModelError("a path of a scene has its knots at the changes of support alone")
        return ComPath(self.spline.degree, self.instants, self.spline.points)

    def required_wrench(self, time: np.ndarray) -> RequiredWrench:
        """Compute the wrench that a point mass requires to follow the path.

        Args:
            time: Instants, (instants,), s.

        Returns:
            The required wrench.
        """
        return point_mass_wrench(
            time,
            self.spline.at(time),
            self.spline.at(time, 2),
            mass=self.scene.mass,
            velocity=self.spline.at(time, 1),
            gravity=self.scene.gravity,
        )

    @cached_property
    def sentence(self) -> str:
        """The plan and its worst instant in one sentence."""
        k = int(self.check.phase[self.check.worst])
        side = int(self.check.side[self.check.worst])
        limits = [str(x) for x in limiting_contacts(self.sets[k], side) if x.modes]
        beyond = f"; beyond it {', '.join(limits)}" if limits else ""
        stance = " and ".join(self.scene.steps[k].supports)
        return (
            f"{len(self.durations)} phases in {self.duration:.2f} s; weakest at {self.worst:.3f} s "
            f"on {stance}: {self.margin:.1f} {self.measure.margin.unit} are left{beyond}."
        )

    def rows(self) -> list[dict[str, object]]:
        """Tabulate the phases.

        Returns:
            One row per phase: supports, times and minimum duration (s), smallest margin (N m or N).
        """
        at, least = self.instants, self.check.by_phase(self.check.margin)
        return [
            {
                "phase": step.name,
                "supports": " + ".join(step.supports),
                "start_s": float(at[k]),
                "end_s": float(at[k + 1]),
                "shortest_s": step.shortest,
                "margin": float(least[k]),
            }
            for k, step in enumerate(self.scene.steps)
        ]


def plan_com(
    scene: Scene,
    method: Method = "timing-free",
    *,
    keyframes: KeyFrames | None = None,
    margin: str | None = None,
    about: Sequence[float] | None = (0.0, 0.0, 0.0),
    unit: float = 1.0,
    least: float = 0.0,
    weights: PlanWeights | None = None,
    pieces: int | None = None,
    samples: int | None = None,
    rounds: int = 3,
    sets: Sequence[WrenchSet] | None = None,
) -> ComPlan:
    """Plan the path of the centre of mass over the supports of a scene.

    The plan satisfies all bounds of the scene on a dense time grid.

    Args:
        scene: Scene with a plan request (start, finish and bounds).
        method: ``"timing-free"`` chooses the phase durations and maximises the smallest margin.
            ``"keyframes"`` finds the smoothest balanced path through given positions at given
            instants; all phases need durations.
        keyframes: Positions for ``"keyframes"``; None takes those of the scene path at the changes
            of support.
        margin: ``"wrench"`` (M_s3, N m) or ``"force"`` (M_s1, N); None for the one in the scene.
        about: Fixed point (3,), m, about which moments are taken for M_s3; None for the centre of
            mass.
        unit: Length (m) that relates forces to moments: 1 N counts as ``unit`` N m.
        least: Minimum margin on the dense grid, N m or N.
        weights: Weights of the objective terms; None for the defaults, with the height weight of
            the scene.
        pieces: Spline spans per phase (``"timing-free"``); None for the number in the scene.
        samples: Instants per span at which the solver imposes constraints, both ends included
            (``"timing-free"``); None for 6 with one span per phase, else 3.
        rounds: Maximum number of solver rounds (``"timing-free"``); a few more follow while the
            dense grid violates constraints.
        sets: Wrench sets of the phases, if already computed with `wrench_sets`.

    Returns:
        The path with its margins, constraint check and timing.

    Raises:
        ModelError: The scene has no plan request or path, phases lack durations, or an argument is
            invalid.
        NoSolution: No path satisfies all constraints; the message names the phase and constraint.
    """
    plan = scene.plan
    if plan is None:
        raise ModelError(f"scene {scene.name!r} has no [plan]: give start and finish")
    if plan.degree < 3:
        raise ModelError(f"accelerations are continuous from degree 3 on, got {plan.degree!r}")
    try:
        kind = MarginKind(margin or plan.margin)
    except ValueError:
        raise ModelError(f"margin is 'wrench' or 'force', got {margin!r}") from None
    fixed = None if about is None else (float(about[0]), float(about[1]), float(about[2]))
    measure = MarginObjective(kind, fixed, unit)
    begun = perf_counter()
    known = tuple(sets) if sets is not None else wrench_sets(scene)
    if len(known) != len(scene.steps):
        raise ModelError(f"{len(scene.steps)} phases need as many sets, got {len(known)}")
    ready = perf_counter()
    room = (
        transition_difficulty(known, about=fixed or (0.0, 0.0, 0.0), unit=unit)
        if len(known) > 1
        else None
    )
    _refuse_hopeless(scene, plan, measure, room, least)
    sides = [measure.sides(each) for each in known]
    inserted: tuple[float, ...] = ()
    pieces = pieces or plan.pieces
    if weights is None:
        height = PlanWeights.height if plan.height_weight is None else plan.height_weight
        weights = PlanWeights(height=height)
    if method == "timing-free":
        layout = PlanLayout(
            scene.mass,
            scene.gravity,
            plan,
            np.array([step.duration or max(step.shortest, 1e-3) for step in scene.steps]),
            np.array([step.duration or np.inf for step in scene.steps]),
            tuple(support_places(stance) for stance in scene.stances),
            measure,
            weights,
            samples=samples or (6 if pieces == 1 else 3),
        )
        found = search_plan(scene, layout, sides, rounds=rounds, pieces=pieces)
        spline, lasts, seen = found.spline, found.durations, found.check
        status, iterations, rounds_done = found.status, found.iterations, found.rounds
    elif method == "keyframes":
        passed = plan_through_keyframes(
            scene, plan, keyframes, sides, measure, least=least, weights=weights
        )
        spline, lasts, seen = passed.spline, passed.durations, passed.check
        status, iterations, rounds_done = "Solved", 0, passed.rounds
        inserted = passed.inserted
    else:
        raise ModelError(f"method is 'timing-free' or 'keyframes', got {method!r}")
    names = [step.name for step in scene.steps]
    fault = seen.violation(names, kind.unit)
    if fault is None and seen.smallest < least:
        fault = (
            f"the largest margin found is {seen.smallest:.3g} {kind.unit}, less than {least:g}, at "
            f"{seen.time[seen.worst]:.3f} s, in phase {names[seen.phase[seen.worst]]!r}"
        )
    if fault is not None:
        raise NoSolution(f"scene {scene.name!r}: no path was found ({status}); in the best {fault}")
    return ComPlan(
        scene,
        method,
        status,
        spline,
        lasts,
        seen,
        measure,
        room,
        known,
        perf_counter() - ready,
        ready - begun,
        rounds_done,
        iterations,
        inserted,
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
    different: list[Stance] = []
    which = []
    for stance in scene.stances:
        same = (k for k, each in enumerate(different) if _is_translated(each.forces, stance.forces))
        which.append(next(same, len(different)))
        if which[-1] == len(different):
            different.append(stance)
    # Hulls are found outside the interpreter, so that two threads are twice as fast.
    known = list(pool(thread_count()).map(wrench_set, different))
    return tuple(
        replace(known[k], stance=stance, forces=stance.forces)
        for k, stance in zip(which, scene.stances, strict=True)
    )


def _is_translated(a: ContactForceSet, b: ContactForceSet) -> bool:
    """Whether forces are the same about their own reference point, but for rounding."""
    size = float(np.abs(a.wrenches).max())
    return bool(
        a.wrenches.shape == b.wrenches.shape
        and a.C.shape == b.C.shape
        and np.allclose(a.wrenches, b.wrenches, rtol=0, atol=1e-12 * size)
        and np.array_equal(a.C, b.C)
        and np.array_equal(a.d, b.d)
    )


def _refuse_hopeless(
    scene: Scene,
    plan: ComPlanRequest,
    measure: MarginObjective,
    room: TransitionDifficulty | None,
    least: float,
) -> None:
    """What can be told before any search: changes without room, ends out of bounds."""
    names = [step.name for step in scene.steps]
    if room is not None:
        k = room.hardest_transition
        change = f"the change from phase {names[k]!r} to {names[k + 1]!r}"
        if not room.feasible:
            raise NoSolution(
                f"scene {scene.name!r}: {change} is impossible: no wrench can be given by both "
                "stances, and accelerations are continuous; let them share a support"
            )
        if measure.fixed and least > room.index:
            raise NoSolution(
                f"scene {scene.name!r}: a margin of {least:g} N m is impossible: at {change} the "
                f"largest ball of wrenches common to both has the radius {room.index:.4g} N m"
            )
    for what, place, k in (("start", plan.start, 0), ("finish", plan.finish, len(names) - 1)):
        away = float(np.linalg.norm(place - support_places(scene.stances[k]), axis=1).max())
        if away > plan.reach + LENGTH_TOLERANCE_M:
            raise NoSolution(
                f"scene {scene.name!r}: the {what} is {away:.3f} m from a support of phase "
                f"{names[k]!r}, more than the reach of {plan.reach:g} m"
            )
        for ramp, sign, bound in ((plan.upper, 1, "above"), (plan.lower, -1, "below")):
            over = 0.0 if ramp is None else sign * (place[2] - float(ramp.height(place[0])))
            if over > LENGTH_TOLERANCE_M:
                raise NoSolution(
                    f"scene {scene.name!r}: the {what} is {over:.4f} m {bound} the corridor of "
                    f"heights, in phase {names[k]!r}"
                )
