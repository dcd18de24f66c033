"""Postures along a part of a motion, for given paths of bodies and of the center of mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.plan.posture_batch import FREE_ITERATIONS, MAX_ITERATIONS, PostureBatch
from homodyn.plan.target_schedule import PostureReference, TargetSchedule

MAX_REPAIRS = 3
"""Times that postures of invalid instants are searched again from those of valid neighbors."""
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
    rest = np.arange(len(time))
    for repair in range(MAX_REPAIRS + 1):
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
        if not len(rest):
            break
        neighbors = np.flatnonzero(valid)
        nearest = np.abs(time[neighbors] - time[rest][:, None]).argmin(axis=1)
        q[rest] = q[neighbors[nearest]]
    return SegmentPostures(time, phase, q, valid, clearance, tuple(failures))


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
    return solve_instants(schedule, reference, phase, np.concatenate(times))
