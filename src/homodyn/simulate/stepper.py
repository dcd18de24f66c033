"""A simulation whose steps are taken in Python: with events, controllers, or adaptive steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from homodyn.dynamics import kinetic_energy, potential_energy
from homodyn.errors import ModelError
from homodyn.integrate import cut_fraction, is_located, secant_fraction
from homodyn.simulate.diagnostics import step_failure_message
from homodyn.simulate.events import EventCrossing, EventDetector, StateEvent, hermite_states
from homodyn.simulate.external_torques import ExternalTorques
from homodyn.simulate.result import EventOccurrence, SimulationStatus
from homodyn.simulate.rows.joint_rows import spring_energies
from homodyn.simulate.setup import SimulationSetup
from homodyn.simulate.simulation_point import SimulationPoint

MAX_EVENTS_PER_SECOND = 10_000
"""Events per second of simulated time beyond which a run has stalled."""

MAX_LOCATION_STEPS = 60
"""Maximum number of trial steps to locate one event."""


class Stepper(Protocol):
    """Takes one step of length ``h`` (s) from a point, under the external torques given there."""

    def __call__(self, point: SimulationPoint, h: float) -> SimulationPoint:
        """The point after the step; its status says whether the step failed."""


@dataclass(frozen=True, eq=False)
class EventLanding:
    """An event located within a step."""

    index: int
    """Index of the event."""
    point: SimulationPoint
    """The state at the event."""
    value: float
    """Value of the event function there."""
    side: float
    """Sign of the function after the crossing."""


class TrialStep(NamedTuple):
    """A step toward an event: fraction of the whole step, value of the event function, point."""

    fraction: float
    value: float
    point: SimulationPoint


class SteppingLoop:
    """Steps along a grid of times that end at events and at changes of external torques.

    An ``adaptive`` stepper takes long steps, which must end at the times of sampled torques.
    """

    def __init__(
        self,
        setup: SimulationSetup,
        stepper: Stepper,
        events: Sequence[StateEvent],
        parameters: Mapping[str, np.ndarray],
        adaptive: bool = False,
    ) -> None:
        self.setup = setup
        self.events = tuple(events)
        self.points: list[SimulationPoint] = []
        self.occurrences: list[EventOccurrence] = []
        self.status = SimulationStatus.FINISHED
        self.message = ""
        self.steps = 0
        self.last: SimulationPoint
        """The point at which the run ended."""
        self._stepper = stepper
        self._parameters = dict(parameters)
        self._external_torques = ExternalTorques(setup, adaptive)
        self._detector = EventDetector(setup.model, self.events, setup.batch_names)
        self._sides = np.zeros(len(self.events))

    def run(self, grid: np.ndarray, start: SimulationPoint, every: int) -> None:
        """Step along the grid; every ``every``-th of its points and the last one are recorded."""
        torque = self._external_torques.torques_at(start.t, start.q, start.v)
        now = replace(start, torque=torque)
        self._sides = np.sign(self._values(now))
        self._check_event_values(now)
        allowed = 100 + MAX_EVENTS_PER_SECOND * float(grid[-1] - grid[0])
        for k, end in enumerate(grid[1:]):
            if k % every == 0:
                self.points.append(now)
            while now.t < end and self.status is SimulationStatus.FINISHED:
                change = self._external_torques.next_change(now.t)
                now = self._step_to(now, min(float(end), change))
                if len(self.occurrences) > allowed:
                    self._report_stall(now)
            if self.status is not SimulationStatus.FINISHED:
                break
        if now is not self.points[-1]:
            self.points.append(now)
        self.last = now
        if self.status is SimulationStatus.FINISHED:
            self.message = f"ran to {now.t:.6g} s"

    def _step_to(self, now: SimulationPoint, end: float) -> SimulationPoint:
        """The point at ``end``, or at the first event before it."""
        h = end - now.t
        after = self._stepper(now, h)
        self.steps += 1
        if after.status:
            self.status = SimulationStatus(after.status)
            numbers = self._parameters.get("parameters")
            self.message = step_failure_message(self.setup, self.status, now, h, numbers)
            return now
        if self._check_event_values(after):
            return now
        landing = self._landing(now, after, h) if self.events else None
        if landing is None:
            after = replace(after, t=end)
            # The side of a function is known once it differs from zero.
            self._sides = np.where(self._sides == 0, np.sign(self._values(after)), self._sides)
        else:
            after = self._process_event(landing)
        if self.status is SimulationStatus.FINISHED:
            torque = self._external_torques.torques_at(after.t, after.q, after.v)
            after = replace(after, torque=torque)
        return after

    def _process_event(self, landing: EventLanding) -> SimulationPoint:
        """Record an event, apply its action, and update the sides of all event functions."""
        event, point = self.events[landing.index], landing.point
        self.occurrences.append(
            EventOccurrence(event.name, point.t, landing.value, point.q, point.v)
        )
        if event.action == "end":
            self.status = SimulationStatus.ENDED
            self.message = f"ended by event {event.name!r} at {point.t:.6g} s"
            return point
        self._sides[landing.index] = landing.side
        if callable(event.action):
            before = np.sign(self._values(point))
            point = self._apply_action(event, point)
            after = np.sign(self._values(point))
            # A function whose sign an action changes has not crossed zero.
            self._sides = np.where((after != before) & (after != 0), after, self._sides)
        return point

    def _landing(
        self, now: SimulationPoint, after: SimulationPoint, h: float
    ) -> EventLanding | None:
        """The first event of a step, located by steps of other lengths from the same start."""
        states = hermite_states(self.setup.model, now.q, now.v, after.q, after.v, h)
        skipped: set[int] = set()
        while True:
            crossing = self._detector.first(states, now.t, h, self._sides, self._rest(now), skipped)
            if crossing is None:
                return None
            landing = self._locate_event(now, after, h, crossing)
            if landing is not None:
                return landing
            # Only the interpolation crossed zero, by its error.
            skipped.add(crossing.index)

    def _locate_event(
        self, now: SimulationPoint, after: SimulationPoint, h: float, crossing: EventCrossing
    ) -> EventLanding | None:
        """The event just beyond the zero on true states; None if these do not cross it."""
        k, side = crossing.index, crossing.side

        def trial(fraction: float) -> TrialStep:
            fraction = float(fraction)
            if fraction == 0:
                point = now
            elif fraction == 1:
                point = after
            else:
                point = replace(self._stepper(now, fraction * h), t=now.t + fraction * h)
                self.steps += 1
            return TrialStep(fraction, float(self._values(point)[k]), point)

        low, high = trial(crossing.low), trial(crossing.high)
        if low.fraction > 0 and side * low.value >= 0:
            low, high = trial(0.0), low
        places = [*np.linspace(crossing.low, crossing.high, 10)[1:-1], 1.0]
        while side * high.value < 0:
            if not places:
                return None
            high = trial(places.pop(0))
        tolerance = self.events[k].tolerance
        shortest = 4 * np.spacing(now.t + h)
        for tries in range(MAX_LOCATION_STEPS):
            length = (high.fraction - low.fraction) * h
            if is_located(abs(high.value), tolerance, length, shortest):
                break
            middle = trial(_next_trial(low, high, side * tolerance / 2, tries))
            low, high = (low, middle) if side * middle.value >= 0 else (middle, high)
        return EventLanding(k, high.point, high.value, side)

    def _check_event_values(self, point: SimulationPoint) -> bool:
        """Whether an event function is not finite, which ends the run."""
        invalid = np.flatnonzero(~np.isfinite(self._values(point)))
        if invalid.size:
            self.status = SimulationStatus.NOT_FINITE
            name = self.events[invalid[0]].name
            self.message = f"at {point.t:.6g} s the function of event {name!r} is not finite"
        return bool(invalid.size)

    def _apply_action(self, event: StateEvent, point: SimulationPoint) -> SimulationPoint:
        """The point after an event's own action."""
        assert callable(event.action)
        batch = dict(zip(self.setup.batch_names, map(float, point.batch), strict=True))
        changes = event.action(point.t, point.q.copy(), point.v.copy(), dict(batch)) or {}
        states: dict[str, np.ndarray] = {}
        for name, value in changes.items():
            if name in ("q", "v"):
                states[name] = np.array(value, dtype=float)
                shape = getattr(point, name).shape
                if states[name].shape != shape or not np.all(np.isfinite(states[name])):
                    raise ModelError(
                        f"the action of event {event.name!r} returned a {name} of shape "
                        f"{states[name].shape}, or not finite; {shape} finite numbers are needed"
                    )
            elif name in batch:
                batch[name] = float(value)
            else:
                raise ModelError(
                    f"the action of event {event.name!r} changes {name!r}; it may change q, v and "
                    f"batch parameters ({', '.join(batch) or 'there are none'})"
                )
        numbers = np.array([batch[name] for name in self.setup.batch_names])
        after = replace(point, batch=numbers, **states)  # type: ignore[arg-type]
        if states:
            before, now = self._energies(point), self._energies(after)
            after = replace(
                after,
                event_energy=after.event_energy + sum(now) - sum(before),
                event_spring_energy=after.event_spring_energy + now[1] - before[1],
            )
        return after

    def _energies(self, point: SimulationPoint) -> tuple[float, float]:
        """Kinetic and gravitational energy (J), and that of springs along coordinates."""
        model = self.setup.model
        numbers: Any = self._parameters.get("parameters")
        kinetic = kinetic_energy(model, point.q, point.v, parameters=numbers)
        height = potential_energy(model, point.q, parameters=numbers)
        return float(kinetic + height), float(spring_energies(model, point.q, numbers))

    def _rest(self, point: SimulationPoint) -> dict[str, np.ndarray]:
        return {"batch": point.batch, **self._parameters}

    def _values(self, point: SimulationPoint) -> np.ndarray:
        if not self.events:
            return np.zeros(0)
        return self._detector.values(point.t, point.q, point.v, self._rest(point))

    def _report_stall(self, now: SimulationPoint) -> None:
        name = self.occurrences[-1].name
        self.status = SimulationStatus.STALLED
        self.message = (
            f"stalled at {now.t:.6g} s: event {name!r} and others occurred more than "
            f"{MAX_EVENTS_PER_SECOND} times per second; let an action remove their cause"
        )


def _next_trial(low: TrialStep, high: TrialStep, target: float, tries: int) -> float:
    """The fraction to try next: where the secant reaches ``target``, or the middle."""
    fraction = 0.5
    if low.value * high.value < 0:
        secant = secant_fraction(low.value, high.value - low.value, target)
        fraction = cut_fraction(secant, tries)
    return low.fraction + fraction * (high.fraction - low.fraction)
