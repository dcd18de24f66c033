"""Postures along a part of a motion, for given paths of bodies and of the center of mass."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from homodyn.plan.posture_batch import FREE_ITERATIONS, MAX_ITERATIONS, PostureBatch
from homodyn.plan.target_schedule import PostureReference, TargetSchedule

MAX_REPAIRS = 3
"""Times that postures of invalid instants are searched again from those of valid neighbors."""
MAX_JUMP = 0.8
"""Change of a coordinate (rad, m) between neighbors beyond which postures are solved one after the
other: larger ones go from one side of an obstacle to another."""
MIN_SAMPLES = 5
"""Instants of a phase, both ends included."""


@dataclass(frozen=True, eq=False)
class SegmentPostures:
    """Postures at instants of consecutive phases."""

    time: np.ndarray
    """(instants,), s; a change of support occurs twice, once for each phase."""
    phase: np.ndarray
    """(instants,)."""
    q: np.ndarray
    """(instants, nq)."""
    valid: np.ndarray
    """(instants,)."""
    clearance: np.ndarray
    """(instants,), m: least distance beyond what is required."""
    failures: tuple[str, ...]
    """What is wrong at each instant; empty where nothing is."""
    squared_error: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(instants,), m2 + rad2: of the targets, where they were checked."""

    @property
    def solved(self) -> bool:
        """Whether all postures are valid."""
        return bool(self.valid.all())

    @property
    def worst(self) -> int:
        """Index of an invalid instant, in the middle of the longest invalid part."""
        wrong = np.flatnonzero(~self.valid)
        if not len(wrong):
            return int(self.clearance.argmin())
        parts = np.split(wrong, np.flatnonzero(np.diff(wrong) > 1) + 1)
        longest = max(parts, key=len)
        return int(longest[len(longest) // 2])


def sample_times(instants: np.ndarray, first: int, last: int, step: float) -> list[np.ndarray]:
    """Instants of phases, both ends of each included.

    Args:
        instants: (phases + 1,), s.
        first: First phase.
        last: Last phase.
        step: Largest distance of instants, s.
    """
    return [
        np.linspace(
            instants[k],
            instants[k + 1],
            max(MIN_SAMPLES, int(np.ceil((instants[k + 1] - instants[k]) / step)) + 1),
        )
        for k in range(first, last + 1)
    ]


def solve_instants(
    schedule: TargetSchedule,
    reference: PostureReference,
    phase: np.ndarray,
    time: np.ndarray,
    guess: np.ndarray | None = None,
    max_iterations: int = MAX_ITERATIONS,
) -> SegmentPostures:
    """Postures at instants of any phases.

    Args:
        schedule: Targets.
        reference: Postures to stay near.
        phase: (instants,): phase of each instant.
        time: (instants,), s.
        guess: First guess, (instants, nq); None: the reference.
        max_iterations: Largest number of steps.
    """
    context = schedule.sequence.context
    preferred = reference.at(time)
    q = preferred.copy() if guess is None else np.array(guess)
    valid, clearance = np.zeros(len(time), dtype=bool), np.zeros(len(time))
    failures = [""] * len(time)
    if guess is None:
        # Key postures are valid as they are, and the ends from which repairs begin.
        known = np.isin(np.round(time, 9), np.round(reference.time, 9))
        checked = check_instants(schedule, phase[known], time[known], q[known])
        valid[known], clearance[known] = checked.valid, checked.clearance
    rest = np.flatnonzero(~valid)
    for repair in range(MAX_REPAIRS + 1):
        before = int(valid.sum())
        for k in np.unique(phase[rest]):
            own = rest[phase[rest] == k]
            found: PostureBatch = context.solver.solve(
                schedule.targets(int(k), time[own], preferred[own], follows=reference.follows),
                q[own],
                context.limit(schedule.sequence.uses(int(k))),
                max_iterations,
                0 if repair or reference.follows else FREE_ITERATIONS,
            )
            better = found.valid | (repair == 0)
            q[own[better]] = found.q[better]
            clearance[own[better]] = found.clearance[better]
            valid[own] = found.valid
            for j in range(len(own)):
                if better[j]:
                    failures[own[j]] = found.failure(j)
        rest = _beside_valid(time, valid)
        if not len(rest) or (repair and valid.sum() == before):
            break
        # From the posture of a valid neighbor on, and near it.
        neighbors = np.flatnonzero(valid)
        nearest = np.abs(time[neighbors] - time[rest][:, None]).argmin(axis=1)
        q[rest] = preferred[rest] = q[neighbors[nearest]]
    return SegmentPostures(time, phase, q, valid, clearance, tuple(failures))


def check_instants(
    schedule: TargetSchedule, phase: np.ndarray, time: np.ndarray, q: np.ndarray
) -> SegmentPostures:
    """Given postures with their errors and distances; paths of flights are no targets.

    Args:
        schedule: Targets.
        phase: (instants,).
        time: (instants,), s.
        q: (instants, nq).
    """
    context = schedule.sequence.context
    valid, clearance = np.zeros(len(time), dtype=bool), np.zeros(len(time))
    failures = [""] * len(time)
    squared = np.zeros(len(time))
    for k in np.unique(phase):
        own = np.flatnonzero(phase == k)
        targets = schedule.targets(int(k), time[own], q[own], follows=True)
        limit = context.limit(schedule.sequence.uses(int(k)))
        found = context.solver.evaluate(targets, q[own], limit)
        valid[own], clearance[own] = found.valid, found.clearance
        squared[own] = (found.errors.length**2 + found.errors.angle**2).sum(axis=0)
        for j, frame in enumerate(own):
            failures[int(frame)] = found.failure(j)
    return SegmentPostures(time, phase, q, valid, clearance, tuple(failures), squared)


def _beside_valid(time: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Invalid instants next to valid ones, whose postures are good first guesses."""
    order = np.argsort(time, kind="stable")
    good = valid[order]
    near = np.zeros(len(time), dtype=bool)
    near[1:] |= good[:-1]
    near[:-1] |= good[1:]
    return np.asarray(np.sort(order[near & ~good]))


def solve_segment(
    schedule: TargetSchedule,
    reference: PostureReference,
    segment: tuple[int, int],
    step: float,
) -> SegmentPostures:
    """Postures at evenly spaced instants of a segment.

    Args:
        schedule: Targets.
        reference: Postures to stay near.
        segment: First and last phase.
        step: Largest distance of instants, s.
    """
    times = sample_times(schedule.sequence.instants, *segment, step)
    phase = np.repeat(np.arange(segment[0], segment[1] + 1), [len(each) for each in times])
    time = np.concatenate(times)
    found = solve_instants(schedule, reference, phase, time)
    if found.solved and _jumps(schedule, found.q).max() <= MAX_JUMP:
        return found
    return march(schedule, reference, found)


def march(
    schedule: TargetSchedule, reference: PostureReference, first: SegmentPostures
) -> SegmentPostures:
    """Postures of a segment one after the other, from its end and from its start.

    Each starts from its neighbor and stays near it, so that limbs pass obstacles on one side: from
    one instant to the next no coordinate jumps.

    Args:
        schedule: Targets.
        reference: Postures, whose ends are known.
        first: The segment, some of whose postures are not valid or jump.

    Returns:
        The valid postures that jump least; those given where none are valid.
    """
    count = len(first.time)
    known = reference.at(first.time)
    backward, low = _march_one_way(schedule, first, known, np.arange(count)[::-1])
    forward, high = _march_one_way(schedule, first, known, np.arange(count))
    # Before `last` from the start, after it from the end.
    shared = range(max(low - 1, 0), min(high, count - 2) + 1)
    choices = [np.concatenate([forward[: last + 1], backward[last + 1 :]]) for last in shared]
    found = [first] if first.solved else []
    if choices:
        jumps = [_jumps(schedule, q).max() for q in choices]
        best = choices[int(np.argmin(jumps))]
        found.append(check_instants(schedule, first.phase, first.time, best))
    found = [each for each in found if each.solved]
    if not found:
        return first
    return min(found, key=lambda each: _jumps(schedule, each.q).max())


def largest_jump(schedule: TargetSchedule, found: SegmentPostures) -> float:
    """Largest change of a coordinate (rad, m) from one instant to the next.

    Args:
        schedule: Targets.
        found: Postures of a segment.
    """
    return float(_jumps(schedule, found.q).max())


def _jumps(schedule: TargetSchedule, q: np.ndarray) -> np.ndarray:
    """(instants - 1,): largest change of a coordinate (rad, m) from one instant to the next."""
    model = schedule.sequence.context.model
    return np.asarray(np.abs(model.difference(q[:-1], q[1:])).max(axis=1))


def _march_one_way(
    schedule: TargetSchedule, segment: SegmentPostures, known: np.ndarray, order: np.ndarray
) -> tuple[np.ndarray, int]:
    """Postures in one direction, and the index of the last valid one."""
    context, q = schedule.sequence.context, known.copy()
    reached, before = int(order[0]), known[order[0]]
    for k in order:
        phase = int(segment.phase[k])
        time, guess = segment.time[[k]], before[None]
        targets = schedule.targets(phase, time, guess)
        limit = context.limit(schedule.sequence.uses(phase))
        found = context.solver.solve(targets, guess, limit, MAX_ITERATIONS, 0)
        if not found.valid[0]:
            break
        q[k] = before = found.q[0]
        reached = int(k)
    if reached == order[-1]:
        q[reached] = known[reached]
    return q, reached
