"""Targets of all bodies over time: supports, slides on supports, flights and center of mass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from homodyn.model import Model
from homodyn.motion.bspline import ComSpline
from homodyn.plan.body_targets import BodyTarget, Targets
from homodyn.plan.flight_path import FlightPath, minimum_jerk, slerp
from homodyn.plan.phase_sequence import PhaseSequence


@dataclass(frozen=True, eq=False)
class TargetSchedule:
    """Where bodies and center of mass have to be at every instant of a motion."""

    sequence: PhaseSequence
    com: ComSpline | None
    """Path of the center of mass in the phases that are not seated."""
    com_start: float = 0.0
    """s: start of that path."""
    seats: Mapping[tuple[str, int], np.ndarray] = field(default_factory=dict)
    """(3,), m: where a seated body landed, by body and first phase on the support."""
    flights: tuple[FlightPath, ...] = ()

    def with_flights(self, *paths: FlightPath) -> TargetSchedule:
        """The schedule with further flights; those of the same body and start are replaced."""
        new = {(path.body, path.start) for path in paths}
        kept = [path for path in self.flights if (path.body, path.start) not in new]
        return replace(self, flights=(*kept, *paths))

    def with_seat(self, body: str, phase: int, place: np.ndarray) -> TargetSchedule:
        """The schedule with the place where a seated body lands."""
        return replace(self, seats={**self.seats, (body, phase): np.array(place)})

    def center_of_mass(self, phase: int, time: np.ndarray) -> np.ndarray | None:
        """(instants, 3), m; None in seated phases."""
        if self.com is None or self.sequence.is_seated(phase):
            return None
        own = np.clip(time - self.com_start, 0.0, self.com.duration)
        return self.com.at(own)

    def support_pose(self, body: str, phase: int) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,), m, and orientation (3, 3) of a body at the end of a phase on a support."""
        sequence = self.sequence
        support = sequence.stances[phase][body]
        position, rotation = sequence.context.bodies[body].pose(support)
        first = phase
        while first > 0 and sequence.stances[first - 1].get(body) is support:
            first -= 1
        return self.seats.get((body, first), position), rotation

    def bodies(self, phase: int, time: np.ndarray, *, guides: bool = False) -> list[BodyTarget]:
        """Targets of the bodies that are on supports or in flight.

        Args:
            phase: The phase.
            time: (instants,), s, in that phase.
            guides: Whether paths of flights are preferences.
        """
        sequence, found = self.sequence, []
        start, end = sequence.instants[phase], sequence.instants[phase + 1]
        for name, body in sequence.context.bodies.items():
            support = sequence.stances[phase].get(name)
            if support is None:
                path = self._flight(name, phase)
                if path is not None:
                    position, rotation = path.pose(time)
                    turn = rotation if body.is_sole else None
                    found.append(
                        BodyTarget(body, position, turn, prefers_rotation=True, is_guide=guides)
                    )
                continue
            position, rotation = self.support_pose(name, phase)
            before = sequence.stances[phase - 1].get(name) if phase > 0 else None
            places = np.broadcast_to(position, (len(time), 3))
            turns = np.broadcast_to(rotation, (len(time), 3, 3))
            if before is not None and before is not support:
                # The body slides to its new support while the phase lasts.
                share = minimum_jerk((time - start) / (end - start))
                origin, turn = self.support_pose(name, phase - 1)
                places = origin + share[:, None] * (position - origin)
                turns = slerp(turn, rotation, share)
            found.append(BodyTarget(body, places, turns if body.is_sole else None))
        return found

    def targets(
        self, phase: int, time: np.ndarray, reference: np.ndarray, *, follows: bool = False
    ) -> Targets:
        """All targets at instants of a phase.

        Args:
            phase: The phase.
            time: (instants,), s.
            reference: Postures to stay near, (instants, nq).
            follows: Whether all coordinates follow the reference closely.
        """
        context = self.sequence.context
        targets = context.targets(
            self.bodies(phase, time, guides=follows),
            self.center_of_mass(phase, time),
            reference,
            self.sequence.stances[phase].values(),
        )
        return replace(targets, follows=follows)

    def _flight(self, body: str, phase: int) -> FlightPath | None:
        middle = self.sequence.instants[phase : phase + 2].mean()
        for path in self.flights:
            if path.body == body and path.start <= middle <= path.end:
                return path
        return None


@dataclass(frozen=True, eq=False)
class PostureReference:
    """Postures over time between known ones, with minimum jerk from one to the next."""

    model: Model
    time: np.ndarray
    """(postures,), s."""
    q: np.ndarray
    """(postures, nq)."""
    follows: ClassVar[bool] = False
    """Whether postures follow it closely, instead of comfort."""

    def at(self, time: np.ndarray) -> np.ndarray:
        """Postures (instants, nq) at given times, s."""
        if len(self.time) == 1:
            return np.broadcast_to(self.q[0], (len(time), len(self.q[0]))).copy()
        k = np.clip(np.searchsorted(self.time, time, side="right") - 1, 0, len(self.time) - 2)
        share = minimum_jerk((time - self.time[k]) / (self.time[k + 1] - self.time[k]))
        step = np.asarray(self.model.difference(self.q[k], self.q[k + 1]))
        return np.asarray(self.model.integrate(self.q[k], share[:, None] * step))
