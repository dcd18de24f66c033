"""The loop of an event-driven run: integrate to the next event, change modes, continue."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from homodyn.dynamics.constraints import Constraint
from homodyn.integrate import (
    EmbeddedStep,
    dormand_prince_step,
    hermite_interpolation,
)
from homodyn.model.configuration import normalize
from homodyn.simulate.diagnostics import massless_coordinate
from homodyn.simulate.geometry import ContactGeometry
from homodyn.simulate.rigid.contact_accelerations import true_indices
from homodyn.simulate.rigid.contact_dynamics import MAX_UNSOLVED_RESIDUAL, ContactDynamics
from homodyn.simulate.rigid.contact_modes import (
    CLOSING_DEPTH,
    MAX_REST_SPEED,
    MIN_SLIDE_SPEED,
    ContactModes,
)
from homodyn.simulate.rigid.contact_state import ContactMotion, ContactState
from homodyn.simulate.rigid.event_location import (
    DUE_FRACTION,
    StepInterval,
    first_event,
    flight_time,
    scaled_events,
)
from homodyn.simulate.rigid.event_run import (
    ContactEvent,
    EventRunFailure,
    StateLoad,
    TerminationReason,
)
from homodyn.simulate.rigid.event_settings import EventDrivenSettings
from homodyn.simulate.rigid.impact import (
    ImpactResult,
    jam_impact,
    resolve_impact,
    suppress_slow_rebound,
)
from homodyn.simulate.rigid.implicit_integration import (
    MIN_GAIN,
    ImplicitAdvance,
    ImplicitIntegration,
    StiffnessDetector,
)
from homodyn.simulate.rigid.mode_solver import STABILIZATION_TIME_S
from homodyn.simulate.rigid.slope_evaluation import TracedTorque
from homodyn.simulate.solvers import ConeStatus

MIN_IMPACT_SPEED = 1e-8
"""m/s, rad/s: a contact that closes more slowly needs no impact."""
MIN_OPENING_SPEED = 1e-4
"""m/s, rad/s: a contact that leaves an impact faster than this opens at once; a slower one has to
reach the surface first, and forces may stop it before."""
MAX_STEPS_PER_SECOND = 50_000
"""Steps per second of simulated time, and at its start, beyond which a run has stalled."""
MIN_SLIP_SPEED = 1e-3
"""m/s: a contact that leaves an impact with less slip rests until friction reaches its limit."""
MIN_JAM_STEP_S = 1e-9
"""Step length at which a jam impact is tried where no contact forces are consistent."""
MIN_STEP_S = 1e-13
"""Step length below which a run has stalled."""
USED_FRICTION_FRACTION = 0.999
"""Fraction of the friction limit from which a contact may start to slide."""
MAX_CLOSED_STEP_S = 3 * STABILIZATION_TIME_S
"""Step up to which the correction of errors in closed contacts is stable (Dormand and Prince: 3.3
time constants); longer steps would amplify rounding errors up to the tolerance."""
FIRST_IMPLICIT_RATIO = 8.0
"""Length of the first implicit step over that of the explicit steps before."""
EVENT_WINDOW_S = 0.1
"""Time over which events per second are counted."""


class EventLoop:
    """The state of one run: modes, the last forces, and the events so far."""

    def __init__(
        self,
        law: EventDrivenSettings,
        geometry: ContactGeometry,
        load: StateLoad | None,
        constraints: Constraint | None = None,
        batch: Mapping[str, float] | None = None,
        traced: TracedTorque | None = None,
    ) -> None:
        self.law, self.model = law, geometry.model
        self.dynamics = ContactDynamics(law, geometry, load, constraints, batch, traced)
        self.names, self.contacts = self.dynamics.names, self.dynamics.contacts
        self._stiffness = StiffnessDetector(self.dynamics)
        self._implicit = ImplicitIntegration(self.dynamics, law.tolerance)
        self._is_stiff = False
        self.events: list[ContactEvent] = []
        self.instants: list[float] = []
        self.impulse = np.zeros((self.contacts, 3))
        self.steps = 0

    @property
    def modes(self) -> ContactModes:
        """The present modes."""
        return self.dynamics.modes

    def start(self, y: np.ndarray) -> np.ndarray:
        """The first state vector, after impacts at the start; sets the modes."""
        state = self.dynamics.state_at(y)
        if not all(np.isfinite(part).all() for part in (y, state.H, state.gap)):
            raise EventRunFailure(TerminationReason.SINGULAR, "at 0 s: the state is not finite")
        y, state = self._apply_constraints(y, state)
        self.dynamics.modes = ContactModes.from_state(state, self.contacts)
        # A contact that touches and approaches fast has an impact first.
        approaching = state.speed[self.modes.normal_rows()] < -MIN_OPENING_SPEED
        self.modes.closed &= ~approaching
        self.modes.sliding &= ~approaching[: self.contacts]
        self._check_overlap(state)
        return self._first_slope(0.0, self.resolve_impacts(0.0, y, state))[0]

    def _apply_constraints(
        self, y: np.ndarray, state: ContactState
    ) -> tuple[np.ndarray, ContactState]:
        """The state with velocities projected onto the constraints, and the loss as work."""
        try:
            projected = state.constrained_velocity
        except np.linalg.LinAlgError:
            raise EventRunFailure(
                TerminationReason.SINGULAR, f"at 0 s: {massless_coordinate(self.model, state.H)}"
            ) from None
        if np.abs(state.K @ state.v).max(initial=0.0) < MIN_IMPACT_SPEED:
            return y, state
        y = y.copy()
        nq, nv = self.model.nq, self.model.nv
        y[nq : nq + nv] = projected
        y[-1] += float(projected @ state.H @ projected) / 2 - state.kinetic_energy
        return y, self.dynamics.state_at(y)

    def _check_overlap(self, state: ContactState) -> None:
        worst = int(np.argmin(state.gap)) if len(state.gap) else -1
        if worst >= 0 and state.gap[worst] < -self.law.max_overlap:
            raise EventRunFailure(
                TerminationReason.OVERLAP,
                f"at 0 s: {self.names[worst]} by {-state.gap[worst]:.3g}; raise the model, "
                f"or allow an overlap above {self.law.max_overlap:g}",
            )

    def integrate_to(
        self, t: float, end: float, y: np.ndarray, h: float
    ) -> tuple[np.ndarray, float]:
        """The state vector at ``end`` (s), through all events before, and the next step length."""
        y, slope = self._first_slope(t, y)
        max_step = flight_time(self.dynamics.state_at(y), slope, self.modes)
        while end - t > MIN_STEP_S:
            self._check_steps(t)
            if self._is_stiff:
                advanced = self._implicit_step(t, end, y, slope, h)
                if advanced is not None:
                    t, y, slope = advanced
                    continue
            if self.modes.closed.any():
                max_step = min(max_step, MAX_CLOSED_STEP_S)
            length = min(h, end - t, max(max_step, 1e-9))
            last = length == end - t
            try:
                step = dormand_prince_step(self.dynamics.slope, t, y, slope, length)
            except EventRunFailure as failure:
                # No forces are consistent within the step: approach that point, then impact.
                if failure.reason is not TerminationReason.CONTACTS:
                    raise
                h = length / 4
                if h < MIN_JAM_STEP_S:
                    y, slope = self.resolve_jam(t, y, failure)
                continue
            self.steps += 1
            error = self._error(y, step)
            if not error <= 1.0:
                h = length * (0.1 if not np.isfinite(error) else max(0.1, 0.9 * error**-0.2))
                if h < MIN_STEP_S:
                    raise EventRunFailure(TerminationReason.STALLED, f"at {t:.6g} s")
                continue
            growth = min(5.0, 0.9 * error**-0.2) if error > 0 else 5.0
            located, motion = first_event(
                StepInterval(self.dynamics.motions_at, _cubic(y, slope, step, length), length),
                self.modes,
            )
            if located is not None:
                length *= located.fraction
                step = dormand_prince_step(self.dynamics.slope, t, y, slope, length)
                self._count_event(t + length)
                y = self._normalize(step.y)
                t += length
                y, slope = self._first_slope(t, self._handle_events(t, y, located.events))
                max_step = flight_time(self.dynamics.state_at(y), slope, self.modes)
                self._restart_explicit()
                continue
            max_step = np.inf
            if self._stiffness.check(t + length, step, length):
                self._is_stiff = True
                self._implicit.reset(FIRST_IMPLICIT_RATIO * length)
            # A step that ends at the end of the interval does not limit later ones.
            h = max(h, length * growth) if last else length * growth
            if self.contacts:
                self._start_sliding(t + length, step.y, motion)
                self.modes.update_slip_directions(motion)
            t, y, slope = (end if last else t + length), self._normalize(step.y), step.slope
        return y, h

    def _check_steps(self, t: float) -> None:
        if self.steps > MAX_STEPS_PER_SECOND * (1.0 + t):
            raise EventRunFailure(
                TerminationReason.STALLED, f"at {t:.6g} s, after {self.steps} steps"
            )

    # -- implicit steps

    def _restart_explicit(self) -> None:
        self._is_stiff = False
        self._stiffness.restart()

    def _implicit_step(
        self, t: float, end: float, y: np.ndarray, slope: np.ndarray, explicit: float
    ) -> ImplicitAdvance | None:
        """The state after an implicit step; None if explicit ones have to continue."""
        rates = self.dynamics.rates
        assert rates is not None
        if end - t <= MIN_GAIN * explicit:
            return None
        advanced = None
        if rates.is_current(self.modes):
            advanced = self._implicit.advance(t, end, y, slope, explicit)
        if advanced is None:
            self._is_stiff = False
            self._stiffness.postpone()
            return None
        self.steps += 1
        if self.contacts:
            motion = self.dynamics.motions_at(advanced.y[None])[0]
            self._start_sliding(advanced.t, advanced.y, motion)
            self.modes.update_slip_directions(motion)
        return advanced._replace(y=self._normalize(advanced.y))

    def _first_slope(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The state vector, after the impact of jammed contacts, and its slope."""
        try:
            return y, self.dynamics.slope(t, y)
        except EventRunFailure as failure:
            if failure.reason is not TerminationReason.CONTACTS:
                raise
            return self.resolve_jam(t, y, failure)

    def resolve_jam(
        self, t: float, y: np.ndarray, failure: EventRunFailure
    ) -> tuple[np.ndarray, np.ndarray]:
        """The state vector after an impact that stops jammed contacts, and its slope."""
        state = self.dynamics.state_at(y)
        tau, _ = self.dynamics.load(t, y)
        impact = jam_impact(state, self.modes, tau, self.dynamics.friction)
        change = float(np.abs(state.G @ (impact.velocity - state.v)).max(initial=0.0))
        if impact.solution.status is not ConeStatus.SOLVED or change < MIN_SLIP_SPEED:
            raise failure
        self._count_event(t)
        rows = self.modes.normal_rows()
        jammed = impact.impulse[rows] > 0
        for k in true_indices(jammed & self.modes.closed):
            self._log_event(t, y, "jam", self.names[k], float(impact.impulse[rows[k]]))
        y = self._apply_impulse(t, y, state, impact)
        return y, self.dynamics.slope(t, y)

    def _normalize(self, y: np.ndarray) -> np.ndarray:
        nq = self.model.nq
        if nq == self.model.nv:
            return y
        return np.concatenate([normalize(self.model, y[:nq]), y[nq:]])

    def _error(self, y: np.ndarray, step: EmbeddedStep) -> float:
        """Largest error of q, v and states of actuations relative to the tolerance."""
        n = self.dynamics.controlled
        size = np.maximum(np.abs(y[:n]), np.abs(step.y[:n]))
        allowed = self.law.tolerance * (1.0 + size)
        return float(np.max(np.abs(step.error[:n]) / allowed, initial=0.0))

    # -- events

    def _count_event(self, t: float) -> None:
        """Count an instant with events; too many of them end the run."""
        self.instants.append(t)
        allowed = max(int(EVENT_WINDOW_S * self.law.max_events_per_second), 10)
        if len(self.instants) > allowed and t - self.instants[-allowed - 1] < EVENT_WINDOW_S:
            kinds = ", ".join(sorted({f"{e.kind} of {e.name}" for e in self.events[-6:]}))
            raise EventRunFailure(TerminationReason.EVENTS, f"at {t:.6g} s: {kinds}")

    def _log_event(
        self, t: float, y: np.ndarray, kind: str, name: str, impulse: float = 0.0
    ) -> None:
        nq, nv = self.model.nq, self.model.nv
        q, v = y[:nq].copy(), y[nq : nq + nv].copy()
        self.events.append(ContactEvent(t, kind, name, q, v, impulse))

    def _handle_events(self, t: float, y: np.ndarray, located: np.ndarray) -> np.ndarray:
        """The state vector after the events at ``t``; ``located`` are those that ended the step."""
        state, modes = self.dynamics.state_at(y), self.modes
        values = scaled_events(self.modes, state)
        touch = len(modes.closed)
        due = values < DUE_FRACTION
        # Velocities of the shorter step differ from those in which the event was detected by the
        # error of integration; waiting for the threshold would shorten step after step.
        due[touch:] |= located[touch:]
        for k in true_indices(modes.closed & due[:touch]):
            modes.closed[k] = False
            if k < self.contacts:
                modes.sliding[k] = False
            self._log_event(t, y, "leave", self.names[k])
        if (~modes.closed & due[:touch]).any():
            y = self.resolve_impacts(t, y, state)
            state = self.dynamics.state_at(y)
        speeds = modes.slip_speeds(state)
        for k in true_indices(due[touch : touch + self.contacts] & modes.closed[: self.contacts]):
            if modes.sliding[k] and speeds[k] <= 2 * MAX_REST_SPEED:
                modes.sliding[k] = False
                self._log_event(t, y, "rest", self.names[k])
        self._start_sliding(t, y, state)
        modes.update_slip_directions(state)
        velocities = state.speed[3 * self.contacts + touch - self.contacts :]
        for k in true_indices(due[touch + self.contacts :]):
            stops = modes.moving[k] != 0
            modes.moving[k] = 0.0 if stops else np.sign(velocities[k])
            self._log_event(t, y, "rest" if stops else "slide", self.names[touch + k])
        return y

    def _start_sliding(self, t: float, y: np.ndarray, motion: ContactState | ContactMotion) -> None:
        """Let contacts slide that move and whose friction reached its limit.

        A contact that moves with less friction moves only by the error of integration.
        """
        if self.dynamics.guess is None:
            return
        force = self.dynamics.guess[: 3 * self.contacts].reshape(-1, 3)
        limit = self.dynamics.friction * force[:, 0]
        at_limit = np.linalg.norm(force[:, 1:], axis=1) >= USED_FRICTION_FRACTION * limit
        moving = self.modes.slip_speeds(motion) > 0.99 * MIN_SLIDE_SPEED
        closed = self.modes.closed[: self.contacts]
        for k in true_indices(closed & ~self.modes.sliding & moving & at_limit):
            self.modes.sliding[k] = True
            self._log_event(t, y, "slide", self.names[k])

    def resolve_impacts(self, t: float, y: np.ndarray, state: ContactState) -> np.ndarray:
        """The state vector after an impact of all contacts and limits that touch and approach."""
        modes = self.modes
        rows = modes.normal_rows()
        touching = state.gap <= CLOSING_DEPTH
        approaching = state.speed[rows] < -MIN_IMPACT_SPEED
        closing = touching & approaching & ~modes.closed
        # A closed contact that moves inwards slowly does so by the error of integration.
        penetrating = modes.closed & (state.speed[rows] < -MIN_OPENING_SPEED)
        if not (closing | penetrating).any():
            return y
        spreads = True
        while spreads:
            modes.close(closing & ~modes.closed, state)
            impact = resolve_impact(
                state,
                modes,
                friction=self.dynamics.friction,
                restitution=self.dynamics.restitution,
                rest_speed=self.law.rest_speed,
                law=self.law.impact,
            )
            impact = suppress_slow_rebound(state, modes, impact, self.law.rest_speed)
            # The impact includes at once the contacts that it makes approach.
            after = state.G[rows] @ impact.velocity - state.surface[rows]
            more = touching & ~modes.closed & (after < -MIN_IMPACT_SPEED)
            closing |= more
            spreads = bool(more.any())
        size = max(1.0, float(np.abs(state.speed).max(initial=0.0)))
        solution = impact.solution
        if (
            solution.status is not ConeStatus.SOLVED
            and solution.residual > MAX_UNSOLVED_RESIDUAL * size
        ):
            raise EventRunFailure(
                TerminationReason.CONTACTS,
                f"at {t:.6g} s in an impact of {self.dynamics.closed_names()}: "
                f"{solution.status.value}",
            )
        for k in true_indices(closing):
            self._log_event(t, y, "touch", self.names[k], float(impact.impulse[rows[k]]))
        return self._apply_impulse(t, y, state, impact)

    def _apply_impulse(
        self, t: float, y: np.ndarray, state: ContactState, impact: ImpactResult
    ) -> np.ndarray:
        """The state vector after an impact, with its work; updates impulses and modes."""
        modes, cut = self.modes, 3 * self.contacts
        self.impulse += impact.impulse[:cut].reshape(-1, 3)
        work = impact.impulse * (state.G @ (state.v + impact.velocity)) / 2
        nq, nv = self.model.nq, self.model.nv
        after = (state.G @ impact.velocity - state.surface)[modes.normal_rows()]
        for k in true_indices(modes.closed & (after > MIN_OPENING_SPEED)):
            modes.closed[k] = False
            self._log_event(t, y, "leave", self.names[k])
        y = np.concatenate([y[:nq], impact.velocity, y[nq + nv :]])
        y[-2:] += work[:cut].sum(), work[cut:].sum()
        updated = self.dynamics.state_at(y)
        slipping = modes.slip_speeds(updated) > MIN_SLIP_SPEED
        modes.sliding = modes.closed[: self.contacts] & slipping
        modes.update_slip_directions(updated)
        self.dynamics.guess = None
        return y


def _cubic(
    y: np.ndarray, slope: np.ndarray, step: EmbeddedStep, h: float
) -> Callable[[np.ndarray], np.ndarray]:
    """State vectors at fractions of a step, on the cubic through its ends."""

    def states(fractions: np.ndarray) -> np.ndarray:
        return hermite_interpolation(fractions[:, None], h, y, slope, step.y, step.slope)

    return states
