"""The loop of an event-driven run: integrate to the next event, change modes, go on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.dynamics import Constraint
from homodyn.integrate import EmbeddedStep, dormand_prince_step
from homodyn.model.configuration import normalize
from homodyn.simulate.contact_geometry import ContactGeometry
from homodyn.simulate.diagnostics import massless_coordinate
from homodyn.simulate.rigid.contact_accelerations import ContactAccelerations, contact_accelerations
from homodyn.simulate.rigid.contact_modes import (
    CLOSING_DEPTH,
    MAX_REST_SPEED,
    MIN_SLIDE_SPEED,
    ContactModes,
)
from homodyn.simulate.rigid.contact_state import ContactState, contact_states
from homodyn.simulate.rigid.coordinate_rows import CoordinateRows
from homodyn.simulate.rigid.event_location import (
    DUE_FRACTION,
    StepInterval,
    first_event,
    flight_time,
    scaled_events,
)
from homodyn.simulate.rigid.event_run import (
    WORK_ENTRIES,
    ContactEvent,
    EventRun,
    EventRunFailure,
    Sample,
    TerminationReason,
    Torque,
)
from homodyn.simulate.rigid.event_settings import EventDrivenSettings
from homodyn.simulate.rigid.gap_constants import gap_constants, gap_shapes
from homodyn.simulate.rigid.impact import (
    ImpactResult,
    jam_impact,
    resolve_impact,
    suppress_slow_rebound,
)
from homodyn.simulate.solvers import ConeStatus

MIN_IMPACT_SPEED = 1e-8
"""m/s, rad/s: a contact that is touched slower than this needs no impact."""
MIN_OPENING_SPEED = 1e-4
"""m/s, rad/s: a contact that leaves an impact faster than this is open at once; a slower one has to
come to the surface first, and forces may hold it before it does."""
MAX_STEPS_PER_SECOND = 50_000
"""Steps in a second of simulated time, and at its start, beyond which a run makes no progress."""
MIN_SLIP_SPEED = 1e-3
"""m/s: a contact that leaves an impact slower along the surface rests until friction is used up."""
MAX_UNSOLVED_EVALUATIONS = 200
"""Evaluations of one run whose contact forces are not found to tolerance, before it is given up."""
MIN_JAM_STEP_S = 1e-9
"""s: a step beyond which no contact forces fit is cut down to this before a blow is tried."""
MIN_STEP_S = 1e-13
"""s: a step that must be shorter makes no progress."""


def run_events(
    law: EventDrivenSettings,
    geometry: ContactGeometry,
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
    return EventLoop(law, geometry, torque).run(
        np.array(q, float), np.array(v, float), duration, dt
    )


def _indices(chosen: np.ndarray) -> list[int]:
    return [int(k) for k in np.nonzero(chosen)[0]]


class EventLoop:
    """The moving parts of one run: modes, the last forces, and what is kept of the past."""

    def __init__(
        self,
        law: EventDrivenSettings,
        geometry: ContactGeometry,
        torque: Torque | None,
        constraints: Constraint | None = None,
        batch: Mapping[str, float] | None = None,
    ) -> None:
        model = geometry.model
        self.law, self.geometry, self.model = law, geometry, model
        coordinates = CoordinateRows(model, law.limits)
        self.at = contact_states(geometry, law.limits, constraints)
        self.names = (*geometry.names, *coordinates.names)
        self.contacts = len(geometry.names)
        self._shapes = gap_shapes(geometry)
        self.set_parameters(batch or {})
        self.friction_torques = coordinates.friction_torques()
        self.torque = torque or (lambda t, q, v: np.zeros(model.nv))
        self.constraint_rows = 0 if constraints is None else len(constraints.rows)
        self.guess: np.ndarray | None = None
        self.events: list[ContactEvent] = []
        self.instants: list[float] = []
        self.impulse = np.zeros((self.contacts, 3))
        self.steps = 0
        self.unsolved_evaluations = 0

    def set_parameters(self, batch: Mapping[str, float]) -> None:
        """Take the constants of the law that are numbers of the batch."""
        law = self.law
        self.friction = gap_constants(law.friction, self._shapes, "friction", batch)
        self.restitution = gap_constants(law.restitution, self._shapes, "restitution", batch)

    # -- the state as one vector: q, v, and the five works of `EventRun`

    def _state_at(self, y: np.ndarray) -> ContactState:
        nq, nv = self.model.nq, self.model.nv
        return self.at(y[:nq], y[nq : nq + nv])

    def _accelerations(
        self, t: float, state: ContactState
    ) -> tuple[ContactAccelerations, np.ndarray]:
        tau = np.asarray(self.torque(t, state.q, state.v), float)
        if not np.isfinite(tau).all():
            bad = [self.model.coordinate_names[i] for i in np.nonzero(~np.isfinite(tau))[0]]
            raise EventRunFailure(TerminationReason.TORQUES, f"at {t:.6g} s along {', '.join(bad)}")
        try:
            found = contact_accelerations(
                state, self.modes, tau, self.friction, self.friction_torques, self.guess
            )
        except np.linalg.LinAlgError:
            told = massless_coordinate(self.model, state.H)
            raise EventRunFailure(TerminationReason.SINGULAR, f"at {t:.6g} s: {told}") from None
        if found.solution.status is not ConeStatus.SOLVED:
            told = found.solution.status.value
            size = float(np.abs(found.solution.motion).max(initial=0.0))
            self.unsolved_evaluations += 1
            if (
                found.solution.residual > 1e-6 * max(size, 1.0)
                or self.unsolved_evaluations > MAX_UNSOLVED_EVALUATIONS
            ):
                raise EventRunFailure(
                    TerminationReason.CONTACTS,
                    f"at {t:.6g} s between {self._closed_names()}: {told}",
                )
        self.guess = found.force
        return found, tau

    def _closed_names(self) -> str:
        named = (*self.names[: self.contacts], *self.names[self.contacts :])
        return ", ".join(n for n, c in zip(named, self.modes.closed, strict=False) if c)

    def _slope(self, t: float, y: np.ndarray) -> np.ndarray:
        state = self._state_at(y)
        found, tau = self._accelerations(t, state)
        cut = 3 * self.contacts
        along = found.force[cut:] @ state.speed[cut:] + state.passive @ state.v
        powers = (tau @ state.v, found.force[:cut] @ state.speed[:cut], along, 0.0, 0.0)
        return np.concatenate([state.qdot, found.acceleration, powers])

    # -- the loop

    def run(self, q: np.ndarray, v: np.ndarray, duration: float, dt: float) -> EventRun:
        """Run, and gather the samples that were reached."""
        count = int(np.floor(duration / dt * (1 + 1e-12) + 1e-9)) + 1
        times = [min(k * dt, duration) for k in range(count)]
        if duration - times[-1] > 1e-12 * max(duration, 1.0):
            times.append(duration)
        y = np.concatenate([q, v, np.zeros(WORK_ENTRIES)])
        rows: list[Sample] = []
        ending, told = TerminationReason.FINISHED, ""
        t, h = 0.0, min(dt, 1e-3)
        try:
            y = self.start(y)
            self._sample(rows, 0.0, y)
            for end in times[1:]:
                y, h = self.integrate_to(t, end, y, h)
                t = end
                self._sample(rows, t, y)
        except EventRunFailure as failure:
            ending, told = failure.reason, str(failure)
        message = f"{ending.value} {told}".strip()
        return self._result(rows, ending, message)

    def start(self, y: np.ndarray) -> np.ndarray:
        """The first state, with the modes it is in, after the impacts it begins with."""
        state = self._state_at(y)
        if not all(np.isfinite(part).all() for part in (y, state.H, state.gap)):
            raise EventRunFailure(TerminationReason.SINGULAR, "at 0 s: the state is not finite")
        y, state = self._apply_constraints(y, state)
        self.modes = ContactModes.from_state(state, self.contacts)
        # What touches and comes on fast has still to strike.
        coming = state.speed[self.modes.normal_rows()] < -MIN_OPENING_SPEED
        self.modes.closed &= ~coming
        self.modes.sliding &= ~coming[: self.contacts]
        self._check_overlap(state)
        return self._first_slope(0.0, self.resolve_impacts(0.0, y, state))[0]

    def _apply_constraints(
        self, y: np.ndarray, state: ContactState
    ) -> tuple[np.ndarray, ContactState]:
        """The state without velocities that constraints forbid, with the loss booked."""
        try:
            stopped = state.constrained_velocity
        except np.linalg.LinAlgError:
            raise EventRunFailure(
                TerminationReason.SINGULAR, f"at 0 s: {massless_coordinate(self.model, state.H)}"
            ) from None
        if np.abs(state.K @ state.v).max(initial=0.0) < MIN_IMPACT_SPEED:
            return y, state
        y = y.copy()
        nq, nv = self.model.nq, self.model.nv
        y[nq : nq + nv] = stopped
        y[-1] += float(stopped @ state.H @ stopped) / 2 - state.kinetic_energy
        return y, self._state_at(y)

    def _check_overlap(self, state: ContactState) -> None:
        worst = int(np.argmin(state.gap)) if len(state.gap) else -1
        if worst >= 0 and state.gap[worst] < -self.law.max_overlap:
            raise EventRunFailure(
                TerminationReason.OVERLAP,
                f"at 0 s: {self._name(worst)} by {-state.gap[worst]:.3g}; raise the model, "
                f"or allow an overlap above {self.law.max_overlap:g}",
            )

    def _name(self, k: int) -> str:
        return self.names[k]

    def integrate_to(
        self, t: float, end: float, y: np.ndarray, h: float
    ) -> tuple[np.ndarray, float]:
        """From one sample to the next, through all events between."""
        y, slope = self._first_slope(t, y)
        cap = flight_time(self._state_at(y), slope, self.modes)
        while end - t > MIN_STEP_S:
            taken = min(h, end - t, max(cap, 1e-9))
            last = taken == end - t
            try:
                step = dormand_prince_step(self._slope, t, y, slope, taken)
            except EventRunFailure as failure:
                # Ahead no force fits: come near to where that begins, and strike there.
                if failure.reason is not TerminationReason.CONTACTS:
                    raise
                h = taken / 4
                if h < MIN_JAM_STEP_S:
                    y, slope = self.resolve_jam(t, y, failure)
                continue
            self.steps += 1
            if self.steps > MAX_STEPS_PER_SECOND * (1.0 + t):
                raise EventRunFailure(
                    TerminationReason.STALLED, f"at {t:.6g} s, after {self.steps} steps"
                )
            wrong = self._error(y, step)
            if not wrong <= 1.0:
                h = taken * (0.1 if not np.isfinite(wrong) else max(0.1, 0.9 * wrong**-0.2))
                if h < MIN_STEP_S:
                    raise EventRunFailure(TerminationReason.STALLED, f"at {t:.6g} s")
                continue
            growth = min(5.0, 0.9 * wrong**-0.2) if wrong > 0 else 5.0
            state = self._state_at(step.y)
            met = first_event(
                StepInterval(self._state_at, y, slope, step, taken), self.modes, state
            )
            if met is not None:
                taken *= met.share
                step = dormand_prince_step(self._slope, t, y, slope, taken)
                self._count_event(t + taken)
                y = self._normalize(step.y)
                t += taken
                y, slope = self._first_slope(t, self._handle_events(t, y, met.events))
                cap = flight_time(self._state_at(y), slope, self.modes)
                continue
            cap = np.inf
            # A step cut by the end of the interval says nothing against longer ones.
            h = max(h, taken * growth) if last else taken * growth
            self._start_sliding(t + taken, state)
            self.modes.update_slip_directions(state)
            t, y, slope = (end if last else t + taken), self._normalize(step.y), step.slope
        return y, h

    def _first_slope(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The slope at a state, after the blow of contacts that are jammed in it."""
        try:
            return y, self._slope(t, y)
        except EventRunFailure as failure:
            if failure.reason is not TerminationReason.CONTACTS:
                raise
            return self.resolve_jam(t, y, failure)

    def resolve_jam(
        self, t: float, y: np.ndarray, failure: EventRunFailure
    ) -> tuple[np.ndarray, np.ndarray]:
        """The state after a blow that stops slip which no force can hold, and its slope."""
        state = self._state_at(y)
        tau = np.asarray(self.torque(t, state.q, state.v), float)
        struck = jam_impact(state, self.modes, tau, self.friction)
        change = float(np.abs(state.G @ (struck.velocity - state.v)).max(initial=0.0))
        if struck.solution.status is not ConeStatus.SOLVED or change < MIN_SLIP_SPEED:
            raise failure
        self._count_event(t)
        rows = self.modes.normal_rows()
        hit = struck.impulse[rows] > 0
        for k in _indices(hit & self.modes.closed):
            self._log_event(t, state, "jam", self._name(k), float(struck.impulse[rows[k]]))
        y = self._apply_impulse(t, y, state, struck)
        return y, self._slope(t, y)

    def _normalize(self, y: np.ndarray) -> np.ndarray:
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

    def _count_event(self, t: float) -> None:
        """Remember an instant with events; too many of them end the run."""
        self.instants.append(t)
        recent = max(int(0.1 * self.law.max_events_per_second), 10)
        if len(self.instants) > recent and t - self.instants[-recent - 1] < 0.1:
            kinds = ", ".join(sorted({f"{e.kind} of {e.name}" for e in self.events[-6:]}))
            raise EventRunFailure(TerminationReason.EVENTS, f"at {t:.6g} s: {kinds}")

    def _log_event(
        self, t: float, state: ContactState, kind: str, name: str, impulse: float = 0.0
    ) -> None:
        self.events.append(ContactEvent(t, kind, name, state.q, state.v, impulse))

    def _handle_events(self, t: float, y: np.ndarray, met: np.ndarray) -> np.ndarray:
        """The state after the events at ``t``; ``met`` are those that the step was cut for."""
        state, modes = self._state_at(y), self.modes
        values = scaled_events(self.modes, state)
        touch = len(modes.closed)
        due = values < DUE_FRACTION
        # Speeds of the shorter step differ from those that the event was seen in by the error of
        # integration; waiting for them to pass their threshold would cut step after step.
        due[touch:] |= met[touch:]
        for k in _indices(modes.closed & due[:touch]):
            modes.closed[k] = False
            if k < self.contacts:
                modes.sliding[k] = False
            self._log_event(t, state, "leave", self._name(k))
        if (~modes.closed & due[:touch]).any():
            y = self.resolve_impacts(t, y, state)
            state = self._state_at(y)
        speeds = modes.slip_speeds(state)
        for k in _indices(due[touch : touch + self.contacts] & modes.closed[: self.contacts]):
            if modes.sliding[k] and speeds[k] <= 2 * MAX_REST_SPEED:
                modes.sliding[k] = False
                self._log_event(t, state, "rest", self._name(k))
        self._start_sliding(t, state)
        modes.update_slip_directions(state)
        rubbing = state.speed[3 * self.contacts + touch - self.contacts :]
        for k in _indices(due[touch + self.contacts :]):
            stopped = modes.moving[k] != 0
            modes.moving[k] = 0.0 if stopped else np.sign(rubbing[k])
            self._log_event(t, state, "rest" if stopped else "slide", self._name(touch + k))
        return y

    def _start_sliding(self, t: float, state: ContactState) -> None:
        """Let contacts slide that move and whose friction, at the last evaluation, was used up.

        What moves though friction would hold it moves by the error of integration alone.
        """
        if self.guess is None:
            return
        force = self.guess[: 3 * self.contacts].reshape(-1, 3)
        used_up = np.linalg.norm(force[:, 1:], axis=1) >= 0.999 * self.friction * force[:, 0]
        moving = self.modes.slip_speeds(state) > 0.99 * MIN_SLIDE_SPEED
        closed = self.modes.closed[: self.contacts]
        for k in _indices(closed & ~self.modes.sliding & moving & used_up):
            self.modes.sliding[k] = True
            self._log_event(t, state, "slide", self._name(k))

    def resolve_impacts(self, t: float, y: np.ndarray, state: ContactState) -> np.ndarray:
        """The state after an impact of all contacts and limits that are touched and approach."""
        modes = self.modes
        rows = modes.normal_rows()
        touching = state.gap <= CLOSING_DEPTH
        approaching = state.speed[rows] < -MIN_IMPACT_SPEED
        fresh = touching & approaching & ~modes.closed
        # A closed contact that creeps inwards does so by the error of integration.
        driven = modes.closed & (state.speed[rows] < -MIN_OPENING_SPEED)
        if not (fresh | driven).any():
            return y
        spread = True
        while spread:
            modes.close(fresh & ~modes.closed, state)
            struck = resolve_impact(
                state,
                modes,
                friction=self.friction,
                restitution=self.restitution,
                rest_speed=self.law.rest_speed,
                law=self.law.impact,
            )
            struck = suppress_slow_rebound(state, modes, struck, self.law.rest_speed)
            # A blow goes on at once to what it drives together elsewhere.
            after = state.G[rows] @ struck.velocity
            more = touching & ~modes.closed & (after < -MIN_IMPACT_SPEED)
            fresh |= more
            spread = bool(more.any())
        if (
            struck.solution.status is not ConeStatus.SOLVED
            and struck.solution.residual
            > 1e-6 * max(1.0, float(np.abs(state.speed).max(initial=0.0)))
        ):
            told = struck.solution.status.value
            raise EventRunFailure(
                TerminationReason.CONTACTS,
                f"at {t:.6g} s in an impact of {self._closed_names()}: {told}",
            )
        for k in _indices(fresh):
            self._log_event(t, state, "touch", self._name(k), float(struck.impulse[rows[k]]))
        return self._apply_impulse(t, y, state, struck)

    def _apply_impulse(
        self, t: float, y: np.ndarray, state: ContactState, struck: ImpactResult
    ) -> np.ndarray:
        """The state and modes after a blow, with its impulses and work booked."""
        modes, cut = self.modes, 3 * self.contacts
        self.impulse += struck.impulse[:cut].reshape(-1, 3)
        mean = struck.impulse * (state.speed + state.G @ struck.velocity) / 2
        nq, nv = self.model.nq, self.model.nv
        y = np.concatenate([y[:nq], struck.velocity, y[nq + nv :]])
        y[-2:] += mean[:cut].sum(), mean[cut:].sum()
        after = state.G[modes.normal_rows()] @ struck.velocity
        for k in _indices(modes.closed & (after > MIN_OPENING_SPEED)):
            modes.closed[k] = False
            self._log_event(t, state, "leave", self._name(k))
        rested = self._state_at(y)
        slipping = modes.slip_speeds(rested) > MIN_SLIP_SPEED
        modes.sliding = modes.closed[: self.contacts] & slipping
        modes.update_slip_directions(rested)
        self.guess = None
        return y

    # -- what is kept

    def forces(self, t: float, state: ContactState) -> tuple[np.ndarray, np.ndarray]:
        """Forces of the contacts along their normals and tangents, and of the constraints."""
        found, tau = self._accelerations(t, state)
        held = state.constraint_forces(found.acceleration, tau, found.force)
        return found.force[: 3 * self.contacts].reshape(-1, 3).copy(), held[: self.constraint_rows]

    def _sample(self, rows: list[Sample], t: float, y: np.ndarray) -> None:
        force, _ = self.forces(t, self._state_at(y))
        rows.append((t, y, force, self.modes.closed[: self.contacts].copy()))

    def _result(self, rows: list[Sample], ending: TerminationReason, message: str) -> EventRun:
        nq, nv, n = self.model.nq, self.model.nv, len(rows)
        y = np.array([row[1] for row in rows]).reshape(n, nq + nv + WORK_ENTRIES)
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
