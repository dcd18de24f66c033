"""Phases of a scene with their times, flights of bodies between supports, and segments."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from homodyn.motion import SceneStep
from homodyn.motion.supports import Support
from homodyn.plan.plan_context import PlanContext
from homodyn.plan.support_targets import stance_by_body


@dataclass(frozen=True, eq=False)
class Flight:
    """A body without support between two of them."""

    body: str
    first: int
    """First phase of the flight."""
    last: int
    """Last phase of the flight."""
    origin: Support | None
    """Support that it leaves; None where it was free before."""
    goal: Support


@dataclass(frozen=True, eq=False)
class PhaseSequence:
    """The phases of a scene: who stands on what, and when."""

    context: PlanContext
    instants: np.ndarray
    """(phases + 1,), s."""

    @property
    def steps(self) -> Sequence[SceneStep]:
        """The phases of the scene."""
        return self.context.scene.steps

    @cached_property
    def stances(self) -> tuple[Mapping[str, Support], ...]:
        """Supports of each phase by body."""
        return tuple(stance_by_body(self.context.scene, step.supports) for step in self.steps)

    @cached_property
    def flights(self) -> tuple[Flight, ...]:
        """All flights, in the order of their starts."""
        found = []
        for body in self.context.bodies:
            if self.context.bodies[body].is_seat:
                # A seated body lands where the center of mass takes it.
                continue
            used = [stance.get(body) for stance in self.stances]
            for k in range(1, len(used)):
                goal = used[k]
                if goal is None or used[k - 1] is not None:
                    continue
                first = k - 1
                while first > 0 and used[first - 1] is None:
                    first -= 1
                origin = used[first - 1] if first > 0 else None
                if origin is None:
                    # A free body flies in the last phase before it reaches its support.
                    first = k - 1
                found.append(Flight(body, first, k - 1, origin, goal))
        return tuple(sorted(found, key=lambda flight: flight.first))

    @cached_property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """First and last phase of the parts of the motion whose borders no flight crosses."""
        crossed = {k for flight in self.flights for k in range(flight.first + 1, flight.last + 1)}
        borders = [k for k in range(len(self.steps) + 1) if k not in crossed]
        return tuple((a, b - 1) for a, b in itertools.pairwise(borders))

    def key_stance(self, key: int) -> dict[str, Support]:
        """Supports that touch at the start of a phase: of the phase before and of this one."""
        before = self.stances[key - 1] if key > 0 else {}
        after = self.stances[key] if key < len(self.stances) else {}
        return {**after, **before}

    def landing_bodies(self, key: int) -> dict[str, int]:
        """Seated bodies that reach or leave a support at the start of a phase.

        Args:
            key: The phase.

        Returns:
            The first phase on that support, by body.
        """
        if not 0 < key < len(self.stances):
            return {}
        found = {}
        for phase, other in ((key, key - 1), (key - 1, key)):
            for name, support in self.stances[phase].items():
                if name in self.stances[other] or not self.context.bodies[name].is_seat:
                    continue
                first = phase
                while first > 0 and self.stances[first - 1].get(name) is support:
                    first -= 1
                found[name] = first
        return found

    def is_seated(self, phase: int) -> bool:
        """Whether the root has a support, so that the center of mass need not be planned."""
        return any(self.context.bodies[name].is_seat for name in self.stances[phase])

    def uses(self, phase: int) -> list[tuple[str, Support]]:
        """Bodies with supports that they use, leave or reach in a phase."""
        found = list(self.stances[phase].items())
        for flight in self.flights:
            if flight.first <= phase <= flight.last:
                found.append((flight.body, flight.goal))
                if flight.origin is not None:
                    found.append((flight.body, flight.origin))
        # A body that has just left a support, or reaches one at once, still touches it.
        for other in (phase - 1, phase + 1):
            if 0 <= other < len(self.stances):
                found += [
                    (name, support)
                    for name, support in self.stances[other].items()
                    if name not in self.stances[phase]
                ]
        return found

    def key_uses(self, key: int) -> list[tuple[str, Support]]:
        """Bodies with supports that they use, leave or reach at the start of a phase."""
        phases = [k for k in (key - 1, key) if 0 <= k < len(self.stances)]
        return [use for phase in phases for use in self.uses(phase)]
