"""The rate of the state of an event-driven run, in its present contact modes."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from homodyn.dynamics.constraints import Constraint
from homodyn.dynamics.tree import Tree
from homodyn.simulate.constants import gap_constant, gap_friction
from homodyn.simulate.diagnostics import NOT_FINITE_STATE_HINT, massless_coordinate
from homodyn.simulate.geometry import ContactGeometry
from homodyn.simulate.rigid.contact_accelerations import (
    ContactAccelerations,
    contact_accelerations,
)
from homodyn.simulate.rigid.contact_modes import ContactModes
from homodyn.simulate.rigid.contact_state import (
    ContactMotion,
    ContactState,
    contact_motions,
    contact_states,
)
from homodyn.simulate.rigid.coordinate_rows import CoordinateRows
from homodyn.simulate.rigid.event_run import EventRunFailure, StateLoad, TerminationReason
from homodyn.simulate.rigid.event_settings import EventDrivenSettings
from homodyn.simulate.rigid.slope_evaluation import SlopeEvaluation, TracedTorque
from homodyn.simulate.solvers import ConeStatus

MAX_UNSOLVED_EVALUATIONS = 200
"""Evaluations per run whose contact forces do not reach the tolerance, before it fails."""
MAX_UNSOLVED_RESIDUAL = 1e-6
"""Relative residual of contact forces above which an evaluation fails at once."""


class ContactDynamics:
    """Accelerations and contact forces in the present modes.

    State vectors consist of q, v, the states of actuations, and the five works of `EventRun`.
    """

    modes: ContactModes

    def __init__(
        self,
        law: EventDrivenSettings,
        geometry: ContactGeometry,
        load: StateLoad | None,
        constraints: Constraint | None = None,
        batch: Mapping[str, float] | None = None,
        traced: TracedTorque | None = None,
    ) -> None:
        model = geometry.model
        self.law, self.geometry, self.model = law, geometry, model
        coordinates = CoordinateRows(model, law.limits)
        self.at = contact_states(geometry, law.limits, constraints)
        self._motions = contact_motions(geometry, law.limits)
        self.names = (*geometry.names, *coordinates.names)
        self.contacts = len(geometry.names)
        self._gaps = geometry.gaps(Tree(model, ca.SX.sym("q", model.nq)))
        self.set_parameters(batch or {})
        self.friction_torques = coordinates.friction_torques()
        self.load = load or (lambda t, y: (np.zeros(model.nv), np.zeros(0)))
        self.actuator_states: tuple[str, ...] = ()
        if traced is not None:
            self.actuator_states = traced.actuation.state_names(model)
        self.controlled = model.nq + model.nv + len(self.actuator_states)
        """Entries of a state vector whose error is controlled: all except works."""
        self.rates: SlopeEvaluation | None = None
        locked = any(coordinate.locked for coordinate in model.coordinates)
        if constraints is None and not locked:
            self.rates = SlopeEvaluation(geometry, law.limits, self.load, traced)
        self.constraint_rows = 0 if constraints is None else len(constraints.rows)
        self.guess: np.ndarray | None = None
        """The last forces of all rows; None where they are unknown."""
        self.unsolved_evaluations = 0
        self.latest_time = np.inf
        """Time (s) beyond which actuations are not evaluated: they jump right after it."""

    def set_parameters(self, batch: Mapping[str, float]) -> None:
        """Evaluate the constants of the law for values of the batch parameters."""
        law, geometry = self.law, self.geometry
        self.friction = np.array(
            [gap_friction(law.friction, geometry, gap, batch) for gap in self._gaps], float
        )
        self.restitution = np.array(
            [
                gap_constant(law.restitution, geometry, gap, batch, "restitution")
                for gap in self._gaps
            ],
            float,
        )

    def state_at(self, y: np.ndarray) -> ContactState:
        """The contact state of a state vector."""
        nq, nv = self.model.nq, self.model.nv
        return self.at(y[:nq], y[nq : nq + nv])

    def motions_at(self, y: np.ndarray) -> ContactMotion:
        """The contact motions of state vectors (n, entries)."""
        nq, nv = self.model.nq, self.model.nv
        return self._motions(y[:, :nq], y[:, nq : nq + nv])

    def _finite_load(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Torques and rates of the states of actuations, which must be numbers."""
        tau, rate = self.load(t, y)
        unknown = [n for n, x in zip(self.actuator_states, rate, strict=True) if not np.isfinite(x)]
        if unknown:
            raise EventRunFailure(
                TerminationReason.ACTUATORS,
                f"at {t:.6g} s: {', '.join(unknown)}; {NOT_FINITE_STATE_HINT}",
            )
        if not np.isfinite(tau).all():
            names = [self.model.coordinate_names[i] for i in np.nonzero(~np.isfinite(tau))[0]]
            raise EventRunFailure(
                TerminationReason.TORQUES, f"at {t:.6g} s along {', '.join(names)}"
            )
        return tau, rate

    def _accelerations(
        self, t: float, state: ContactState, tau: np.ndarray
    ) -> ContactAccelerations:
        try:
            result = contact_accelerations(
                state, self.modes, tau, self.friction, self.friction_torques, self.guess
            )
        except np.linalg.LinAlgError:
            message = massless_coordinate(self.model, state.H)
            raise EventRunFailure(TerminationReason.SINGULAR, f"at {t:.6g} s: {message}") from None
        if result.solution.status is not ConeStatus.SOLVED:
            size = float(np.abs(result.solution.motion).max(initial=0.0))
            self.unsolved_evaluations += 1
            if (
                result.solution.residual > MAX_UNSOLVED_RESIDUAL * max(size, 1.0)
                or self.unsolved_evaluations > MAX_UNSOLVED_EVALUATIONS
            ):
                message = result.solution.status.value
                raise EventRunFailure(
                    TerminationReason.CONTACTS,
                    f"at {t:.6g} s between {self.closed_names()}: {message}",
                )
        self.guess = result.force
        return result

    def closed_names(self) -> str:
        """Names of the closed contacts and limits."""
        return ", ".join(n for n, c in zip(self.names, self.modes.closed, strict=False) if c)

    @property
    def strengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of friction, and the dry friction (N m, N) of coordinates."""
        return self.friction, self.friction_torques

    def slope(self, t: float, y: np.ndarray) -> np.ndarray:
        """The rate of a state vector."""
        rates, t = self.rates, min(t, self.latest_time)
        if rates is not None:
            fast = rates(t, y, self.modes, self.guess, self.strengths)
            if fast is not None:
                slope, self.guess = fast
                return slope
        state = self.state_at(y)
        tau, state_rate = self._finite_load(t, y)
        result = self._accelerations(t, state, tau)
        if rates is not None:
            rates.set_forces(self.modes, result.force)
        cut = 3 * self.contacts
        joint_power = result.force[cut:] @ state.speed[cut:] + state.passive @ state.v
        powers = (
            tau @ state.v,
            result.force[:cut] @ (state.G[:cut] @ state.v),
            joint_power,
            0.0,
            0.0,
        )
        return np.concatenate([state.qdot, result.acceleration, state_rate, powers])

    def forces(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces of the contacts along their normals and tangents, and of the constraints."""
        state, (tau, _) = self.state_at(y), self._finite_load(t, y)
        result = self._accelerations(t, state, tau)
        constraint = state.constraint_forces(result.acceleration, tau, result.force)
        contact = result.force[: 3 * self.contacts].reshape(-1, 3).copy()
        return contact, constraint[: self.constraint_rows]
