"""A simulation taken step by step in Python: with events, controllers, or steps that adapt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from homodyn.dynamics import kinetic_energy, potential_energy
from homodyn.errors import ModelError
from homodyn.integrate import cut_fraction, is_located, secant_fraction
from homodyn.simulate.events import Crossing, Event, Watch, between
from homodyn.simulate.faults import fault
from homodyn.simulate.joint_rows import spring_energies
from homodyn.simulate.outside import Outside
from homodyn.simulate.record import Happening, Status
from homodyn.simulate.setup import Setup

EVENTS_PER_SECOND = 10_000
"""Events in a second of simulated time beyond which a run counts as stalled."""

LOCATING = 60
"""Steps that may be tried to land on one event."""


@dataclass(frozen=True, eq=False)
class Point:
    """A state of a run, with the numbers of its lane and the torques that begin to act there.

    ``jumped`` is the energy (J) that actions of events have brought so far, ``sprung`` the part of
    it that is in springs along coordinates.
    """

    t: float
    q: np.ndarray
    v: np.ndarray
    z: np.ndarray
    work: np.ndarray
    lane: np.ndarray
    torque: np.ndarray
    status: int = 0
    jumped: float = 0.0
    sprung: float = 0.0


class Stepper(Protocol):
    """Takes one step of length ``h`` from a point, under the torques given there."""

    def __call__(self, point: Point, h: float) -> Point:
        """The point after the step."""


@dataclass(frozen=True, eq=False)
class Landing:
    """An event met within a step: which, where, how far off, and the side it passed to."""

    index: int
    point: Point
    value: float
    side: float


class Tried(NamedTuple):
    """A step tried towards an event: its share of the whole one, the event function, the point."""

    share: float
    value: float
    point: Point


class March:
    """Steps along a grid of times, landing on events and on changes of torque in between.

    An ``adaptive`` stepper takes long steps, which must not pass over the times of samples.
    """

    def __init__(
        self,
        setup: Setup,
        stepper: Stepper,
        events: Sequence[Event],
        parameters: Mapping[str, np.ndarray],
        adaptive: bool = False,
    ) -> None:
        self.setup = setup
        self.events = tuple(events)
        self.points: list[Point] = []
        self.happenings: list[Happening] = []
        self.status = Status.FINISHED
        self.message = ""
        self.steps = 0
        self._stepper = stepper
        self._parameters = dict(parameters)
        self._outside = Outside(setup, adaptive)
        self._watch = Watch(setup.model, self.events, setup.lane)
        self._sides = np.zeros(len(self.events))

    def along(self, grid: np.ndarray, start: Point, every: int) -> None:
        """Go along the grid; every ``every``-th of its points and the last one are kept."""
        now = replace(start, torque=self._outside.at(start.t, start.q, start.v))
        self._sides = np.sign(self._values(now))
        self._lost(now)
        allowed = 100 + EVENTS_PER_SECOND * float(grid[-1] - grid[0])
        for k, end in enumerate(grid[1:]):
            if k % every == 0:
                self.points.append(now)
            while now.t < end and self.status is Status.FINISHED:
                now = self._onward(now, min(float(end), self._outside.next_change(now.t)))
                if len(self.happenings) > allowed:
                    self._stalled(now)
            if self.status is not Status.FINISHED:
                break
        if now is not self.points[-1]:
            self.points.append(now)
        if self.status is Status.FINISHED:
            self.message = f"ran to {now.t:.6g} s"

    def _onward(self, now: Point, end: float) -> Point:
        """To ``end``, or to the first event before it."""
        h = end - now.t
        after = self._stepper(now, h)
        self.steps += 1
        if after.status:
            self.status = Status(after.status)
            self.message = fault(
                self.setup, after.status, now.t, h, now.q, now.v, now.torque, now.lane,
                self._parameters.get("parameters"),
            )  # fmt: skip
            return now
        if self._lost(after):
            return now
        landing = self._landing(now, after, h) if self.events else None
        if landing is None:
            after = replace(after, t=end)
            # Where a function came from is known as soon as it has left zero.
            self._sides = np.where(self._sides == 0, np.sign(self._values(after)), self._sides)
        else:
            after = self._met(landing)
        if self.status is Status.FINISHED:
            after = replace(after, torque=self._outside.at(after.t, after.q, after.v))
        return after

    def _met(self, landing: Landing) -> Point:
        """Note an event, do what it asks for, and remember on which side of zero all are."""
        event, point = self.events[landing.index], landing.point
        self.happenings.append(Happening(event.name, point.t, landing.value, point.q, point.v))
        if event.action == "end":
            self.status = Status.ENDED
            self.message = f"ended by event {event.name!r} at {point.t:.6g} s"
            return point
        self._sides[landing.index] = landing.side
        if callable(event.action):
            before = np.sign(self._values(point))
            point = self._acted(event, point)
            after = np.sign(self._values(point))
            # What an action takes to the other side has not passed zero by itself.
            self._sides = np.where((after != before) & (after != 0), after, self._sides)
        return point

    def _landing(self, now: Point, after: Point, h: float) -> Landing | None:
        """The first event of a step, landed on by steps of other lengths from the same start."""
        way = between(self.setup.model, now.q, now.v, after.q, after.v, h)
        skipped: set[int] = set()
        while True:
            found = self._watch.first(way, now.t, h, self._sides, self._rest(now), skipped)
            if found is None:
                return None
            landing = self._located(now, after, h, found)
            if landing is not None:
                return landing
            # The cubic passed zero by its error alone.
            skipped.add(found.index)

    def _located(self, now: Point, after: Point, h: float, found: Crossing) -> Landing | None:
        """Just beyond the zero on true states; None where these do not pass it."""
        k, side = found.index, found.side

        def reached(share: float) -> Tried:
            share = float(share)
            if share == 0:
                point = now
            elif share == 1:
                point = after
            else:
                point = replace(self._stepper(now, share * h), t=now.t + share * h)
                self.steps += 1
            return Tried(share, float(self._values(point)[k]), point)

        low, high = reached(found.low), reached(found.high)
        if low.share > 0 and side * low.value >= 0:
            low, high = reached(0.0), low
        places = [*np.linspace(found.low, found.high, 10)[1:-1], 1.0]
        while side * high.value < 0:
            if not places:
                return None
            high = reached(places.pop(0))
        tolerance = self.events[k].tolerance
        shortest = 4 * np.spacing(now.t + h)
        for tries in range(LOCATING):
            if is_located(abs(high.value), tolerance, (high.share - low.share) * h, shortest):
                break
            there = reached(_between(low, high, side * tolerance / 2, tries))
            low, high = (low, there) if side * there.value >= 0 else (there, high)
        return Landing(k, high.point, high.value, side)

    def _lost(self, point: Point) -> bool:
        """Whether an event function is no number any more, which ends the run."""
        wrong = np.flatnonzero(~np.isfinite(self._values(point)))
        if wrong.size:
            self.status = Status.NOT_FINITE
            self.message = (
                f"at {point.t:.6g} s the function of event {self.events[wrong[0]].name!r} is not a "
                "finite number"
            )
        return bool(wrong.size)

    def _acted(self, event: Event, point: Point) -> Point:
        """The point after an event's own action."""
        assert callable(event.action)
        lane = dict(zip(self.setup.lane, map(float, point.lane), strict=True))
        changes = event.action(point.t, point.q.copy(), point.v.copy(), dict(lane)) or {}
        moved: dict[str, np.ndarray] = {}
        for name, value in changes.items():
            if name in ("q", "v"):
                moved[name] = np.array(value, dtype=float)
                wanted = getattr(point, name).shape
                if moved[name].shape != wanted or not np.all(np.isfinite(moved[name])):
                    raise ModelError(
                        f"the action of event {event.name!r} gave a {name} of shape "
                        f"{moved[name].shape} or not finite; {wanted} finite numbers are needed"
                    )
            elif name in lane:
                lane[name] = float(value)
            else:
                raise ModelError(
                    f"the action of event {event.name!r} changes {name!r}; it may change q, v and "
                    f"lane parameters ({', '.join(lane) or 'there are none'})"
                )
        numbers = np.array([lane[name] for name in self.setup.lane])
        after = replace(point, lane=numbers, **moved)  # type: ignore[arg-type]
        if moved:
            before, now = self._energies(point), self._energies(after)
            after = replace(
                after,
                jumped=after.jumped + sum(now) - sum(before),
                sprung=after.sprung + now[1] - before[1],
            )
        return after

    def _energies(self, point: Point) -> tuple[float, float]:
        """Energy (J) of motion and height, and of springs along coordinates."""
        model = self.setup.model
        numbers: Any = self._parameters.get("parameters")
        kinetic = kinetic_energy(model, point.q, point.v, parameters=numbers)
        height = potential_energy(model, point.q, parameters=numbers)
        return float(kinetic + height), float(spring_energies(model, point.q, numbers))

    def _rest(self, point: Point) -> dict[str, np.ndarray]:
        return {"lane": point.lane, **self._parameters}

    def _values(self, point: Point) -> np.ndarray:
        if not self.events:
            return np.zeros(0)
        return self._watch.values(point.t, point.q, point.v, self._rest(point))

    def _stalled(self, now: Point) -> None:
        name = self.happenings[-1].name
        self.status = Status.STALLED
        self.message = (
            f"stalled at {now.t:.6g} s: event {name!r} and others came more than "
            f"{EVENTS_PER_SECOND} times a second; let an action end what triggers them"
        )


def _between(low: Tried, high: Tried, aim: float, tries: int) -> float:
    """Where to try next: where a line between two tries comes to ``aim``, or in the middle."""
    share = 0.5
    if low.value * high.value < 0:
        share = cut_fraction(secant_fraction(low.value, high.value - low.value, aim), tries)
    return low.share + share * (high.share - low.share)
