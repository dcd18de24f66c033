"""Stances one after another: which supports hold from when to when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from homodyn.balance.stance import Stance
from homodyn.balance.wrenches import WrenchSet, wrench_set
from homodyn.errors import ModelError


@dataclass(frozen=True, eq=False)
class Phase:
    """A stance that holds from ``start`` to ``end`` (s); None for a body in flight.

    On a treadmill the supports move with ``drift`` (m/s); the stance tells where they are at
    ``start``.
    """

    stance: Stance | None
    start: float
    end: float
    name: str = ""
    drift: np.ndarray | None = None

    def __post_init__(self) -> None:
        if not self.end > self.start:
            raise ModelError(
                f"phase {self.name!r} ends at {self.end:g} s, which is not after {self.start:g} s"
            )

    @cached_property
    def wrenches(self) -> WrenchSet:
        """The admissible wrenches of the stance."""
        if self.stance is None:
            raise ModelError(f"phase {self.name!r} is in flight: no support gives any wrench")
        return wrench_set(self.stance)

    @property
    def supports(self) -> tuple[str, ...]:
        """Names of the supports."""
        return () if self.stance is None else self.stance.names

    def moved(self, time: np.ndarray) -> np.ndarray:
        """(instants, 3), m: how far the supports have moved with the belt."""
        if self.drift is None:
            return np.zeros((len(time), 3))
        return (np.asarray(time) - self.start)[:, None] * np.asarray(self.drift, dtype=float)


def phase_numbers(phases: Sequence[Phase], time: np.ndarray) -> np.ndarray:
    """(instants,): number of the phase at each instant, -1 where there is none.

    A phase holds from its start to just before its end; the last one also at its end.
    """
    numbers = np.full(len(time), -1)
    for k, phase in enumerate(phases):
        numbers[(time >= phase.start - 1e-9) & (time < phase.end - 1e-9)] = k
    if phases:
        numbers[np.abs(time - phases[-1].end) <= 1e-9] = len(phases) - 1
    return numbers


def in_order(phases: Sequence[Phase]) -> tuple[Phase, ...]:
    """The phases, refused when they overlap."""
    ordered = tuple(phases)
    for before, after in pairwise(ordered):
        if after.start < before.end - 1e-9:
            raise ModelError(
                f"phase {after.name!r} starts at {after.start:g} s, before phase {before.name!r} "
                f"ends at {before.end:g} s"
            )
    return ordered
