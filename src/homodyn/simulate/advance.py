"""A state taken one step further, under laws that give forces and laws that give velocities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from homodyn.dynamics import constrained_dynamics
from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.tree import Tree
from homodyn.simulate.actuation import drive
from homodyn.simulate.constants import Lane
from homodyn.simulate.geometry import Gap, gap_velocity
from homodyn.simulate.integrators import INTEGRATORS, Flow, MotionSystem, State
from homodyn.simulate.joint_rows import JointRow, joint_rows
from homodyn.simulate.loads import accelerations, along_joints, body_loads, generalised
from homodyn.simulate.loops import loop_load, loop_rows
from homodyn.simulate.rows import unbounded
from homodyn.simulate.setup import Setup
from homodyn.simulate.turning_axes import axes_rate, turned_along
from homodyn.spatial import Array, stack


@dataclass(frozen=True, eq=False)
class Step:
    """A finished step: the state after it, and what acted in it."""

    x: State
    torque: Array
    gaps: list[Gap]
    forces: list[Array]
    residual: Array
    held: Array


def advance(setup: Setup, t: Array, x: State, h: Array, given: Array, lane: Lane) -> Step:
    """The state ``h`` (s) later, and what acted on the way."""
    if setup.stepping:
        return _stepped(setup, t, x, h, given, lane)
    if setup.law is not None and setup.memory:
        z = setup.law.begin(setup.scene, Tree(setup.model, x.q, x.v), x.z, lane)
        x = x._replace(z=z)
    if setup.integrator == "semi_implicit_euler" and setup.constraints is None:
        return _with_joints_at_the_end(setup, t, x, h, given, lane)
    system = MotionSystem(setup.model, lambda time, at: flow(setup, time, at, given, lane), t, h)
    after = INTEGRATORS[setup.integrator].step(system, x, h)
    torque, gaps, pushes = _acting(setup, t, x, given, lane)
    held = ca.SX(0, 1) if setup.constraints is None else flow(setup, t, x, given, lane).held
    return Step(after, torque, gaps, pushes, ca.SX(0.0), held)


def _acting(
    setup: Setup, t: Array, x: State, given: Array, lane: Lane
) -> tuple[Array, list[Gap], list[Array]]:
    """Motor torques, gaps and contact forces at a state, under laws that give forces."""
    moved = drive(setup.model, setup.traced, t, x.q, x.v, given, lane, None, setup.limited)
    gaps, pushes, _ = _contact(setup, Tree(setup.model, x.q, x.v), x.z, lane)
    return moved.torque, gaps, pushes


def flow(setup: Setup, t: Array, x: State, given: Array, lane: Lane) -> Flow:
    """Rates of velocity, memory and work at a state, under laws that give forces."""
    model = setup.model
    tree = Tree(model, x.q, x.v)
    moved = drive(model, setup.traced, t, x.q, x.v, given, lane, None, setup.limited)
    rows = joint_rows(model, x.q, None, setup.limits)
    along = along_joints(model, rows, [joint.row.force(x.v[joint.entry]) for joint in rows])
    gaps, pushes, z = _contact(setup, tree, x.z, lane)
    tau, wrenches = moved.torque + along, body_loads(tree, gaps, pushes)
    held = ca.SX(0, 1)
    if setup.constraints is None:
        a = accelerations(tree, tau, wrenches)
    else:
        motion = constrained_dynamics(
            model, x.q, x.v, tau, setup.constraints, external=wrenches or None
        )
        a, held = motion.acceleration, motion.force
    if not setup.ledger:
        return Flow(a, z, ca.SX.zeros(3), held)
    pushing = [ca.dot(f, gap_velocity(tree, g)) for g, f in zip(gaps, pushes, strict=True)]
    power = stack(ca.dot(moved.torque, x.v), sum(pushing, ca.SX(0.0)), ca.dot(along, x.v))
    return Flow(a, z, power, held)


def _contact(
    setup: Setup, tree: Tree, z: Array, lane: Lane
) -> tuple[list[Gap], list[Array], Array]:
    if setup.law is None:
        return [], [], ca.SX(0, 1)
    gaps, forces, rate = setup.law.forces(setup.scene, tree, z, lane)
    return gaps, forces, rate


def _with_joints_at_the_end(
    setup: Setup, t: Array, x: State, h: Array, given: Array, lane: Lane
) -> Step:
    """Semi-implicit Euler with contact forces of the start and joint rows of the end of the step.

    A row f(u) is replaced by its tangent at the last known u: (H + h s) a = tau + f - s (v - u).
    Rows that may meet a bound within the step are looked at twice; what dry friction would turn
    back stops.
    """
    model = setup.model
    tree = Tree(model, x.q, x.v)
    moved = drive(model, setup.traced, t, x.q, x.v, given, lane, h, setup.limited)
    rows = [*joint_rows(model, x.q, h, setup.limits), *moved.rows]
    gaps, pushes, z_rate = _contact(setup, tree, x.z, lane)
    wrenches = body_loads(tree, gaps, pushes)
    bounded = [
        j
        for j in rows
        if j.rubs is not None
        or (j.motor and not (unbounded(j.row.lower) and unbounded(j.row.upper)))
    ]
    end, turning = x.v, axes_rate(model, x.v)
    for _ in range(2 if bounded else 1):
        added = [ca.SX(0.0)] * model.nv
        along = [ca.SX(0.0)] * model.nv
        tangents = []
        for joint in rows:
            k, u = joint.entry, end[joint.entry]
            if joint.rubs is not None:
                u = ca.if_else(u * x.v[k] < 0, 0.0, u)
            slope = joint.row.slope * joint.row.active(u)
            base = joint.row.force(u) - slope * (x.v[k] - u)
            added[k] = added[k] + h * slope
            along[k] = along[k] + base
            tangents.append((base, slope))
        a = accelerations(
            tree, moved.torque + stack(*along), wrenches, stack(*added) if rows else None
        )
        end = x.v + h * (a + turning)
    applied = [
        base - slope * h * a[joint.entry]
        for joint, (base, slope) in zip(rows, tangents, strict=True)
    ]
    motors = along_joints(model, [j for j in rows if j.motor], _of(rows, applied, True))
    torque = moved.torque + motors
    work = x.w
    if setup.ledger:
        mean = (x.v + end) / 2
        others = along_joints(model, [j for j in rows if not j.motor], _of(rows, applied, False))
        work = x.w + h * stack(
            ca.dot(torque, mean),
            ca.dot(generalised(tree, wrenches), mean),
            ca.dot(others, mean),
        )
    after = State(
        model.integrate(x.q, h * end), turned_along(model, end, h), x.z + h * z_rate, work
    )
    return Step(after, torque, gaps, pushes, ca.SX(0.0), ca.SX(0, 1))


def _stepped(setup: Setup, t: Array, x: State, h: Array, given: Array, lane: Lane) -> Step:
    """A law that finds the velocities at the end of the step itself."""
    model = setup.model
    tree = Tree(model, x.q, x.v)
    moved = drive(model, setup.traced, t, x.q, x.v, given, lane, h, setup.limited)
    rows = [*joint_rows(model, x.q, h, setup.limits), *moved.rows]
    turning = axes_rate(model, x.v)
    tau = moved.torque
    if not turning.is_zero():
        tau = tau + composite_inertia(tree) @ turning
    loops = loop_rows(tree, setup.constraints, h)
    done = setup.law.step(setup.scene, tree, tau, rows, h, x.z, lane, loops)
    motors = along_joints(model, [j for j in rows if j.motor], _of(rows, done.joint, True))
    torque = moved.torque + motors
    work = x.w
    if setup.ledger:
        mean = (x.v + done.v) / 2
        others = along_joints(model, [j for j in rows if not j.motor], _of(rows, done.joint, False))
        if loops:
            others = others + loop_load(tree, loops, done.v)
        pushed = generalised(tree, body_loads(tree, done.gaps, done.forces))
        work = x.w + h * stack(ca.dot(torque, mean), ca.dot(pushed, mean), ca.dot(others, mean))
    after = State(model.integrate(x.q, h * done.v), turned_along(model, done.v, h), done.z, work)
    held = ca.vertcat(ca.SX(0, 1), *[loop.force(done.v) for loop in loops])
    return Step(after, torque, done.gaps, done.forces, done.residual, held)


def _of(rows: Sequence[JointRow], values: Sequence[Array], motor: bool) -> list[Array]:
    return [value for row, value in zip(rows, values, strict=True) if row.motor is motor]
