"""A simulation taken step by step in Python: with events, controllers, or steps that adapt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from homodyn.dynamics import kinetic_energy, potential_energy
from homodyn.errors import ModelError
from homodyn.simulate.events import Event, Watch, between
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

    ``jumped`` is the energy (J) that actions of events have brought so far.
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


class March:
    """Steps along a grid of times, landing on events and on changes of torque in between."""

    def __init__(
        self,
        setup: Setup,
        stepper: Stepper,
        events: Sequence[Event],
        parameters: Mapping[str, np.ndarray],
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
        self._outside = Outside(setup)
        self._watch = Watch(setup.model, self.events, setup.lane)
        self._sides = np.zeros(len(self.events))

    def along(self, grid: np.ndarray, start: Point, every: int) -> None:
        """Go along the grid; every ``every``-th of its points and the last one are kept."""
        now = replace(start, torque=self._outside.at(start.t, start.q, start.v))
        self._sides = np.sign(self._values(now))
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
            self.message = fault(self.setup, now, after.status, h)
            return now
        landing = self._landing(now, after, h) if self.events else None
        if landing is None:
            after = replace(after, t=end)
            values = self._values(after)
            self._sides = np.where(values != 0, np.sign(values), self._sides)
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
        if callable(event.action):
            point = self._acted(event, point)
        values = self._values(point)
        own = np.arange(len(self.events)) == landing.index
        # What was just met is near zero with either sign: it lies where it was going, unless an
        # action has taken it elsewhere.
        near = np.abs(values) <= max(event.tolerance, abs(landing.value))
        sides = np.where(values != 0, np.sign(values), self._sides)
        self._sides = np.where(own & near, landing.side, sides)
        return point

    def _landing(self, now: Point, after: Point, h: float) -> Landing | None:
        """The first event of a step, landed on by steps of other lengths from the same start."""
        way = between(self.setup.model, now.q, now.v, after.q, after.v, h)
        found = self._watch.first(way, now.t, h, self._sides, self._rest(now))
        if found is None:
            return None
        share, k = found
        event, before = self.events[k], self._sides[k]
        low, high = (0.0, float(self._values(now)[k])), (1.0, float(self._values(after)[k]))
        side = -before if before else np.sign(high[1])
        landed, value = after, high[1]
        for tried in range(LOCATING):
            if now.t + share * h == now.t:
                return Landing(k, now, low[1], side)
            landed = replace(self._stepper(now, share * h), t=now.t + share * h)
            self.steps += 1
            value = float(self._values(landed)[k])
            if abs(value) <= event.tolerance or (high[0] - low[0]) * h < 4 * np.spacing(now.t + h):
                break
            if value * before > 0:
                low = (share, value)
            else:
                high = (share, value)
            share = _between(low, high, halve=tried % 3 == 2)
        return Landing(k, landed, value, side)

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
            after = replace(after, jumped=after.jumped + self._energy(after) - self._energy(point))
        return after

    def _energy(self, point: Point) -> float:
        model = self.setup.model
        numbers: Any = self._parameters.get("parameters")
        kinetic = kinetic_energy(model, point.q, point.v, parameters=numbers)
        return float(kinetic + potential_energy(model, point.q, parameters=numbers))

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


def _between(low: tuple[float, float], high: tuple[float, float], halve: bool) -> float:
    """Where a straight line between two values is zero, kept off the ends; or the middle."""
    width = high[0] - low[0]
    if halve or not low[1] * high[1] < 0:
        return low[0] + width / 2
    share = low[1] / (low[1] - high[1])
    return low[0] + width * min(max(share, 1e-3), 1 - 1e-3)


def fault(setup: Setup, point: Point, status: int, h: float) -> str:
    """What went wrong in a step, where and when."""
    names = setup.model.coordinate_names
    bad = [name for name, x in zip(names, point.torque, strict=True) if not np.isfinite(x)]
    if bad:
        return f"at {point.t:.6g} s the torque of {', '.join(bad)} is not a finite number"
    if status == Status.NOT_CONVERGED.value:
        return f"the step of {h:g} s at {point.t:.6g} s could not be solved; take a smaller one"
    fastest = int(np.argmax(np.abs(point.v))) if len(names) else 0
    return (
        f"the step of {h:g} s at {point.t:.6g} s left the range of numbers; before it "
        f"{names[fastest]} moved at {point.v[fastest]:.3g} (SI units): take smaller steps, "
        "implicit springs, or softer contacts and gains"
    )
