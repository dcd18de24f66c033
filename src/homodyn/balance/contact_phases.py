"""Stances one after another: which supports hold from when to when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from homodyn.balance.stance import Stance
from homodyn.balance.wrench_polytope import WrenchSet, wrench_set
from homodyn.errors import ModelError


@dataclass(frozen=True, eq=False)
class SupportPhase:
    """A stance that holds from ``start`` to ``end`` (s); the stance is None in flight.

    On a treadmill the supports move with ``belt_velocity`` (m/s); the stance gives their positions
    at ``start``.
    """

    stance: Stance | None
    start: float
    end: float
    name: str = ""
    belt_velocity: np.ndarray | None = None

    def __post_init__(self) -> None:
        if not self.end > self.start:
            raise ModelError(
                f"phase {self.name!r} ends at {self.end:g} s, which is not after {self.start:g} s"
            )

    @cached_property
    def wrenches(self) -> WrenchSet:
        """Wrench set of the stance; raises `ModelError` in flight."""
        if self.stance is None:
            raise ModelError(f"phase {self.name!r} is in flight: no support gives any wrench")
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
    """(instants,): number of the phase at each instant, -1 where there is none.

    A phase holds from its start to just before its end; the last one also at its end.
    """
    numbers = np.full(len(time), -1)
    for k, phase in enumerate(phases):
        numbers[(time >= phase.start - 1e-9) & (time < phase.end - 1e-9)] = k
    if phases:
        numbers[np.abs(time - phases[-1].end) <= 1e-9] = len(phases) - 1
    return numbers


@dataclass(frozen=True)
class PhaseDuration:
    """Duration of a phase over several motions, s."""

    number: int
    """From 1."""
    supports: tuple[str, ...]
    count: int
    mean: float
    shortest: float
    longest: float


def support_durations(
    phases: Sequence[SupportPhase], supports: Sequence[str]
) -> list[tuple[tuple[str, ...], float]]:
    """Compute how long each combination of some supports is in contact.

    Consecutive phases with the same combination are merged. A hand that takes hold in the middle of
    a step does not divide the step when only the feet are asked for.

    Args:
        phases: Phases of one motion, in order of time.
        supports: Names of the supports to consider; all others are ignored.

    Returns:
        Names of the supports in contact and duration (s), in order of time.

    Raises:
        ModelError: Phases overlap.
    """
    found: list[tuple[tuple[str, ...], float]] = []
    for phase in ordered_phases(phases):
        held = tuple(name for name in supports if name in phase.supports)
        lasted = phase.end - phase.start
        if found and found[-1][0] == held:
            held, before = found.pop()
            lasted += before
        found.append((held, lasted))
    return found


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
    told = [support_durations(phases, supports) for phases in motions]
    if not told:
        raise ModelError("phase times are of one motion or more, got none")
    order = [held for held, _ in told[0]]
    for number, each in enumerate(told, start=1):
        if [held for held, _ in each] != order:
            raise ModelError(
                f"motion {number} uses its supports in another order than the first: give motions "
                "of one sequence"
            )
    lasted = np.array([[seconds for _, seconds in each] for each in told])
    return [
        PhaseDuration(k + 1, held, len(told), float(t.mean()), float(t.min()), float(t.max()))
        for k, (held, t) in enumerate(zip(order, lasted.T, strict=True))
    ]


def ordered_phases(phases: Sequence[SupportPhase]) -> tuple[SupportPhase, ...]:
    """The phases, refused when they overlap."""
    ordered = tuple(phases)
    for before, after in pairwise(ordered):
        if after.start < before.end - 1e-9:
            raise ModelError(
                f"phase {after.name!r} starts at {after.start:g} s, before phase {before.name!r} "
                f"ends at {before.end:g} s"
            )
    return ordered
