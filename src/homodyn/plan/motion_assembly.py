"""Frames of a motion from the postures of its segments: smooth, on its targets, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from time import perf_counter

import numpy as np
from scipy.interpolate import CubicSpline

from homodyn.balance import BalanceEvaluation, ComPlan, Stance, evaluate
from homodyn.balance.contact_phases import SupportPhase
from homodyn.motion import Motion, MotionSource, motion_from_poses
from homodyn.motion.supports import Support
from homodyn.plan.collision_pairs import ClosestPair, obstacle_distances
from homodyn.plan.key_posture import KeyPosture
from homodyn.plan.motion_options import MotionPlanOptions
from homodyn.plan.motion_plan import MotionPlan, MotionPlanFailure
from homodyn.plan.posture_smoothing import COARSE_RATE_HZ, smooth_postures
from homodyn.plan.segment_postures import SegmentPostures, check_instants
from homodyn.plan.target_schedule import PostureReference, TargetSchedule

SMEARED_FRAMES = 2
"""Frames whose accelerations are differences across an instant beside them."""
FINE_DAMPING = 1.0
"""Weight of squared steps where smooth postures of a low rate are the start."""


@dataclass(frozen=True, eq=False)
class MotionDraft:
    """A planned motion at a low rate."""

    schedule: TargetSchedule
    """Targets with all flights."""
    com: ComPlan | None
    keys: tuple[KeyPosture, ...]
    time: np.ndarray
    """(frames,), s."""
    q: np.ndarray
    """(frames, nq)."""

    @property
    def balance(self) -> BalanceEvaluation:
        """Margins of the whole body over time."""
        motion = motion_from_poses(self.schedule.sequence.context.model, self.time, self.q)
        return balance_of(self.schedule, self.com, motion)

    def at(self, time: np.ndarray) -> np.ndarray:
        """Postures (instants, nq) by cubic splines, at rest at both ends.

        Args:
            time: (instants,), s.
        """
        model = self.schedule.sequence.context.model
        ways = np.asarray(model.difference(np.broadcast_to(self.q[0], self.q.shape), self.q))
        at_rest = (1, np.zeros(model.nv))
        spline = CubicSpline(self.time, ways, bc_type=(at_rest, at_rest))
        return np.asarray(model.integrate(self.q[0], spline(time)))


def draft_motion(
    schedule: TargetSchedule,
    com: ComPlan | None,
    keys: tuple[KeyPosture, ...],
    segments: list[SegmentPostures],
    options: MotionPlanOptions,
) -> MotionDraft:
    """Smooth postures at a low rate.

    Args:
        schedule: Targets with all flights.
        com: Plan of the center of mass.
        keys: Postures at the changes of support.
        segments: Postures of all segments.
        options: Whether postures are smoothed.
    """
    time, phase = frame_times(schedule.sequence.instants, COARSE_RATE_HZ)
    q = _interpolate_segments(schedule, segments, time)
    if options.smoothing:
        q = smooth_postures(schedule, time, phase, q)
    return MotionDraft(schedule, com, keys, time, q)


def assemble_motion(
    draft: MotionDraft, options: MotionPlanOptions, begin: float, notes: tuple[str, ...] = ()
) -> MotionPlan:
    """The plan of a motion with all its frames.

    Args:
        draft: The motion at a low rate.
        options: Rate and smoothing.
        begin: Clock at the start of planning, s.
        notes: Of the plan.

    Raises:
        MotionPlanFailure: A frame is not valid.
    """
    schedule = draft.schedule
    sequence = schedule.sequence
    context = sequence.context
    time, phase = frame_times(sequence.instants, options.rate)
    q = _valid_frames(draft, time, phase, options)
    motion = motion_from_poses(
        context.model,
        time,
        q,
        method=f"planned through scene {context.scene.name!r}",
        source=MotionSource.PLANNED,
    )
    clearance, closest = _clearances(schedule, time, phase, q)
    return MotionPlan(
        context.scene,
        context.model,
        sequence.instants,
        draft.com,
        draft.keys,
        tuple(sorted(schedule.flights, key=lambda path: path.start)),
        motion,
        clearance,
        tuple(closest),
        balance_of(schedule, draft.com, motion),
        _tracking(schedule, time, phase, q),
        perf_counter() - begin,
        notes,
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


def _valid_frames(
    draft: MotionDraft, time: np.ndarray, phase: np.ndarray, options: MotionPlanOptions
) -> np.ndarray:
    """(frames, nq): from a low rate by cubic splines, then on all targets."""
    schedule, model = draft.schedule, draft.schedule.sequence.context.model
    if options.smoothing:
        q = smooth_postures(schedule, time, phase, draft.at(time), FINE_DAMPING)
    else:
        q = LinearPostures(model, draft.time, draft.q).at(time)
    found = check_instants(schedule, phase, time, q)
    if not found.solved:
        worst = found.worst
        raise MotionPlanFailure(
            f"scene {schedule.sequence.context.scene.name!r}: between planned instants, at "
            f"{time[worst]:.3f} s, {found.failures[worst]}",
            phase=schedule.sequence.steps[int(phase[worst])].name,
            time=float(time[worst]),
            q=found.q[worst],
        )
    return q


class LinearPostures(PostureReference):
    """Postures over time, linear between known ones."""

    def at(self, time: np.ndarray) -> np.ndarray:
        """Postures (instants, nq) at given times, s."""
        k = np.clip(np.searchsorted(self.time, time, side="right") - 1, 0, len(self.time) - 2)
        share = (time - self.time[k]) / (self.time[k + 1] - self.time[k])
        step = np.asarray(self.model.difference(self.q[k], self.q[k + 1]))
        return np.asarray(self.model.integrate(self.q[k], share[:, None] * step))


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


@lru_cache(maxsize=128)
def _stance(supports: tuple[Support, ...], limit: float) -> Stance:
    """One stance for equal supports, whose set of wrenches takes seconds where there are many."""
    return Stance(supports, limit)


def balance_of(schedule: TargetSchedule, com: ComPlan | None, motion: Motion) -> BalanceEvaluation:
    """Margins of the whole body over time.

    Args:
        schedule: Supports with their times.
        com: Plan of the center of mass, whose wrench sets are used again.
        motion: The motion.
    """
    sequence = schedule.sequence
    scene = sequence.context.scene
    stances = [
        _stance(tuple(scene.supports[name] for name in step.supports), scene.limit)
        for step in scene.steps
    ]
    known = {phase.name: phase for phase in com.phases} if com is not None else {}
    phases = []
    for k, (stance, step) in enumerate(zip(stances, sequence.steps, strict=True)):
        start, end = sequence.instants[k], sequence.instants[k + 1]
        phase = SupportPhase(stance, float(start), float(end), step.name)
        if step.name in known:
            vars(phase)["wrenches"] = known[step.name].wrenches
        phases.append(phase)
    landings = [
        sequence.instants[k]
        for k in range(1, len(sequence.steps))
        if sequence.is_seated(k) != sequence.is_seated(k - 1)
    ]
    return evaluate(_without_smeared_accelerations(motion, landings), phases)


def _without_smeared_accelerations(motion: Motion, landings: Sequence[float]) -> Motion:
    """The motion with one-sided accelerations beside instants at which they jump.

    The center of mass follows its plan up to the instant at which the body lands on the seat, and
    is free from then on. Central differences across that instant mix the accelerations of both
    sides, so the frames beside it have the accelerations of the ones before, or after.
    """
    a = motion.a.copy()
    for instant in landings:
        after = int(np.searchsorted(motion.time, instant - 1e-9))
        for first, way in ((after - 1, -1), (after, 1)):
            near = first + way * SMEARED_FRAMES
            if 0 <= near < len(a):
                a[min(first, near) : max(first, near) + 1] = a[near]
    return replace(motion, a=a)


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
