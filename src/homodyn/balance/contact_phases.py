"""Contact phases: stances with their start and end times."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from homodyn.balance.stance import Stance
from homodyn.balance.wrench_polytope import WrenchSet, wrench_set
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of

TIME_TOLERANCE_S = 1e-9
"""Rounding of times at the borders of phases."""


@record
class SupportPhase(Record):
    """A stance from ``start`` to ``end``; the stance is None in flight.

    On a treadmill the supports move with the belt; the stance gives their positions at ``start``.

    Raises:
        ModelError: The end is not after the start.
    """

    stance: Stance | None
    start: float
    """s."""
    end: float
    """s."""
    name: str = ""
    belt_velocity: np.ndarray | None = None
    """(3,), m/s: velocity of the supports; None on the ground."""

    def __post_init__(self) -> None:
        if not self.end > self.start:
            raise ModelError(
                f"phase {self.name!r} ends at {self.end:g} s, which is not after {self.start:g} s"
            )

    def headline(self) -> str:
        """Name, supports and times."""
        supports = ", ".join(self.supports) or "no support"
        return f"SupportPhase {self.name!r}: {supports}, {self.start:g} to {self.end:g} s"

    @cached_property
    def wrenches(self) -> WrenchSet:
        """Wrench set of the stance; raises `ModelError` in flight."""
        if self.stance is None:
            raise ModelError(f"phase {self.name!r} is in flight: there is no support")
        return wrench_set(self.stance)

    @property
    def supports(self) -> tuple[str, ...]:
        """Names of the supports."""
        return () if self.stance is None else self.stance.names

    def belt_displacement(self, time: np.ndarray) -> np.ndarray:
        """Displacement of the supports with the belt since ``start``.

        Args:
            time: Instants, (instants,), s.

        Returns:
            (instants, 3), m.
        """
        if self.belt_velocity is None:
            return np.zeros((len(time), 3))
        return (np.asarray(time) - self.start)[:, None] * np.asarray(
            self.belt_velocity, dtype=float
        )


def phase_numbers(phases: Sequence[SupportPhase], time: np.ndarray) -> np.ndarray:
    """(instants,): index of the phase at each instant, -1 where there is none.

    A phase includes its start but not its end; the last phase includes its end.
    """
    numbers = np.full(len(time), -1)
    for k, phase in enumerate(phases):
        started = time >= phase.start - TIME_TOLERANCE_S
        numbers[started & (time < phase.end - TIME_TOLERANCE_S)] = k
    if phases:
        numbers[np.abs(time - phases[-1].end) <= TIME_TOLERANCE_S] = len(phases) - 1
    return numbers


@record(eq=True)
class PhaseDuration(Record):
    """Duration of a phase over several motions, s."""

    number: int
    """Number of the phase, from 1."""
    supports: tuple[str, ...]
    """Names of the supports in contact."""
    count: int
    """Number of motions."""
    mean: float
    shortest: float
    longest: float

    def headline(self) -> str:
        """Number, supports and mean duration."""
        supports = " + ".join(self.supports) or "flight"
        return (
            f"phase {self.number} on {supports}: {self.mean:.3g} s in "
            f"{count_of(self.count, 'motion')}"
        )


def support_durations(
    phases: Sequence[SupportPhase], supports: Sequence[str]
) -> list[tuple[tuple[str, ...], float]]:
    """Compute how long each combination of some supports is in contact.

    Consecutive phases with the same combination are merged: a hand that grasps in the middle of a
    step does not divide the step when ``supports`` names only the feet.

    Args:
        phases: Phases of one motion, in order of time.
        supports: Names of the supports to consider; all others are ignored.

    Returns:
        Names of the supports in contact and duration (s), in order of time.

    Raises:
        ModelError: Phases overlap.
    """
    durations: list[tuple[tuple[str, ...], float]] = []
    for phase in ordered_phases(phases):
        names = tuple(name for name in supports if name in phase.supports)
        duration = phase.end - phase.start
        if durations and durations[-1][0] == names:
            duration += durations.pop()[1]
        durations.append((names, duration))
    return durations


def phase_durations(
    motions: Sequence[Sequence[SupportPhase]], supports: Sequence[str]
) -> list[PhaseDuration]:
    """Compute mean, minimum and maximum duration of each phase over several motions.

    Args:
        motions: Phases of each motion; all motions use the supports in the same order.
        supports: Names of the supports to consider, as in `support_durations`.

    Returns:
        One record per phase, in order of time; durations in s.

    Raises:
        ModelError: No motion is given, phases overlap, or a motion uses the supports in a different
            order.
    """
    sequences = [support_durations(phases, supports) for phases in motions]
    if not sequences:
        raise ModelError("durations of phases need at least one motion, got none")
    order = [names for names, _ in sequences[0]]
    for number, sequence in enumerate(sequences, start=1):
        if [names for names, _ in sequence] != order:
            raise ModelError(
                f"motion {number} uses its supports in another order than the first: give motions "
                "of one sequence"
            )
    durations = np.array([[duration for _, duration in sequence] for sequence in sequences])
    return [
        PhaseDuration(k + 1, names, len(sequences), float(t.mean()), float(t.min()), float(t.max()))
        for k, (names, t) in enumerate(zip(order, durations.T, strict=True))
    ]


def ordered_phases(phases: Sequence[SupportPhase]) -> tuple[SupportPhase, ...]:
    """The phases; a `ModelError` if they overlap."""
    ordered = tuple(phases)
    for before, after in pairwise(ordered):
        if after.start < before.end - TIME_TOLERANCE_S:
            raise ModelError(
                f"phase {after.name!r} starts at {after.start:g} s, before phase {before.name!r} "
                f"ends at {before.end:g} s"
            )
    return ordered
