"""The loop of an event-driven run: integrate to the next event, change modes, go on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.dynamics import Constraint
from homodyn.integrate import EmbeddedStep, dormand_prince_step
from homodyn.model.configuration import normalize
from homodyn.simulate.faults import lightest
from homodyn.simulate.geometry import Scene
from homodyn.simulate.rigid.accelerations import Accelerated, accelerations
from homodyn.simulate.rigid.contact_state import ContactState, contact_states
from homodyn.simulate.rigid.coordinates import CoordinateRows
from homodyn.simulate.rigid.event_driven import EventDriven
from homodyn.simulate.rigid.event_run import (
    WORKS,
    ContactEvent,
    Ending,
    EventRun,
    Failure,
    Sample,
    Torque,
)
from homodyn.simulate.rigid.impacts import Struck, impact, jam, settled
from homodyn.simulate.rigid.location import (
    DUE,
    Stretch,
    first_event,
    flight_time,
    scaled_events,
)
from homodyn.simulate.rigid.modes import CLOSING, RESTING, SLIDING, Modes
from homodyn.simulate.rigid.surfaces import gap_shapes, per_gap
from homodyn.simulate.solvers import Status

APPROACHING = 1e-8
"""m/s, rad/s: a contact that is touched slower than this needs no impact."""
OPENING = 1e-4
"""m/s, rad/s: a contact that leaves an impact faster than this is open at once; a slower one has to
come to the surface first, and forces may hold it before it does."""
STEPS = 50_000
"""Steps in a second of simulated time, and at its start, beyond which a run makes no progress."""
SLIPPING = 1e-3
"""m/s: a contact that leaves an impact slower along the surface rests until friction is used up."""
HARD = 200
"""Evaluations of one run whose contact forces are not found to tolerance, before it is given up."""
JAMMED = 1e-9
"""s: a step beyond which no contact forces fit is cut down to this before a blow is tried."""
SHORTEST = 1e-13
"""s: a step that must be shorter makes no progress."""


def run_events(
    law: EventDriven,
    scene: Scene,
    q: np.ndarray,
    v: np.ndarray,
    duration: float,
    *,
    dt: float = 0.01,
    torque: Torque | None = None,
) -> EventRun:
    """Simulate for ``duration`` (s) with samples every ``dt`` (s).

    ``torque(t, q, v)`` gives generalised forces (N m, N); none without it.
    """
    return EventLoop(law, scene, torque).over(np.array(q, float), np.array(v, float), duration, dt)


def _places(chosen: np.ndarray) -> list[int]:
    return [int(k) for k in np.nonzero(chosen)[0]]


class EventLoop:
    """The moving parts of one run: modes, the last forces, and what is kept of the past."""

    def __init__(
        self,
        law: EventDriven,
        scene: Scene,
        torque: Torque | None,
        constraints: Constraint | None = None,
        lane: Mapping[str, float] | None = None,
    ) -> None:
        model = scene.model
        self.law, self.scene, self.model = law, scene, model
        coordinates = CoordinateRows(model, law.limits)
        self.at = contact_states(scene, law.limits, constraints)
        self.names = (*scene.names, *coordinates.names)
        self.contacts = len(scene.names)
        self._shapes = gap_shapes(scene)
        self.take(lane or {})
        self.strengths = coordinates.strengths()
        self.torque = torque or (lambda t, q, v: np.zeros(model.nv))
        self.held = 0 if constraints is None else len(constraints.rows)
        self.guess: np.ndarray | None = None
        self.events: list[ContactEvent] = []
        self.instants: list[float] = []
        self.impulse = np.zeros((self.contacts, 3))
        self.steps = 0
        self.hard = 0

    def take(self, lane: Mapping[str, float]) -> None:
        """Take the constants of the law that are numbers of the lane."""
        law = self.law
        self.friction = per_gap(law.friction, self._shapes, "friction", lane)
        self.restitution = per_gap(law.restitution, self._shapes, "restitution", lane)

    # -- the state as one vector: q, v, and the five works of `EventRun`

    def _split(self, y: np.ndarray) -> ContactState:
        nq, nv = self.model.nq, self.model.nv
        return self.at(y[:nq], y[nq : nq + nv])

    def _accelerated(self, t: float, state: ContactState) -> tuple[Accelerated, np.ndarray]:
        tau = np.asarray(self.torque(t, state.q, state.v), float)
        if not np.isfinite(tau).all():
            bad = [self.model.coordinate_names[i] for i in np.nonzero(~np.isfinite(tau))[0]]
            raise Failure(Ending.TORQUES, f"at {t:.6g} s along {', '.join(bad)}")
        try:
            found = accelerations(state, self.modes, tau, self.friction, self.strengths, self.guess)
        except np.linalg.LinAlgError:
            told = lightest(self.model, state.H)
            raise Failure(Ending.SINGULAR, f"at {t:.6g} s: {told}") from None
        if found.solution.status is not Status.SOLVED:
            told = found.solution.status.value
            size = float(np.abs(found.solution.motion).max(initial=0.0))
            self.hard += 1
            if found.solution.residual > 1e-6 * max(size, 1.0) or self.hard > HARD:
                raise Failure(
                    Ending.CONTACTS, f"at {t:.6g} s between {self._closed_names()}: {told}"
                )
        self.guess = found.force
        return found, tau

    def _closed_names(self) -> str:
        named = (*self.names[: self.contacts], *self.names[self.contacts :])
        return ", ".join(n for n, c in zip(named, self.modes.closed, strict=False) if c)

    def _slope(self, t: float, y: np.ndarray) -> np.ndarray:
        state = self._split(y)
        found, tau = self._accelerated(t, state)
        cut = 3 * self.contacts
        along = found.force[cut:] @ state.speed[cut:] + state.passive @ state.v
        powers = (tau @ state.v, found.force[:cut] @ state.speed[:cut], along, 0.0, 0.0)
        return np.concatenate([state.qdot, found.acceleration, powers])

    # -- the loop

    def over(self, q: np.ndarray, v: np.ndarray, duration: float, dt: float) -> EventRun:
        """Run, and gather the samples that were reached."""
        count = int(np.floor(duration / dt * (1 + 1e-12) + 1e-9)) + 1
        times = [min(k * dt, duration) for k in range(count)]
        if duration - times[-1] > 1e-12 * max(duration, 1.0):
            times.append(duration)
        y = np.concatenate([q, v, np.zeros(WORKS)])
        rows: list[Sample] = []
        ending, told = Ending.FINISHED, ""
        t, h = 0.0, min(dt, 1e-3)
        try:
            y = self.begun(y)
            self._sample(rows, 0.0, y)
            for end in times[1:]:
                y, h = self.integrated(t, end, y, h)
                t = end
                self._sample(rows, t, y)
        except Failure as failure:
            ending, told = failure.ending, str(failure)
        message = f"{ending.value} {told}".strip()
        return self._gathered(rows, ending, message)

    def begun(self, y: np.ndarray) -> np.ndarray:
        """The first state, with the modes it is in, after the impacts it begins with."""
        state = self._split(y)
        if not all(np.isfinite(part).all() for part in (y, state.H, state.gap)):
            raise Failure(Ending.SINGULAR, "at 0 s: the state is not finite")
        y, state = self._held_back(y, state)
        self.modes = Modes.of(state, self.contacts)
        # What touches and comes on fast has still to strike.
        coming = state.speed[self.modes.normal_rows()] < -OPENING
        self.modes.closed &= ~coming
        self.modes.sliding &= ~coming[: self.contacts]
        self._check_overlap(state)
        return self._begun_slope(0.0, self.struck(0.0, y, state))[0]

    def _held_back(self, y: np.ndarray, state: ContactState) -> tuple[np.ndarray, ContactState]:
        """The state without velocities that constraints forbid, with the loss booked."""
        try:
            stopped = state.stopped
        except np.linalg.LinAlgError:
            raise Failure(Ending.SINGULAR, f"at 0 s: {lightest(self.model, state.H)}") from None
        if np.abs(state.K @ state.v).max(initial=0.0) < APPROACHING:
            return y, state
        y = y.copy()
        nq, nv = self.model.nq, self.model.nv
        y[nq : nq + nv] = stopped
        y[-1] += float(stopped @ state.H @ stopped) / 2 - state.kinetic_energy
        return y, self._split(y)

    def _check_overlap(self, state: ContactState) -> None:
        worst = int(np.argmin(state.gap)) if len(state.gap) else -1
        if worst >= 0 and state.gap[worst] < -self.law.overlap:
            raise Failure(
                Ending.OVERLAP,
                f"at 0 s: {self._name(worst)} by {-state.gap[worst]:.3g}; raise the model, "
                f"or allow an overlap above {self.law.overlap:g}",
            )

    def _name(self, k: int) -> str:
        return self.names[k]

    def integrated(self, t: float, end: float, y: np.ndarray, h: float) -> tuple[np.ndarray, float]:
        """From one sample to the next, through all events between."""
        y, slope = self._begun_slope(t, y)
        cap = flight_time(self._split(y), slope, self.modes)
        while end - t > SHORTEST:
            taken = min(h, end - t, max(cap, 1e-9))
            last = taken == end - t
            try:
                step = dormand_prince_step(self._slope, t, y, slope, taken)
            except Failure as failure:
                # Ahead no force fits: come near to where that begins, and strike there.
                if failure.ending is not Ending.CONTACTS:
                    raise
                h = taken / 4
                if h < JAMMED:
                    y, slope = self.jammed(t, y, failure)
                continue
            self.steps += 1
            if self.steps > STEPS * (1.0 + t):
                raise Failure(Ending.STALLED, f"at {t:.6g} s, after {self.steps} steps")
            wrong = self._error(y, step)
            if not wrong <= 1.0:
                h = taken * (0.1 if not np.isfinite(wrong) else max(0.1, 0.9 * wrong**-0.2))
                if h < SHORTEST:
                    raise Failure(Ending.STALLED, f"at {t:.6g} s")
                continue
            growth = min(5.0, 0.9 * wrong**-0.2) if wrong > 0 else 5.0
            state = self._split(step.y)
            met = first_event(Stretch(self._split, y, slope, step, taken), self.modes, state)
            if met is not None:
                taken *= met.share
                step = dormand_prince_step(self._slope, t, y, slope, taken)
                self._count(t + taken)
                y = self._normalized(step.y)
                t += taken
                y, slope = self._begun_slope(t, self._handled(t, y, met.events))
                cap = flight_time(self._split(y), slope, self.modes)
                continue
            cap = np.inf
            # A step cut by the end of the interval says nothing against longer ones.
            h = max(h, taken * growth) if last else taken * growth
            self._slide(t + taken, state)
            self.modes.look(state)
            t, y, slope = (end if last else t + taken), self._normalized(step.y), step.slope
        return y, h

    def _begun_slope(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The slope at a state, after the blow of contacts that are jammed in it."""
        try:
            return y, self._slope(t, y)
        except Failure as failure:
            if failure.ending is not Ending.CONTACTS:
                raise
            return self.jammed(t, y, failure)

    def jammed(self, t: float, y: np.ndarray, failure: Failure) -> tuple[np.ndarray, np.ndarray]:
        """The state after a blow that stops slip which no force can hold, and its slope."""
        state = self._split(y)
        tau = np.asarray(self.torque(t, state.q, state.v), float)
        struck = jam(state, self.modes, tau, self.friction)
        change = float(np.abs(state.G @ (struck.velocity - state.v)).max(initial=0.0))
        if struck.solution.status is not Status.SOLVED or change < SLIPPING:
            raise failure
        self._count(t)
        rows = self.modes.normal_rows()
        hit = struck.impulse[rows] > 0
        for k in _places(hit & self.modes.closed):
            self._told(t, state, "jam", self._name(k), float(struck.impulse[rows[k]]))
        y = self._after_blow(t, y, state, struck)
        return y, self._slope(t, y)

    def _normalized(self, y: np.ndarray) -> np.ndarray:
        nq = self.model.nq
        if nq == self.model.nv:
            return y
        return np.concatenate([normalize(self.model, y[:nq]), y[nq:]])

    def _error(self, y: np.ndarray, step: EmbeddedStep) -> float:
        """Largest error of q and v over what is tolerated."""
        n = self.model.nq + self.model.nv
        size = np.maximum(np.abs(y[:n]), np.abs(step.y[:n]))
        allowed = self.law.tolerance * (1.0 + size)
        return float(np.max(np.abs(step.error[:n]) / allowed, initial=0.0))

    # -- events

    def _count(self, t: float) -> None:
        """Remember an instant with events; too many of them end the run."""
        self.instants.append(t)
        recent = max(int(0.1 * self.law.events), 10)
        if len(self.instants) > recent and t - self.instants[-recent - 1] < 0.1:
            kinds = ", ".join(sorted({f"{e.kind} of {e.name}" for e in self.events[-6:]}))
            raise Failure(Ending.EVENTS, f"at {t:.6g} s: {kinds}")

    def _told(
        self, t: float, state: ContactState, kind: str, name: str, impulse: float = 0.0
    ) -> None:
        self.events.append(ContactEvent(t, kind, name, state.q, state.v, impulse))

    def _handled(self, t: float, y: np.ndarray, met: np.ndarray) -> np.ndarray:
        """The state after the events at ``t``; ``met`` are those that the step was cut for."""
        state, modes = self._split(y), self.modes
        values = scaled_events(self.modes, state)
        touch = len(modes.closed)
        due = values < DUE
        # Speeds of the shorter step differ from those that the event was seen in by the error of
        # integration; waiting for them to pass their threshold would cut step after step.
        due[touch:] |= met[touch:]
        for k in _places(modes.closed & due[:touch]):
            modes.closed[k] = False
            if k < self.contacts:
                modes.sliding[k] = False
            self._told(t, state, "leave", self._name(k))
        if (~modes.closed & due[:touch]).any():
            y = self.struck(t, y, state)
            state = self._split(y)
        speeds = modes.slip_speeds(state)
        for k in _places(due[touch : touch + self.contacts] & modes.closed[: self.contacts]):
            if modes.sliding[k] and speeds[k] <= 2 * RESTING:
                modes.sliding[k] = False
                self._told(t, state, "rest", self._name(k))
        self._slide(t, state)
        modes.look(state)
        rubbing = state.speed[3 * self.contacts + touch - self.contacts :]
        for k in _places(due[touch + self.contacts :]):
            stopped = modes.moving[k] != 0
            modes.moving[k] = 0.0 if stopped else np.sign(rubbing[k])
            self._told(t, state, "rest" if stopped else "slide", self._name(touch + k))
        return y

    def _slide(self, t: float, state: ContactState) -> None:
        """Let contacts slide that move and whose friction, at the last evaluation, was used up.

        What moves though friction would hold it moves by the error of integration alone.
        """
        if self.guess is None:
            return
        force = self.guess[: 3 * self.contacts].reshape(-1, 3)
        used_up = np.linalg.norm(force[:, 1:], axis=1) >= 0.999 * self.friction * force[:, 0]
        moving = self.modes.slip_speeds(state) > 0.99 * SLIDING
        closed = self.modes.closed[: self.contacts]
        for k in _places(closed & ~self.modes.sliding & moving & used_up):
            self.modes.sliding[k] = True
            self._told(t, state, "slide", self._name(k))

    def struck(self, t: float, y: np.ndarray, state: ContactState) -> np.ndarray:
        """The state after an impact of all contacts and limits that are touched and approach."""
        modes = self.modes
        rows = modes.normal_rows()
        touching = state.gap <= CLOSING
        approaching = state.speed[rows] < -APPROACHING
        fresh = touching & approaching & ~modes.closed
        # A closed contact that creeps inwards does so by the error of integration.
        driven = modes.closed & (state.speed[rows] < -OPENING)
        if not (fresh | driven).any():
            return y
        spread = True
        while spread:
            modes.close(fresh & ~modes.closed, state)
            struck = impact(
                state,
                modes,
                friction=self.friction,
                restitution=self.restitution,
                rest_speed=self.law.rest_speed,
                law=self.law.impact,
            )
            struck = settled(state, modes, struck, self.law.rest_speed)
            # A blow goes on at once to what it drives together elsewhere.
            after = state.G[rows] @ struck.velocity
            more = touching & ~modes.closed & (after < -APPROACHING)
            fresh |= more
            spread = bool(more.any())
        if struck.solution.status is not Status.SOLVED and struck.solution.residual > 1e-6 * max(
            1.0, float(np.abs(state.speed).max(initial=0.0))
        ):
            told = struck.solution.status.value
            raise Failure(
                Ending.CONTACTS, f"at {t:.6g} s in an impact of {self._closed_names()}: {told}"
            )
        for k in _places(fresh):
            self._told(t, state, "touch", self._name(k), float(struck.impulse[rows[k]]))
        return self._after_blow(t, y, state, struck)

    def _after_blow(
        self, t: float, y: np.ndarray, state: ContactState, struck: Struck
    ) -> np.ndarray:
        """The state and modes after a blow, with its impulses and work booked."""
        modes, cut = self.modes, 3 * self.contacts
        self.impulse += struck.impulse[:cut].reshape(-1, 3)
        mean = struck.impulse * (state.speed + state.G @ struck.velocity) / 2
        nq, nv = self.model.nq, self.model.nv
        y = np.concatenate([y[:nq], struck.velocity, y[nq + nv :]])
        y[-2:] += mean[:cut].sum(), mean[cut:].sum()
        after = state.G[modes.normal_rows()] @ struck.velocity
        for k in _places(modes.closed & (after > OPENING)):
            modes.closed[k] = False
            self._told(t, state, "leave", self._name(k))
        rested = self._split(y)
        slipping = modes.slip_speeds(rested) > SLIPPING
        modes.sliding = modes.closed[: self.contacts] & slipping
        modes.look(rested)
        self.guess = None
        return y

    # -- what is kept

    def forces(self, t: float, state: ContactState) -> tuple[np.ndarray, np.ndarray]:
        """Forces of the contacts along their normals and tangents, and of the constraints."""
        found, tau = self._accelerated(t, state)
        held = state.holding(found.acceleration, tau, found.force)
        return found.force[: 3 * self.contacts].reshape(-1, 3).copy(), held[: self.held]

    def _sample(self, rows: list[Sample], t: float, y: np.ndarray) -> None:
        force, _ = self.forces(t, self._split(y))
        rows.append((t, y, force, self.modes.closed[: self.contacts].copy()))

    def _gathered(self, rows: list[Sample], ending: Ending, message: str) -> EventRun:
        nq, nv, n = self.model.nq, self.model.nv, len(rows)
        y = np.array([row[1] for row in rows]).reshape(n, nq + nv + WORKS)
        return EventRun(
            np.array([row[0] for row in rows]),
            y[:, :nq],
            y[:, nq : nq + nv],
            np.array([row[2] for row in rows]).reshape(n, self.contacts, 3),
            np.array([row[3] for row in rows], bool).reshape(n, self.contacts),
            self.impulse,
            y[:, nq + nv :],
            tuple(self.events),
            ending,
            message,
            self.steps,
        )
