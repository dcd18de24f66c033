"""Motions through a scene: center of mass, key postures, flights, postures in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np

from homodyn import catalog, dynamics
from homodyn.balance import ComPlan, plan_com
from homodyn.errors import ModelError, NoSolution
from homodyn.model import Model
from homodyn.motion import Scene
from homodyn.plan.comfort import comfortable_posture
from homodyn.plan.flights import (
    PLANNING_STEP_S,
    FlightPlanner,
    plan_flight,
)
from homodyn.plan.key_posture import KeyPosture, PostureSearch, facing, solve_targets
from homodyn.plan.motion_assembly import MotionDraft, assemble_motion, draft_motion
from homodyn.plan.motion_options import MotionPlanOptions
from homodyn.plan.motion_plan import MotionPlan, MotionPlanFailure
from homodyn.plan.phase_lengthening import lengthened_scene
from homodyn.plan.phase_sequence import Flight, PhaseSequence
from homodyn.plan.plan_context import PlanContext
from homodyn.plan.scene_fitting import DEFAULT_MASS_KG, REFERENCE_STATURE_M
from homodyn.plan.segment_postures import SegmentPostures, solve_segment
from homodyn.plan.target_schedule import PostureReference, TargetSchedule

DEFAULT_PHASE_DURATION_S = 0.6
"""Duration of a seated phase that has none in its scene."""
CONTINUITY_SHARE = 0.5
"""Share of the previous key posture in the reference of the next; the rest is comfort."""

REACH_STEP_M = 0.03
"""By which the distance of the center of mass from the feet becomes smaller where no posture has
it."""
MAX_REACH_REDUCTIONS = 2

Progress = Callable[[str], None]


def motion(
    scene: Scene,
    model: Model | None = None,
    *,
    com: ComPlan | None = None,
    options: MotionPlanOptions | None = None,
    progress: Progress | None = None,
) -> MotionPlan:
    """Plan a motion of a model through a scene.

    The center of mass follows a plan that keeps balance (`homodyn.balance.plan_com`); in seated
    phases it is free. Key postures at the changes of support come first, then the paths of feet and
    hands, then the postures in between. All postures keep their supports, the center of mass and
    their distances from obstacles.

    Args:
        scene: Supports, each with the body that uses it, their sequence, obstacles, and a request
            for a plan of the center of mass.
        model: The model; a manikin of 1.75 m with the mass of the scene when left out.
        com: Plan of the center of mass; made from the scene when left out.
        options: Distances, speeds and effort.
        progress: Is called with the name of each step.

    Returns:
        The motion with clearance and balance over time.

    Raises:
        ModelError: A support names no body of the model, or the scene has no phases or no mass.
        NoSolution: The center of mass has no balanced path.
        MotionPlanFailure: A posture or flight is not found; the message names phase, time, and
            pair, target or limit, with the size in mm.
    """
    begin = perf_counter()
    chosen = options or MotionPlanOptions()
    if not scene.steps:
        raise ModelError(f"scene {scene.name!r} has no phases; list the supports of each phase")
    if model is None:
        model = catalog.manikin(REFERENCE_STATURE_M, scene.mass or DEFAULT_MASS_KG)
    report = progress or (lambda _: None)
    draft = _reachable_draft(scene, model, com, chosen, report)
    first = draft.schedule.sequence.instants[-1]
    notes: tuple[str, ...] = ()
    for _ in range(chosen.lengthenings if com is None else 0):
        longer = lengthened_scene(draft, chosen.min_margin)
        if longer is None:
            break
        report("longer phases")
        try:
            draft = _reachable_draft(longer, model, None, chosen, report)
        except NoSolution as failure:
            notes = (*notes, f"Longer phases were tried, but {failure}")
            break
        notes = (
            f"Phases last longer until the whole body keeps its balance: {first:.2f} s became "
            f"{draft.schedule.sequence.instants[-1]:.2f} s.",
        )
    report("motion")
    return assemble_motion(draft, chosen, begin, notes)


def _reachable_draft(
    scene: Scene, model: Model, com: ComPlan | None, options: MotionPlanOptions, report: Progress
) -> MotionDraft:
    """The motion of a scene; legs that are too short bring the center of mass closer to the feet.

    Raises:
        MotionPlanFailure: A posture or flight is not found.
    """
    for attempt in range(MAX_REACH_REDUCTIONS + 1):
        try:
            return _draft(scene, model, com, options, report)
        except MotionPlanFailure as failure:
            request = scene.plan
            last = attempt == MAX_REACH_REDUCTIONS
            if last or com is not None or request is None or not np.isfinite(request.reach):
                raise
            if "enter of mass misses" not in str(failure):
                raise
            report(f"reach below {request.reach:.2f} m")
            scene = replace(scene, plan=replace(request, reach=request.reach - REACH_STEP_M))
    raise AssertionError("unreachable")


def _draft(
    scene: Scene, model: Model, com: ComPlan | None, options: MotionPlanOptions, report: Progress
) -> MotionDraft:
    """The motion of a scene as it is, at a low rate."""
    context = PlanContext.of(model, scene, options.clearance)
    balanced = balanced_phases(context)
    if com is None and balanced is not None:
        report("center of mass")
        first, last = balanced
        com = plan_com(replace(scene, steps=scene.steps[first : last + 1], path=None))
    sequence = PhaseSequence(context, _instants(scene, balanced, com))
    start = 0.0 if balanced is None else float(sequence.instants[balanced[0]])
    schedule = TargetSchedule(sequence, None if com is None else com.spline, start)
    report("key postures")
    keys, schedule = key_postures(schedule, options)
    _require_keys(sequence, keys)
    report("flights")
    schedule, segments = plan_segments(schedule, keys, options, report)
    report("smoothing")
    return draft_motion(schedule, com, keys, segments, options)


def balanced_phases(context: PlanContext) -> tuple[int, int] | None:
    """First and last phase that are not seated, whose center of mass is planned.

    Args:
        context: Model and scene.

    Returns:
        Numbers of phases; None where all are seated.

    Raises:
        ModelError: Seated phases lie between others.
    """
    sequence = PhaseSequence(context, np.arange(len(context.scene.steps) + 1.0))
    free = [k for k in range(len(context.scene.steps)) if not sequence.is_seated(k)]
    if not free:
        return None
    if free != list(range(free[0], free[-1] + 1)):
        raise ModelError(
            f"scene {context.scene.name!r}: a plan has one part without a seat, but seated phases "
            "lie between others; plan the parts as scenes of their own"
        )
    return free[0], free[-1]


def key_postures(
    schedule: TargetSchedule, options: MotionPlanOptions
) -> tuple[tuple[KeyPosture, ...], TargetSchedule]:
    """Postures at all changes of support, and the schedule with the places of seated bodies.

    Args:
        schedule: Supports and center of mass.
        options: Distances and effort.

    Returns:
        One posture per change, found or not, and the schedule.
    """
    sequence, context = schedule.sequence, schedule.sequence.context
    search = PostureSearch(clearance=options.clearance, seed=options.seed)
    count = len(sequence.instants)
    keys: dict[int, KeyPosture] = {}
    # A seated body lands, or rises, where the center of mass has it: those postures come first.
    first = next((key for key in range(count) if not _is_seated_key(sequence, key)), 0)
    for key in (*range(first, count), *range(first)[::-1]):
        near = keys.get(key - 1 if key > first else key + 1)
        previous = near.q if near is not None and near.solved else None
        stance = sequence.key_stance(key)
        landing = sequence.landing_bodies(key)
        center = _key_center(schedule, key)
        bodies = []
        for name, support in stance.items():
            phase = key - 1 if key > 0 and name in sequence.stances[key - 1] else key
            target = context.body_target(support, landing=name in landing and center is not None)
            if name not in landing and context.bodies[name].is_seat:
                place, _ = schedule.support_pose(name, min(phase, len(sequence.stances) - 1))
                target = replace(target, position=place)
            bodies.append(target)
        comfort = facing(context, bodies, center, [*stance.values()], comfortable_posture)
        reference = comfort
        if previous is not None:
            step = CONTINUITY_SHARE * np.asarray(context.model.difference(comfort, previous))
            reference = np.asarray(context.model.integrate(comfort, step))
        targets = context.targets(bodies, center, reference, stance.values())
        begin = comfort if previous is None else previous
        found = solve_targets(context, targets, begin, sequence.key_uses(key), search)
        keys[key] = found
        if found.solved and center is not None:
            for name, phase in landing.items():
                place = dynamics.position(context.model, found.q, name)
                schedule = schedule.with_seat(name, phase, place)
    return tuple(keys[key] for key in range(count)), schedule


def _is_seated_key(sequence: PhaseSequence, key: int) -> bool:
    """Whether the phases on both sides of a change of support are seated."""
    phases = [k for k in (key - 1, key) if 0 <= k < len(sequence.stances)]
    return all(sequence.is_seated(k) for k in phases)


def plan_segments(
    schedule: TargetSchedule,
    keys: tuple[KeyPosture, ...],
    options: MotionPlanOptions,
    report: Progress,
) -> tuple[TargetSchedule, list[SegmentPostures]]:
    """Flights and postures of all segments.

    Args:
        schedule: Supports, seats and center of mass.
        keys: Postures at the changes of support.
        options: Distances, speeds and effort.
        report: Is called with the name of each flight.

    Returns:
        The schedule with all flights, and the postures of each segment.

    Raises:
        MotionPlanFailure: A segment has no valid postures.
    """
    sequence = schedule.sequence
    borders = sorted({k for a, b in sequence.segments for k in (a, b + 1)})
    reference = PostureReference(
        sequence.context.model,
        sequence.instants[borders],
        np.array([keys[k].q for k in borders]),
    )
    rng = np.random.default_rng(options.seed)
    segments = []
    for segment in sequence.segments:
        flights = [f for f in sequence.flights if segment[0] <= f.first <= segment[1]]
        # Hands come first: their lines seldom depend on the feet.
        flights.sort(key=lambda flight: sequence.context.bodies[flight.body].is_sole)
        reason, found = "", None
        for flight in flights:
            report(f"flight of {flight.body}")
            planner = FlightPlanner(
                schedule,
                reference,
                segment,
                flight,
                _start_pose(schedule, flight, keys),
                sequence.context.bodies[flight.body].pose(flight.goal),
                options,
                is_last=flight is flights[-1],
            )
            attempt, found = plan_flight(planner, rng)
            schedule = schedule.with_flights(attempt.path)
            reason = attempt.reason
        if found is None:
            found = solve_segment(schedule, reference, segment, PLANNING_STEP_S)
            reason = found.failures[found.worst]
        if reason:
            raise _segment_failure(schedule, found, reason)
        segments.append(found)
    return schedule, segments


def _start_pose(
    schedule: TargetSchedule, flight: Flight, keys: tuple[KeyPosture, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Pose from which a flight starts: on its support, or where the body is in the key posture."""
    sequence = schedule.sequence
    body = sequence.context.bodies[flight.body]
    if flight.origin is not None:
        return body.pose(flight.origin)
    model, q = sequence.context.model, keys[flight.first].q
    frame = body.name if body.is_sole or body.is_seat else body.grip
    turn = np.asarray(dynamics.orientation(model, q, frame)) if body.is_sole else np.eye(3)
    return np.asarray(dynamics.position(model, q, frame)), turn


def _key_center(schedule: TargetSchedule, key: int) -> np.ndarray | None:
    """(3,), m: center of mass at a change of support; None between seated phases."""
    sequence = schedule.sequence
    for phase in (key, key - 1):
        if 0 <= phase < len(sequence.stances) and not sequence.is_seated(phase):
            found = schedule.center_of_mass(phase, sequence.instants[key : key + 1])
            return None if found is None else found[0]
    return None


def _instants(scene: Scene, balanced: tuple[int, int] | None, com: ComPlan | None) -> np.ndarray:
    """(phases + 1,), s: from the plan of the center of mass, and from the scene elsewhere."""
    durations = [
        step.duration or max(step.min_duration, 0.0) or DEFAULT_PHASE_DURATION_S
        for step in scene.steps
    ]
    if balanced is not None and com is not None:
        if len(com.durations) != balanced[1] - balanced[0] + 1:
            raise ModelError(
                f"the plan of the center of mass has {len(com.durations)} phases, but scene "
                f"{scene.name!r} has {balanced[1] - balanced[0] + 1} that are not seated"
            )
        durations[balanced[0] : balanced[1] + 1] = com.durations.tolist()
    return np.r_[0.0, np.cumsum(durations)]


def _require_keys(sequence: PhaseSequence, keys: tuple[KeyPosture, ...]) -> None:
    """Raise for the first key posture that was not found."""
    for k, key in enumerate(keys):
        if not key.solved:
            steps = sequence.steps
            name = steps[min(k, len(steps) - 1)].name
            where = f"at the start of phase {name!r}" if k < len(steps) else "at the end"
            pair = key.closest if key.closest is not None and key.closest.missing > 0 else None
            raise MotionPlanFailure(
                f"scene {sequence.context.scene.name!r}: there is no posture {where} "
                f"({sequence.instants[k]:.2f} s): {key.sentence}",
                phase=name,
                time=float(sequence.instants[k]),
                q=key.q,
                pair=pair,
            )


def _segment_failure(
    schedule: TargetSchedule, found: SegmentPostures, reason: str
) -> MotionPlanFailure:
    """What stops the motion at the worst instant of a segment."""
    k, sequence = found.worst, schedule.sequence
    phase = int(found.phase[k])
    context = sequence.context
    time = found.time[[k]]
    checked = context.solver.evaluate(
        schedule.targets(phase, time, found.q[[k]]),
        found.q[[k]],
        context.limit(sequence.uses(phase)),
    )
    pair = checked.pairs[0] if checked.pairs and checked.pairs[0].missing > 0 else None
    name = sequence.steps[phase].name
    flying = [f.body for f in sequence.flights if f.first <= phase <= f.last]
    moving = f", while {' and '.join(flying)} moves" if flying else ""
    return MotionPlanFailure(
        f"scene {context.scene.name!r}: no motion was found in phase {name!r} at "
        f"{found.time[k]:.2f} s{moving}: {reason}",
        phase=name,
        time=float(found.time[k]),
        q=found.q[k],
        pair=pair,
    )
