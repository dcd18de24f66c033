"""One step of a simulation over symbols, under force laws and step laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import casadi as ca

from homodyn.dynamics import constrained_dynamics
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.integrate import fixed_step_method
from homodyn.simulate.actuation import (
    ActuationInput,
    ActuationLoad,
    actuation_load,
    torque_bounds,
)
from homodyn.simulate.constants import BatchParameters
from homodyn.simulate.constrained_step import constrained_step
from homodyn.simulate.contact_wrenches import (
    accelerations,
    contact_wrenches,
    generalized_forces,
    joint_forces,
)
from homodyn.simulate.external_forces import external_load
from homodyn.simulate.geometry import Gap, bind_meshes, material_velocity
from homodyn.simulate.laws import ContactForces, ForceLaw, StepLaw, StepProblem
from homodyn.simulate.laws.start_contact import StartContact
from homodyn.simulate.momentum_transport import midpoint_acceleration, transport_momentum
from homodyn.simulate.motion_system import WORK_SIZE, MotionRates, MotionState, MotionSystem
from homodyn.simulate.rotating_axes import axes_rotation_rate, rotate_velocities
from homodyn.simulate.rows.implicit_rows import is_unbounded
from homodyn.simulate.rows.joint_rows import JointRow, joint_rows
from homodyn.simulate.rows.loop_rows import loop_rows
from homodyn.simulate.rows.targets import IsotropicSpring, RowInput, TargetRow
from homodyn.simulate.setup import SimulationSetup
from homodyn.simulate.signals import SignalInput
from homodyn.spatial import Array, stack
from homodyn.symbolic.branch_errors import explain_branches


@dataclass(frozen=True, eq=False)
class StateUpdate:
    """A step: the state after it, and the forces in it."""

    x: MotionState
    torque: Array
    """Torques of actuators (N m, N), (nv,)."""
    gaps: list[Gap]
    forces: list[Array]
    """Force on the body of each gap (N, world), (3,) each."""
    residual: Array
    constraint_force: Array
    failed: Array = field(default_factory=lambda: ca.SX(0.0))
    """1 where the step could not be solved."""


@dataclass(frozen=True, eq=False)
class StepInput:
    """Inputs of a step besides its state: time (s), external torques, batch parameters, signals.

    ``batch`` has the signals at the start of the step.
    """

    t: Array
    torque: Array
    batch: BatchParameters
    targets: Array = field(default_factory=lambda: ca.SX(0, 1))
    """Sampled targets of rows."""

    def at(self, setup: SimulationSetup, t: Array, x: MotionState) -> StepInput:
        """The input at another time and state within the step; signals with memory are held."""
        at = SignalInput(setup.model, t, ca.SX(INSTANT_S), x.q, x.v, self.batch)
        return replace(self, t=t, batch=setup.step_memory.values_within_step(at))


INSTANT_S = 1e-9
"""Length of a step for forces at an instant, such as a stage of an integration method (s)."""


def advance(setup: SimulationSetup, x: MotionState, h: Array, given: StepInput) -> StateUpdate:
    """The state ``h`` (s) later, and the forces in the step."""
    if isinstance(setup.law, StepLaw):
        return _step_law_update(setup, setup.law, x, h, given)
    if isinstance(setup.law, ForceLaw) and setup.law_memory:
        tree = Tree(setup.model, x.q, x.v)
        law_memory, states = split_memory(setup, x.z)
        geometry = bind_meshes(setup.geometry, given.batch)
        begun = setup.law.begin_step(geometry, tree, law_memory, given.batch)
        x = x._replace(z=ca.vertcat(begun, states))
    if setup.integrator_name == "semi_implicit_euler":
        update = _row_update if setup.rows else _semi_implicit_update
        return update(setup, x, h, given)

    def rate(t: Array, state: MotionState) -> MotionRates:
        return state_rates(setup, state, given.at(setup, t, state))

    system = MotionSystem(setup.model, rate, given.t, h)
    after = fixed_step_method(setup.integrator).step(system, x, h)
    load = _actuation(setup, x, None, given)
    law_memory = split_memory(setup, x.z)[0]
    contact = _contact(setup, Tree(setup.model, x.q, x.v), law_memory, given.batch)
    constraint_force = ca.SX(0, 1)
    if setup.constraints is not None:
        constraint_force = state_rates(setup, x, given).constraint_force
    return StateUpdate(
        after, load.torque, contact.gaps, contact.forces, ca.SX(0.0), constraint_force
    )


def split_memory(setup: SimulationSetup, z: Array) -> tuple[Array, Array]:
    """Memory of the contact law and states of actuations."""
    return z[: setup.law_memory], z[setup.law_memory :]


def _actuation(
    setup: SimulationSetup, x: MotionState, h: Array | None, given: StepInput
) -> ActuationLoad:
    """Torques and servo rows of all actuations at a state."""
    bounds = torque_bounds(setup.model, x.v, setup.torque_limits)
    states = split_memory(setup, x.z)[1]
    at = ActuationInput(setup.model, given.t, x.q, x.v, given.batch, h, bounds, states)
    return actuation_load(setup.traced_actuation, at, given.torque, setup.torque_limits)


def state_rates(setup: SimulationSetup, x: MotionState, given: StepInput) -> MotionRates:
    """Rates of velocity, memory and work at a state, under force laws."""
    model = setup.model
    tree = Tree(model, x.q, x.v)
    load = _actuation(setup, x, None, given)
    rows = joint_rows(model, x.q, None, setup.joint_limits)
    along = joint_forces(model, rows, [joint.row.force(x.v[joint.entry]) for joint in rows])
    contact = _contact(setup, tree, split_memory(setup, x.z)[0], given.batch)
    memory_rate = ca.vertcat(contact.memory_rate, load.state_rate)
    gaps, forces = contact.gaps, contact.forces
    tau, wrenches = load.torque + along, contact_wrenches(tree, gaps, forces)
    external = _external(setup, tree, ca.SX(INSTANT_S), given)
    if external is not None:
        tau = tau + external
    constraint_force = ca.SX(0, 1)
    if setup.constraints is None:
        a = accelerations(tree, tau, wrenches)
    else:
        motion = constrained_dynamics(
            model, x.q, x.v, tau, setup.constraints, external=wrenches or None
        )
        a, constraint_force = motion.acceleration, motion.force
    if not setup.energy:
        return MotionRates(a, memory_rate, ca.SX.zeros(WORK_SIZE), constraint_force)
    # A moving surface does work on the body: the velocity is that of the body alone.
    powers = [ca.dot(f, material_velocity(tree, g)) for g, f in zip(gaps, forces, strict=True)]
    power = work_column(
        ca.dot(load.torque, x.v), sum(powers, ca.SX(0.0)), ca.dot(along, x.v), external, x.v
    )
    return MotionRates(a, memory_rate, power, constraint_force)


def _external(setup: SimulationSetup, tree: Tree, h: Array, given: StepInput) -> Array | None:
    """Generalized forces of the forces on bodies; None without any."""
    at = SignalInput(setup.model, given.t, h, tree.q, tree.v, given.batch)
    return external_load(setup.external_forces, at, tree)


def work_column(
    actuators: Array, contacts: Array, joints: Array, external: Array | None, v: Array
) -> Array:
    """Work or power by kind; ``external`` are generalized forces at the velocities ``v``."""
    outside = ca.SX(0.0) if external is None else ca.dot(external, v)
    return stack(actuators, contacts, joints, outside, ca.SX.zeros(WORK_SIZE - 4))


def _contact(
    setup: SimulationSetup, tree: Tree, memory: Array, batch: BatchParameters
) -> ContactForces:
    if not isinstance(setup.law, ForceLaw):
        return ContactForces([], [])
    what = f"contact law {setup.law.name!r}"
    with explain_branches(what):
        found = setup.law.forces(bind_meshes(setup.geometry, batch), tree, memory, batch)
    _check_contact_forces(what, found, ca.SX(memory).shape[0])
    return found


def _check_contact_forces(what: str, found: object, memory_size: int) -> None:
    """Check what a contact law returned.

    Raises:
        ModelError: It is not `ContactForces`, or its parts do not fit each other.
    """
    if not isinstance(found, ContactForces):
        raise ModelError(
            f"{what}: forces() returned {type(found).__name__}; expected "
            "ContactForces(gaps, forces), with one force (3,) per gap"
        )
    shapes = [ca.SX(force).shape for force in found.forces]
    if len(shapes) != len(found.gaps) or any(shape != (3, 1) for shape in shapes):
        raise ModelError(
            f"{what}: one force of three components (N, world) is needed for each of the "
            f"{len(found.gaps)} gaps, got shapes {shapes[:4]}"
        )
    rate = ca.SX(found.memory_rate).shape[0]
    if rate != memory_size:
        raise ModelError(
            f"{what}: memory_rate has {rate} entries, the memory of the law has {memory_size}"
        )


def _semi_implicit_update(
    setup: SimulationSetup, x: MotionState, h: Array, given: StepInput
) -> StateUpdate:
    """Semi-implicit Euler with contact forces at the start and joint rows at the end of the step.

    A row f(u) is replaced by its tangent at the last known u: (H + h s) a = tau + f - s (v - u).
    Rows that may reach a bound within the step are linearized twice; dry friction that would
    reverse a velocity stops it.
    """
    model = setup.model
    tree = Tree(model, x.q, x.v)
    load = _actuation(setup, x, h, given)
    rows = [*joint_rows(model, x.q, h, setup.joint_limits), *load.rows]
    contact = _contact(setup, tree, split_memory(setup, x.z)[0], given.batch)
    wrenches = contact_wrenches(tree, contact.gaps, contact.forces)
    external = _external(setup, tree, h, given)
    outside = load.torque if external is None else load.torque + external
    constraint_force = ca.SX(0, 1)
    bounded = [
        j
        for j in rows
        if j.friction_deceleration is not None
        or (j.motor and not (is_unbounded(j.row.lower) and is_unbounded(j.row.upper)))
    ]
    end = x.v
    rotation = axes_rotation_rate(model, x.v) + midpoint_acceleration(tree, h)
    for _ in range(2 if bounded else 1):
        added = [ca.SX(0.0)] * model.nv
        along = [ca.SX(0.0)] * model.nv
        tangents = []
        for joint in rows:
            k, u = joint.entry, end[joint.entry]
            if joint.friction_deceleration is not None:
                u = ca.if_else(u * x.v[k] < 0, 0.0, u)
            slope = joint.row.slope * joint.row.active(u)
            base = joint.row.force(u) - slope * (x.v[k] - u)
            added[k] = added[k] + h * slope
            along[k] = along[k] + base
            tangents.append((base, slope))
        tau, inertia = outside + stack(*along), stack(*added) if rows else None
        if setup.constraints is not None:
            a, constraint_force = constrained_step(
                setup.constraints, tree, tau, wrenches, inertia, rotation, h
            )
        else:
            a = accelerations(tree, tau, wrenches, inertia)
        end = x.v + h * (a + rotation)
    applied = [
        base - slope * h * a[joint.entry]
        for joint, (base, slope) in zip(rows, tangents, strict=True)
    ]
    motors = joint_forces(model, [j for j in rows if j.motor], _select(rows, applied, True))
    torque = load.torque + motors
    others = joint_forces(model, [j for j in rows if not j.motor], _select(rows, applied, False))
    pushes = generalized_forces(tree, wrenches)
    if setup.constraints is not None:
        G = ConstraintRows(tree, setup.constraints).matrix.jacobian
        others = others + G.T @ constraint_force
    work = x.w
    if setup.energy:
        mean = (x.v + end) / 2
        work = x.w + h * work_column(
            ca.dot(torque, mean), ca.dot(pushes, mean), ca.dot(others, mean), external, mean
        )
    force = outside + motors + pushes + others
    q, v = _drift(tree, end, force, h)
    memory_rate = ca.vertcat(contact.memory_rate, load.state_rate)
    after = MotionState(q, v, x.z + h * memory_rate, work)
    return StateUpdate(after, torque, contact.gaps, contact.forces, ca.SX(0.0), constraint_force)


def _row_update(setup: SimulationSetup, x: MotionState, h: Array, given: StepInput) -> StateUpdate:
    """A step under a force law with rows of the user, which are solved for at its end.

    Contact forces are those at the start of the step.
    """
    law_memory = split_memory(setup, x.z)[0]
    contact = _contact(setup, Tree(setup.model, x.q, x.v), law_memory, given.batch)
    update = _step_law_update(setup, StartContact(contact), x, h, given)
    states = split_memory(setup, update.x.z)[1]
    end = ca.vertcat(law_memory + h * contact.memory_rate, states)
    return replace(update, x=update.x._replace(z=end))


def _step_law_update(
    setup: SimulationSetup, law: StepLaw, x: MotionState, h: Array, given: StepInput
) -> StateUpdate:
    """A step under a law that solves for the velocities at its end."""
    model = setup.model
    tree = Tree(model, x.q, x.v)
    load = _actuation(setup, x, h, given)
    rows = [*joint_rows(model, x.q, h, setup.joint_limits), *load.rows]
    rotation = axes_rotation_rate(model, x.v) + midpoint_acceleration(tree, h)
    external = _external(setup, tree, h, given)
    outside = load.torque if external is None else load.torque + external
    tau = outside
    if not rotation.is_zero():
        tau = tau + composite_inertia(tree) @ rotation
    problem = StepProblem(
        bind_meshes(setup.geometry, given.batch),
        tree,
        tau,
        rows,
        h,
        split_memory(setup, x.z)[0],
        given.batch,
        loop_rows(tree, setup.constraints, h),
        _targets(setup, tree, h, given),
    )
    end = law.step(problem)
    motors = joint_forces(model, [j for j in rows if j.motor], _select(rows, end.joint, True))
    torque = load.torque + motors
    others = joint_forces(model, [j for j in rows if not j.motor], _select(rows, end.joint, False))
    if problem.loops or problem.targets:
        others = others + problem.rows.generalized_forces(end.v, end.bounded)
    contact = generalized_forces(tree, contact_wrenches(tree, end.gaps, end.forces))
    work = x.w
    if setup.energy:
        mean = (x.v + end.v) / 2
        work = x.w + h * work_column(
            ca.dot(torque, mean), ca.dot(contact, mean), ca.dot(others, mean), external, mean
        )
    q, v = _drift(tree, end.v, outside + motors + contact + others, h)
    states = split_memory(setup, x.z)[1] + h * load.state_rate
    law_memory = end.memory if setup.law_memory else ca.SX(0, 1)
    after = MotionState(q, v, ca.vertcat(law_memory, states), work)
    constraint_force = problem.rows.forces(end.v)
    return StateUpdate(
        after, torque, end.gaps, end.forces, end.residual, constraint_force, end.failed
    )


def _targets(
    setup: SimulationSetup, tree: Tree, h: Array, given: StepInput
) -> list[TargetRow | IsotropicSpring]:
    """Rows of the user at the state of the tree."""
    built: list[TargetRow | IsotropicSpring] = []
    place = 0
    for rows in setup.rows:
        sampled = given.targets[place : place + rows.sampled_size]
        built += rows.build(RowInput(tree, given.t, h, given.batch, sampled))
        place += rows.sampled_size
    return built


def _drift(tree: Tree, end: Array, force: Array, h: Array) -> tuple[Array, Array]:
    """Positions and velocities after a step with the velocities ``end``, under all forces in it."""
    q = tree.model.integrate(tree.q, h * end)
    return q, transport_momentum(tree, q, rotate_velocities(tree.model, end, h), force, h)


def _select(rows: Sequence[JointRow], values: Sequence[Array], motor: bool) -> list[Array]:
    return [value for row, value in zip(rows, values, strict=True) if row.motor is motor]
