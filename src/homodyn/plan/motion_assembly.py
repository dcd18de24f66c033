"""Frames of a motion from the postures of its segments: smooth, on its targets, and checked."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import ClassVar

import numpy as np

from homodyn.balance import BalanceEvaluation, ComPlan, evaluate, scene_stances
from homodyn.balance.contact_phases import SupportPhase
from homodyn.motion import Motion, MotionSource, motion_from_poses
from homodyn.plan.collision_pairs import ClosestPair, obstacle_distances
from homodyn.plan.key_posture import KeyPosture
from homodyn.plan.motion_options import MotionPlanOptions
from homodyn.plan.motion_plan import MotionPlan, MotionPlanFailure
from homodyn.plan.posture_smoothing import smooth_postures
from homodyn.plan.segment_postures import SegmentPostures, solve_instants
from homodyn.plan.target_schedule import PostureReference, TargetSchedule

FRAME_ITERATIONS = 8


def assemble_motion(
    schedule: TargetSchedule,
    com: ComPlan | None,
    keys: tuple[KeyPosture, ...],
    segments: list[SegmentPostures],
    options: MotionPlanOptions,
    begin: float,
) -> MotionPlan:
    """The plan of a motion with all its frames.

    Args:
        schedule: Targets with all flights.
        com: Plan of the center of mass.
        keys: Postures at the changes of support.
        segments: Postures of all segments.
        options: Rate and smoothing.
        begin: Clock at the start of planning, s.

    Raises:
        MotionPlanFailure: A frame between the planned instants is not valid.
    """
    sequence = schedule.sequence
    context = sequence.context
    time, phase = frame_times(sequence.instants, options.rate)
    q = _interpolate_segments(schedule, segments, time)
    frames = _frames(schedule, time, phase, q, options)
    motion = motion_from_poses(
        context.model,
        time,
        frames.q,
        method=f"planned through scene {context.scene.name!r}",
        source=MotionSource.PLANNED,
    )
    clearance, closest = _clearances(schedule, time, phase, frames.q)
    return MotionPlan(
        context.scene,
        context.model,
        sequence.instants,
        com,
        keys,
        tuple(sorted(schedule.flights, key=lambda path: path.start)),
        motion,
        clearance,
        tuple(closest),
        _balance(schedule, com, motion),
        _tracking(schedule, time, phase, frames.q),
        perf_counter() - begin,
    )


def frame_times(instants: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Evenly spaced times of a motion, and their phases.

    Args:
        instants: (phases + 1,), s.
        rate: Hz.

    Returns:
        (frames,), s, and (frames,).
    """
    count = max(2, int(np.floor(instants[-1] * rate + 1e-9)) + 1)
    time = np.arange(count) / rate
    if instants[-1] - time[-1] > 1e-6:
        time = np.linspace(0.0, instants[-1], count)
    phase = np.clip(np.searchsorted(instants, time, side="right") - 1, 0, len(instants) - 2)
    return time, phase


def _interpolate_segments(
    schedule: TargetSchedule, segments: list[SegmentPostures], time: np.ndarray
) -> np.ndarray:
    """Postures of frames between those of the segments."""
    known = np.concatenate([each.time for each in segments])
    q = np.concatenate([each.q for each in segments])
    at, first = np.unique(np.round(known, 9), return_index=True)
    reference = LinearPostures(schedule.sequence.context.model, at, q[first])
    return reference.at(np.clip(time, at[0], at[-1]))


def _frames(
    schedule: TargetSchedule,
    time: np.ndarray,
    phase: np.ndarray,
    q: np.ndarray,
    options: MotionPlanOptions,
) -> SegmentPostures:
    """Valid postures of all frames, smooth over time."""
    model = schedule.sequence.context.model
    begin = smooth_postures(schedule, time, phase, q) if options.smoothing else q
    found = solve_instants(
        schedule, FrameReference(model, time, begin), phase, time, None, FRAME_ITERATIONS
    )
    wrong = np.flatnonzero(~found.valid)
    if len(wrong):
        # Frames that smoothing leads astray start again from the planned postures around them.
        planned = LinearPostures(model, time, q)
        again = solve_instants(schedule, planned, phase[wrong], time[wrong], q[wrong])
        found.q[wrong], found.valid[wrong] = again.q, again.valid
        found.clearance[wrong] = again.clearance
        failures = list(found.failures)
        for frame, failure in zip(wrong, again.failures, strict=True):
            failures[int(frame)] = failure
        found = replace(found, failures=tuple(failures))
    if not found.solved:
        worst = found.worst
        raise MotionPlanFailure(
            f"scene {schedule.sequence.context.scene.name!r}: between planned instants, at "
            f"{time[worst]:.3f} s, {found.failures[worst]}",
            phase=schedule.sequence.steps[int(phase[worst])].name,
            time=float(time[worst]),
            q=found.q[worst],
        )
    return found


class LinearPostures(PostureReference):
    """Postures over time, linear between known ones."""

    def at(self, time: np.ndarray) -> np.ndarray:
        """Postures (instants, nq) at given times, s."""
        k = np.clip(np.searchsorted(self.time, time, side="right") - 1, 0, len(self.time) - 2)
        share = (time - self.time[k]) / (self.time[k + 1] - self.time[k])
        step = np.asarray(self.model.difference(self.q[k], self.q[k + 1]))
        return np.asarray(self.model.integrate(self.q[k], share[:, None] * step))


class FrameReference(LinearPostures):
    """Postures of frames, which are only put back on their targets."""

    follows: ClassVar[bool] = True


def _clearances(
    schedule: TargetSchedule, time: np.ndarray, phase: np.ndarray, q: np.ndarray
) -> tuple[np.ndarray, list[ClosestPair]]:
    """Least distance from obstacles that are not touched, and the closest pair, of each frame."""
    sequence = schedule.sequence
    context = sequence.context
    distance = obstacle_distances(context.model, q, context.scene)
    clearance = np.full(len(time), np.inf)
    closest: list[ClosestPair] = [ClosestPair("", "", np.inf, 0.0)] * len(time)
    for k in np.unique(phase):
        own = np.flatnonzero(phase == k)
        limit = context.limit(sequence.uses(int(k)))
        targets = schedule.targets(int(k), time[own], q[own])
        checked = context.solver.evaluate(targets, q[own], limit)
        for frame, pair in zip(own, checked.pairs, strict=True):
            closest[int(frame)] = pair
        free = distance[own].copy()
        for j, capsule in enumerate(context.model.capsules):
            for o, obstacle in enumerate(context.scene.obstacles):
                if (capsule.name, obstacle.name) in limit.pair_margins:
                    free[:, j, o] = np.inf
        clearance[own] = free.reshape(len(own), -1).min(axis=1, initial=np.inf)
    return clearance, closest


def _balance(schedule: TargetSchedule, com: ComPlan | None, motion: Motion) -> BalanceEvaluation:
    """Margins of the whole body over time."""
    sequence = schedule.sequence
    stances = scene_stances(sequence.context.scene)
    known = {phase.name: phase for phase in com.phases} if com is not None else {}
    phases = []
    for k, (stance, step) in enumerate(zip(stances, sequence.steps, strict=True)):
        start, end = sequence.instants[k], sequence.instants[k + 1]
        phase = SupportPhase(stance, float(start), float(end), step.name)
        if step.name in known:
            vars(phase)["wrenches"] = known[step.name].wrenches
        phases.append(phase)
    return evaluate(motion, phases)


def _tracking(
    schedule: TargetSchedule, time: np.ndarray, phase: np.ndarray, q: np.ndarray
) -> np.ndarray:
    """(frames, 2), m: deviations of the center of mass and of the bodies from their targets."""
    deviation = np.full((len(time), 2), np.nan)
    for k in np.unique(phase):
        own = np.flatnonzero(phase == k)
        targets = schedule.targets(int(k), time[own], q[own])
        supported = tuple(each for each in targets.bodies if not each.prefers_rotation)
        errors = replace(targets, bodies=supported).errors(q[own])
        names = list(errors.names)
        if "center of mass" in names:
            deviation[own, 0] = errors.length[names.index("center of mass")]
        bodies = [j for j, name in enumerate(names) if name != "center of mass"]
        if bodies:
            deviation[own, 1] = errors.length[bodies].max(axis=0)
    return deviation
