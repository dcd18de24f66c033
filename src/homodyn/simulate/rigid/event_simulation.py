"""A run of `homodyn.simulate.run` under the event-driven contact law.

The steps of a run are intervals between the times at which external torques may change; within one
the law advances from event to event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.dynamics import kinetic_energy, potential_energy
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.model.state_function import parameter_array
from homodyn.simulate.actuation import ActuationArgument, actuation_parts, load_kernel
from homodyn.simulate.external_torques import sampled_torque_change
from homodyn.simulate.geometry import ContactGeometry, scene_geometry
from homodyn.simulate.initial_state import check_state, initial_point, time_grid
from homodyn.simulate.options import SimulationOptions, batch_values
from homodyn.simulate.recorder import build_result
from homodyn.simulate.result import EventOccurrence, SimulationResult, SimulationStatus
from homodyn.simulate.rigid.contact_modes import ContactModes
from homodyn.simulate.rigid.event_loop import EventLoop
from homodyn.simulate.rigid.event_run import WORK_ENTRIES, EventRunFailure, TerminationReason
from homodyn.simulate.rigid.event_settings import EventDrivenSettings
from homodyn.simulate.rigid.slope_evaluation import TracedTorque
from homodyn.simulate.rigid.slope_kernel import TracedActuation
from homodyn.simulate.rows.joint_rows import spring_energies
from homodyn.simulate.rows.loop_rows import anchor_at_pose
from homodyn.simulate.setup import SimulationSetup
from homodyn.simulate.simulation_point import SimulationPoint
from homodyn.simulate.stepper import SteppingLoop
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel

BREAK_MARGIN_S = 2e-9
"""Time before a jump of an actuation from which its value is kept; clocks of signals have a
tolerance of half of it."""
STATUS = {
    TerminationReason.OVERLAP: SimulationStatus.NOT_CONVERGED,
    TerminationReason.TORQUES: SimulationStatus.NOT_FINITE,
    TerminationReason.ACTUATORS: SimulationStatus.NOT_FINITE,
    TerminationReason.SINGULAR: SimulationStatus.NOT_FINITE,
    TerminationReason.CONTACTS: SimulationStatus.NOT_CONVERGED,
    TerminationReason.EVENTS: SimulationStatus.STALLED,
    TerminationReason.STALLED: SimulationStatus.STALLED,
}


class EventStepper:
    """Intervals of an event-driven run, each from a point with the contact modes in its memory."""

    def __init__(
        self, setup: SimulationSetup, law: EventDrivenSettings, batch: Mapping[str, float]
    ) -> None:
        self.setup = setup
        traced = TracedTorque(
            TracedActuation(setup.traced_actuation, setup.batch_names, setup.torque_limits),
            self._external,
        )
        self.loop = EventLoop(law, setup.geometry, self._load, setup.constraints, batch, traced)
        self.message = ""
        self._loads = load_kernel(
            setup.model, setup.traced_actuation, setup.batch_names, setup.torque_limits
        )
        self._change = sampled_torque_change(setup)
        breaks = [part.break_times() for part in setup.traced_actuation]
        self._breaks = frozenset(np.concatenate([np.zeros(0), *breaks]).tolist())
        self._batch: np.ndarray | None = None
        self._point: SimulationPoint | None = None
        self._step = 1e-3

    def _external(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """External torques at a time, and the batch parameters."""
        assert self._point is not None
        return self._point.torque + self._change(self._point.t, t), self._point.batch

    def _load(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Torques, and rates of the states of the actuations, at a time and state vector."""
        external, batch = self._external(t)
        model = self.setup.model
        q, v, z = np.split(y[:-WORK_ENTRIES], [model.nq, model.nq + model.nv])
        tau, rates = self._loads(np.asarray(t), q, v, external, batch, z).values()
        return np.asarray(tau), np.asarray(rates)

    def _set_point(self, point: SimulationPoint) -> None:
        """Take external torques and batch parameters from a point."""
        self._point = point
        if self._batch is None or not np.array_equal(self._batch, point.batch):
            self._batch = point.batch
            self.loop.dynamics.set_parameters(
                dict(zip(self.setup.batch_names, map(float, point.batch), strict=True))
            )

    def __call__(self, point: SimulationPoint, h: float) -> SimulationPoint:
        """The point ``h`` later, or the given one with a status and a message after a failure."""
        self._set_point(point)
        loop = self.loop
        # An interval may be repeated with another length: discard the events of the last attempt.
        loop.events = [event for event in loop.events if event.time <= point.t]
        loop.instants = [t for t in loop.instants if t <= point.t]
        try:
            y, end = self._initial_vector(point), point.t + h
            # Where an actuation jumps at the end, its value before the jump counts until then.
            near = end - BREAK_MARGIN_S
            jumps = any(near < time < end + BREAK_MARGIN_S for time in self._breaks)
            loop.dynamics.latest_time = near if jumps else np.inf
            y, self._step = loop.integrate_to(point.t, end, y, self._step)
        except EventRunFailure as failure:
            self.message = f"{failure.reason.value} {failure}"
            return replace(point, status=STATUS[failure.reason].value)
        nq, nv = self.setup.model.nq, self.setup.model.nv
        smooth, impacts = y[-WORK_ENTRIES:-2], y[-2:]
        change = np.concatenate([[0.0], impacts]) + smooth
        work = point.work + np.pad(change, (0, len(point.work) - len(change)))
        z = np.concatenate([loop.modes.to_array(), y[nq + nv : -WORK_ENTRIES]])
        return replace(point, t=end, q=y[:nq], v=y[nq : nq + nv], z=z, work=work)

    def actuator_states(self, point: SimulationPoint) -> np.ndarray:
        """The states of the actuations at a point."""
        return point.z[self.setup.law_memory :]

    def _state_vector(self, point: SimulationPoint) -> np.ndarray:
        """The state vector of a point, without works."""
        states = self.actuator_states(point)
        return np.concatenate([point.q, point.v, states, np.zeros(WORK_ENTRIES)])

    def _modes(self, point: SimulationPoint, limits: int) -> ContactModes:
        """The contact modes in the memory of a point."""
        memory = point.z[: self.setup.law_memory]
        return ContactModes.from_array(memory, self.loop.contacts, limits)

    def _initial_vector(self, point: SimulationPoint) -> np.ndarray:
        y = self._state_vector(point)
        if not point.z[0]:
            return self.loop.start(y)
        state = self.loop.dynamics.at(point.q, point.v)
        self.loop.dynamics.modes = self._modes(point, len(state.gap))
        # An action of an event may have changed the state.
        return self.loop.resolve_impacts(point.t, y, state)

    def forces(self, point: SimulationPoint) -> tuple[np.ndarray, np.ndarray]:
        """Forces on the contacts at a point (N, normal and tangents), and of the constraints."""
        self._set_point(point)
        state = self.loop.dynamics.at(point.q, point.v)
        if point.z[0]:
            self.loop.dynamics.modes = self._modes(point, len(state.gap))
        else:
            self.loop.dynamics.modes = ContactModes.from_state(state, self.loop.contacts)
        return self.loop.dynamics.forces(point.t, self._state_vector(point))

    def torque(self, point: SimulationPoint) -> np.ndarray:
        """Torques that act at a point (N m, N)."""
        self._set_point(point)
        return self._load(point.t, self._state_vector(point))[0]


def run_event_driven(
    law: EventDrivenSettings,
    model: Model,
    q0: ArrayLike,
    v0: ArrayLike | None,
    duration: float,
    dt: float,
    actuation: ActuationArgument,
    options: SimulationOptions,
) -> SimulationResult:
    """A run under the event-driven law; without joint limits there are no rigid ones either."""
    geometry = scene_geometry(model, options.scene)
    if model.parameters:
        numbers: Any = options.parameters
        model = model.at(np.asarray(parameter_array(model, numbers), dtype=float))
        geometry = replace(geometry, model=model)
    elif options.parameters is not None:
        raise ModelError(f"model {model.name!r} has no parameters; leave parameters out")
    if options.joint_limits is None:
        law = replace(law, limits=False)
    batch = batch_values(options)
    setup = SimulationSetup(
        model,
        geometry,
        law,
        actuation_parts(actuation),
        joint_limits=None,
        torque_limits=options.torque_limits,
        batch_names=tuple(batch),
        constraints=anchor_at_pose(model, check_state(model, q0, "q0"), options.constraints),
    )
    start = initial_point(setup, q0, v0, batch)
    grid, every = time_grid(duration, dt, options.record_interval)
    stepper = EventStepper(setup, law, batch)
    loop = SteppingLoop(setup, stepper, options.events, {}, adaptive=True)
    loop.run(grid, start, every)
    points, local, constraint_forces = _forces(stepper, loop.points)
    recorded = {
        name: np.array([getattr(p, name) for p in points])
        for name in ("q", "v", "t", "work", "event_energy", "event_spring_energy")
    }
    q, count = recorded["q"], len(geometry.names)
    recorded["kinetic"] = kinetic_energy(model, q, recorded["v"])
    recorded["potential"] = potential_energy(model, q) + spring_energies(model, q)
    states = [stepper.loop.dynamics.at(p.q, p.v) for p in points]
    recorded["distances"] = np.array([s.gap[:count] for s in states])
    recorded["torques"] = np.array([stepper.torque(p) for p in points])
    recorded["actuator_states"] = np.array([stepper.actuator_states(p) for p in points])
    recorded["constraint_forces"] = constraint_forces
    axes = _axes_kernel(geometry)(q) if count else np.zeros((len(points), 0, 3))
    axes = axes.reshape(len(points), count, 3, 3)
    recorded["forces"] = np.einsum("tck,tckx->tcx", local, axes)
    occurrences = tuple(loop.occurrences) + tuple(
        EventOccurrence(f"{e.name} {e.kind}", e.time, e.impulse, e.q, e.v)
        for e in stepper.loop.events
    )
    message = loop.message
    if loop.status is not SimulationStatus.FINISHED and stepper.message:
        message = stepper.message
    return build_result(
        setup,
        recorded,
        tuple(sorted(occurrences, key=lambda occurrence: occurrence.time)),
        loop.status,
        message,
        stepper.loop.steps,
        (),
    )


def _forces(
    stepper: EventStepper, points: Sequence[SimulationPoint]
) -> tuple[list[SimulationPoint], np.ndarray, np.ndarray]:
    """Points with their contact and constraint forces.

    A point at which the run failed because there are no such forces is left out, unless it is the
    first one, which has zero forces.
    """
    valid: list[SimulationPoint] = []
    contacts, constraints = [], []
    for point in points:
        try:
            contact, constraint = stepper.forces(point)
        except EventRunFailure:
            if valid:
                continue
            contact = np.zeros((stepper.loop.contacts, 3))
            constraint = np.zeros(stepper.loop.dynamics.constraint_rows)
            point = replace(point, torque=np.nan_to_num(point.torque))
        valid.append(point)
        contacts.append(contact)
        constraints.append(constraint)
    return valid, np.array(contacts), np.array(constraints)


def _axes_kernel(geometry: ContactGeometry) -> Kernel:
    """Normals and tangents of the gaps, as rows."""

    def axes(q: Array) -> Array:
        gaps = geometry.gaps(Tree(geometry.model, q))
        return ca.horzcat(*[ca.SX(d) for gap in gaps for d in (gap.normal, *gap.tangents)]).T

    count = 3 * len(geometry.names)
    return kernel(
        axes,
        q=geometry.model.nq,
        outputs={"axes": (count, 3)},
        name=f"axes of {geometry.model.name}",
    )
