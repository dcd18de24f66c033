"""Rates of an event-driven run by `slope_kernel`, for the contacts that had forces last."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from homodyn.simulate.geometry import ContactGeometry
from homodyn.simulate.rigid.contact_modes import ContactModes
from homodyn.simulate.rigid.contact_state import MAX_PIVOT_RATIO
from homodyn.simulate.rigid.event_run import WORK_ENTRIES, StateLoad
from homodyn.simulate.rigid.geometry_cache import geometry_kernel
from homodyn.simulate.rigid.mode_solver import MIN_ACCELERATION_SCALE, SOLVER_TOLERANCE
from homodyn.simulate.rigid.slope_jacobian import SlopeJacobian
from homodyn.simulate.rigid.slope_kernel import TracedActuation, slope_kernel
from homodyn.symbolic import Kernel

MAX_CONTACT_CHANGES = 8
"""Evaluations with other contacts before the general solver takes over."""
MIN_PIVOT_RATIO = 0.5
"""Ratio of diagonal entry and pivot, 1 or larger but for rounding, below which H is singular."""


@dataclass(frozen=True, eq=False)
class TracedTorque:
    """Torques that are traced into the kernel, and what it receives at each evaluation."""

    actuation: TracedActuation
    inputs: Callable[[float], tuple[np.ndarray, np.ndarray]]
    """External torques (N m, N) at a time (s), (nv,), and values of the batch parameters."""


class SlopeEvaluation:
    """Evaluates `slope_kernel` while the contacts that have forces stay the same."""

    def __init__(
        self,
        geometry: ContactGeometry,
        limits: bool,
        load: StateLoad,
        traced: TracedTorque | None,
    ) -> None:
        model = geometry.model
        self._nq, self._nv = model.nq, model.nv
        self._load, self._traced = load, traced
        self._geometry, self._limits = geometry, limits
        self._actuation = TracedActuation() if traced is None else traced.actuation
        self._resting_kernel = geometry_kernel(
            geometry,
            self._key_of("resting"),
            lambda: slope_kernel(geometry, limits, self._actuation),
        )
        self._modes: tuple[bytes, bytes, bytes] | None = None
        self._active = np.zeros(0)
        self._closed = np.zeros(0)

    def _key_of(self, name: str) -> Hashable | None:
        """A key of a kernel; None with actuation, whose functions may change between runs."""
        actuation = self._actuation
        if actuation.parts:
            return None
        return name, self._limits, tuple(actuation.batch_names), actuation.limited

    def set_forces(self, modes: ContactModes, force: np.ndarray) -> None:
        """Take over which rows have a force, from a solution for the present modes."""
        rows = modes.normal_rows()
        self._active, self._closed = np.zeros(len(force)), np.zeros(len(force))
        self._closed[rows] = modes.closed
        self._set_active(modes, rows, modes.closed & (force[rows] > 0))
        self._modes = _key(modes)

    def _set_active(self, modes: ContactModes, rows: np.ndarray, chosen: np.ndarray) -> None:
        """Choose the contacts and limits that have a force; tangents follow their normals."""
        count = 3 * modes.contacts
        self._active[rows] = chosen
        for mask in (self._active, self._closed):
            mask[1:count:3] = mask[2:count:3] = mask[0:count:3] * ~modes.sliding
            mask[count + len(modes.closed) - modes.contacts :] = modes.moving == 0

    def __call__(
        self,
        t: float,
        y: np.ndarray,
        modes: ContactModes,
        guess: np.ndarray | None,
        strengths: tuple[np.ndarray, np.ndarray],
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The rate of a state vector and the forces of the rows; None if contacts change.

        ``strengths`` are coefficients of friction, and the dry friction (N m, N) of coordinates.
        """
        if guess is None or _key(modes) != self._modes:
            if modes.closed.any():
                return None
            guess = np.zeros(2 * modes.contacts + len(modes.closed) + len(modes.moving))
            self.set_forces(modes, guess)
        friction, dry = strengths
        external, batch = self._inputs(t, y)
        rates = self._slipping_kernel if modes.sliding.any() else self._resting_kernel
        for _ in range(MAX_CONTACT_CHANGES):
            slope, force, motion, check = rates(
                np.array(t, float),
                y,
                external,
                batch,
                self._active,
                self._closed,
                modes.sliding.astype(float),
                modes.slip_directions.ravel(),
                guess,
                -modes.moving * dry,
                modes.closing_gaps,
                friction,
                dry,
            ).values()
            violation, size, low, high = check
            # The check is blind to values that are not finite.
            if not (low > MIN_PIVOT_RATIO and high < MAX_PIVOT_RATIO and np.isfinite(slope).all()):
                return None
            if violation <= SOLVER_TOLERANCE * max(size, MIN_ACCELERATION_SCALE):
                return slope, force
            if not self._change_contacts(modes, force, motion):
                return None
        return None

    def at_stages(
        self,
        times: np.ndarray,
        y: np.ndarray,
        modes: ContactModes,
        guess: np.ndarray,
        strengths: tuple[np.ndarray, np.ndarray],
        max_violation: float,
    ) -> np.ndarray | None:
        """The rates of state vectors with the present contacts; None if one violates the law.

        Args:
            times: Times (s), (n,).
            y: State vectors, (n, entries).
            modes: The modes, for which the forces were determined last.
            guess: The last forces, (rows,).
            strengths: Coefficients of friction, and dry friction of coordinates.
            max_violation: Violation of the law in the unit of accelerations that is small enough.

        Returns:
            (n, entries), or None.
        """
        friction, dry = strengths
        inputs = [self._inputs(t, state) for t, state in zip(times, y, strict=True)]
        rates = self._slipping_kernel if modes.sliding.any() else self._resting_kernel
        slopes, _, _, check = rates(
            times,
            y,
            np.array([external for external, _ in inputs]),
            np.array([batch for _, batch in inputs]),
            self._active,
            self._closed,
            modes.sliding.astype(float),
            modes.slip_directions.ravel(),
            guess,
            -modes.moving * dry,
            modes.closing_gaps,
            friction,
            dry,
        ).values()
        violation, size, low, high = check.T
        allowed = SOLVER_TOLERANCE * np.maximum(size, MIN_ACCELERATION_SCALE)
        allowed = np.maximum(allowed, max_violation)
        valid = (violation <= allowed) & (low > MIN_PIVOT_RATIO) & (high < MAX_PIVOT_RATIO)
        if not (valid.all() and np.isfinite(slopes).all()):
            return None
        return np.asarray(slopes)

    def is_current(self, modes: ContactModes) -> bool:
        """Whether the contacts that have a force are known for these modes."""
        return _key(modes) == self._modes

    def jacobian(
        self,
        t: float,
        y: np.ndarray,
        slope: np.ndarray,
        modes: ContactModes,
        force: np.ndarray,
        friction: np.ndarray,
    ) -> np.ndarray:
        """Derivatives of the rates of q, v and states of actuations with the present contacts.

        Args:
            t: Time (s).
            y: State vector.
            slope: Its rate.
            modes: The modes.
            force: Forces of all rows there, (rows,).
            friction: Coefficients of friction, (contacts,).

        Returns:
            (size, size), by all of these.
        """
        n = len(y) - WORK_ENTRIES
        slides = modes.sliding.any()
        derivatives = self._slipping_derivatives if slides else self._resting_derivatives
        return derivatives(
            t,
            y[:n],
            slope[self._nq : self._nq + self._nv],
            force,
            self._inputs(t, y),
            (self._active, modes.closing_gaps),
            (modes.sliding.astype(float), modes.slip_directions.ravel(), friction),
        )

    @cached_property
    def _slipping_kernel(self) -> Kernel:
        """The kernel for contacts of which some slide; most runs do not need it."""
        return geometry_kernel(
            self._geometry,
            self._key_of("slipping"),
            lambda: slope_kernel(self._geometry, self._limits, self._actuation, slipping=True),
        )

    @cached_property
    def _resting_derivatives(self) -> SlopeJacobian:
        return self._derivatives("derivatives", slipping=False)

    @cached_property
    def _slipping_derivatives(self) -> SlopeJacobian:
        return self._derivatives("slipping derivatives", slipping=True)

    def _derivatives(self, name: str, *, slipping: bool) -> SlopeJacobian:
        geometry, limits, actuation = self._geometry, self._limits, self._actuation
        kernel = geometry_kernel(
            geometry,
            self._key_of(name),
            lambda: SlopeJacobian.create(geometry, limits, actuation, slipping=slipping).kernel,
        )
        return SlopeJacobian(kernel)

    def _change_contacts(self, modes: ContactModes, force: np.ndarray, motion: np.ndarray) -> bool:
        """Drop contacts with tensile forces and add those that approach; whether any changed."""
        rows = modes.normal_rows()
        active = self._active[rows] > 0
        changed = np.where(active, force[rows] > 0, modes.closed & (motion[rows] < 0))
        if (changed == active).all():
            return False
        self._set_active(modes, rows, changed)
        return True

    def _inputs(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self._traced is not None:
            return self._traced.inputs(t)
        return self._load(t, y)[0], np.zeros(0)


def _key(modes: ContactModes) -> tuple[bytes, bytes, bytes]:
    return modes.closed.tobytes(), modes.sliding.tobytes(), modes.moving.tobytes()
