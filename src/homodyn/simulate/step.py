"""One step of time as a kernel: from the state of a lane to the next, with what is to be kept.

Inputs: ``q``, ``v``, ``z`` (memory of the contact law), ``t`` (s), ``work`` (J: actuators,
contacts, joints), ``status`` (0: running, else the lane stands still), ``dt`` (s), ``torque``
(N m, N, from outside), ``lane`` (named parameters) and, for a model that has them, ``parameters``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from homodyn.dynamics import (
    Constraint,
    constrained_dynamics,
    kinetic_energy,
    potential_energy,
)
from homodyn.dynamics.aba import articulated
from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.external import body_wrenches
from homodyn.dynamics.factor import factorized
from homodyn.dynamics.rnea import newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.model.manifold import quaternion_exp
from homodyn.simulate.actuation import Controller, SampledTorques, drive
from homodyn.simulate.constants import Lane
from homodyn.simulate.geometry import Gap, Scene, gap_velocity
from homodyn.simulate.integrators import INTEGRATORS, Flow, State
from homodyn.simulate.joint_rows import (
    USUAL_LIMITS,
    JointLimits,
    JointRow,
    joint_rows,
    spring_energy,
)
from homodyn.simulate.record import Status
from homodyn.simulate.rows import unbounded
from homodyn.spatial import Array, cross, quaternion_rotation, stack
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

FAR = 1e9
"""Sum of |q| and |v| (SI units) beyond which a lane counts as lost."""

STATES = ("q", "v", "z", "t", "work", "status")
"""Inputs that a step hands on."""


@dataclass(frozen=True, eq=False)
class Setup:
    """All that decides what a step does, but for numbers that may differ between lanes."""

    model: Model
    scene: Scene
    law: Any
    actuation: tuple[Any, ...] = ()
    integrator: str = "semi_implicit_euler"
    limits: JointLimits | None = USUAL_LIMITS
    limited: bool = True
    lane: tuple[str, ...] = ()
    ledger: bool = True
    stops: tuple[Any, ...] = ()
    constraints: Constraint | None = None

    def __post_init__(self) -> None:
        if self.stepping and self.constraints is not None:
            raise ModelError(
                f"contact law {self.law.name!r} does not close loops; take the soft law with them"
            )
        if self.stepping and self.integrator != "semi_implicit_euler":
            raise ModelError(
                f"contact law {self.law.name!r} finds velocities at the end of a step and goes "
                f"with semi_implicit_euler, not with {self.integrator}"
            )

    @property
    def stepping(self) -> bool:
        """Whether the law gives velocities rather than forces."""
        return hasattr(self.law, "step")

    @cached_property
    def memory(self) -> int:
        """Numbers that the law keeps."""
        return int(self.law.memory(self.scene)) if self.law is not None else 0

    @cached_property
    def gap_count(self) -> int:
        """Places that may touch."""
        return len(self.scene.names) if self.law is not None else 0

    @property
    def traced(self) -> tuple[Any, ...]:
        """Actuations that are part of the kernel."""
        outside = (SampledTorques, Controller)
        return tuple(part for part in self.actuation if not isinstance(part, outside))

    def sizes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs."""
        model = self.model
        sizes: dict[str, tuple[int, ...]] = {
            "q": (model.nq,),
            "v": (model.nv,),
            "z": (self.memory,),
            "t": (),
            "work": (3,),
            "status": (),
            "dt": (),
            "torque": (model.nv,),
            "lane": (len(self.lane),),
        }
        if model.parameters:
            sizes["parameters"] = (len(model.parameters),)
        return sizes


@dataclass(frozen=True, eq=False)
class _Step:
    """A finished step: the state after it, and what acted in it."""

    x: State
    torque: Array
    gaps: list[Gap]
    forces: list[Array]
    residual: Array


def step_kernel(setup: Setup, record: Sequence[str] = ()) -> Kernel:
    """The kernel of a step; ``record`` names what else it gives, at the state it starts from."""
    model, sizes = setup.model, setup.sizes()
    count = setup.gap_count

    def body(*symbols: ca.SX) -> dict[str, Array]:
        given = dict(zip(sizes, symbols, strict=True))
        lane = {name: given["lane"][k] for k, name in enumerate(setup.lane)}
        x = State(given["q"], given["v"], given["z"], given["work"])
        t, h = given["t"], given["dt"]
        done = _advance(setup, t, x, h, given["torque"], lane)
        size = ca.sum1(ca.fabs(done.x.q)) + ca.sum1(ca.fabs(done.x.v))
        running = given["status"] == 0
        sound = ca.logic_and(running, size < FAR)
        fault = ca.if_else(size < FAR, 0.0, float(Status.NOT_FINITE.value))
        ended = ca.SX(0.0)
        for stop in setup.stops:
            crossed = stop.crossed(t, x, t + h, done.x, lane)
            ended = ca.if_else(crossed, float(Status.ENDED.value), ended)
        status = ca.if_else(fault > 0, fault, ended)
        after = {
            "q": ca.if_else(sound, done.x.q, x.q),
            "v": ca.if_else(sound, done.x.v, x.v),
            "z": ca.if_else(sound, done.x.z, x.z) if setup.memory else x.z,
            "t": ca.if_else(sound, t + h, t),
            "work": ca.if_else(sound, done.x.w, x.w),
            "status": ca.if_else(running, status, given["status"]),
        }
        return {**after, **{f"{name}_now": _kept(name, setup, t, x, done) for name in record}}

    shapes: dict[str, tuple[int, ...]] = {
        "q": (model.nq,),
        "v": (model.nv,),
        "t": (),
        "work": (3,),
        "status": (),
        "forces": (count, 3),
        "distances": (count,),
        "torques": (model.nv,),
        "kinetic": (),
        "potential": (),
        "residual": (),
    }
    unknown = [name for name in record if name not in shapes]
    if unknown:
        raise ModelError(
            f"nothing called {', '.join(unknown)} to record; there are {', '.join(shapes)}"
        )
    outputs = {name: sizes[name] for name in STATES}
    outputs.update({f"{name}_now": shapes[name] for name in record})
    known = {"parameters": model.parameter_symbols} if model.parameters else {}
    return Kernel(trace(body, sizes, outputs, f"step of {model.name}", given=known), mapping=True)


def _kept(name: str, setup: Setup, t: Array, x: State, done: _Step) -> Array:
    if name in ("q", "v"):
        return getattr(x, name)
    if name == "t":
        return t
    if name == "work":
        return x.w
    if name == "forces":
        return ca.horzcat(ca.SX(3, 0), *done.forces).T
    if name == "distances":
        return ca.vertcat(ca.SX(0, 1), *[gap.distance for gap in done.gaps])
    if name == "torques":
        return done.torque
    if name == "kinetic":
        return kinetic_energy(setup.model, x.q, x.v)
    if name == "potential":
        return potential_energy(setup.model, x.q) + spring_energy(setup.model, x.q)
    if name == "residual":
        return done.residual
    return ca.SX(0.0)


def _advance(setup: Setup, t: Array, x: State, h: Array, given: Array, lane: Lane) -> _Step:
    if setup.stepping:
        return _stepped(setup, t, x, h, given, lane)
    if setup.law is not None and setup.memory:
        z = setup.law.begin(setup.scene, Tree(setup.model, x.q, x.v), x.z, lane)
        x = x._replace(z=z)
    if setup.integrator == "semi_implicit_euler" and setup.constraints is None:
        return _with_joints_at_the_end(setup, t, x, h, given, lane)
    after = INTEGRATORS[setup.integrator](
        setup.model, lambda time, at: flow(setup, time, at, given, lane), t, x, h
    )
    torque, gaps, pushes = _acting(setup, t, x, given, lane)
    return _Step(after, torque, gaps, pushes, ca.SX(0.0))


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
    along = _along_joints(model, rows, [joint.row.force(x.v[joint.entry]) for joint in rows])
    gaps, pushes, z = _contact(setup, tree, x.z, lane)
    tau, wrenches = moved.torque + along, _wrenches(tree, gaps, pushes)
    if setup.constraints is None:
        a = accelerations(tree, tau, wrenches)
    else:
        held = constrained_dynamics(
            model, x.q, x.v, tau, setup.constraints, external=wrenches or None
        )
        a = held.acceleration
    if not setup.ledger:
        return Flow(a, z, ca.SX.zeros(3))
    pushing = [ca.dot(f, gap_velocity(tree, g)) for g, f in zip(gaps, pushes, strict=True)]
    power = stack(ca.dot(moved.torque, x.v), sum(pushing, ca.SX(0.0)), ca.dot(along, x.v))
    return Flow(a, z, power)


def _contact(
    setup: Setup, tree: Tree, z: Array, lane: Lane
) -> tuple[list[Gap], list[Array], Array]:
    if setup.law is None:
        return [], [], ca.SX(0, 1)
    gaps, forces, rate = setup.law.forces(setup.scene, tree, z, lane)
    return gaps, forces, rate


def _with_joints_at_the_end(
    setup: Setup, t: Array, x: State, h: Array, given: Array, lane: Lane
) -> _Step:
    """Semi-implicit Euler with contact forces of the start and joint rows of the end of the step.

    A row f(u) is replaced by its tangent at the last known u: (H + h s) a = tau + f - s (v - u).
    Rows that may meet a bound within the step are looked at twice.
    """
    model = setup.model
    tree = Tree(model, x.q, x.v)
    moved = drive(model, setup.traced, t, x.q, x.v, given, lane, h, setup.limited)
    rows = [*joint_rows(model, x.q, h, setup.limits), *moved.rows]
    gaps, pushes, z_rate = _contact(setup, tree, x.z, lane)
    wrenches = _wrenches(tree, gaps, pushes)
    bounded = [
        j for j in rows if j.motor and not (unbounded(j.row.lower) and unbounded(j.row.upper))
    ]
    end, turning = x.v, axes_rate(model, x.v)
    for _ in range(2 if bounded else 1):
        added = [ca.SX(0.0)] * model.nv
        along = [ca.SX(0.0)] * model.nv
        tangents = []
        for joint in rows:
            k, u = joint.entry, end[joint.entry]
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
    motors = _along_joints(model, [j for j in rows if j.motor], _of(rows, applied, True))
    torque = moved.torque + motors
    work = x.w
    if setup.ledger:
        mean = (x.v + end) / 2
        others = _along_joints(model, [j for j in rows if not j.motor], _of(rows, applied, False))
        work = x.w + h * stack(
            ca.dot(torque, mean),
            ca.dot(_generalised(tree, wrenches), mean),
            ca.dot(others, mean),
        )
    after = State(
        model.integrate(x.q, h * end), turned_along(model, end, h), x.z + h * z_rate, work
    )
    return _Step(after, torque, gaps, pushes, ca.SX(0.0))


def _stepped(setup: Setup, t: Array, x: State, h: Array, given: Array, lane: Lane) -> _Step:
    """A law that finds the velocities at the end of the step itself."""
    model = setup.model
    tree = Tree(model, x.q, x.v)
    moved = drive(model, setup.traced, t, x.q, x.v, given, lane, h, setup.limited)
    rows = [*joint_rows(model, x.q, h, setup.limits), *moved.rows]
    turning = axes_rate(model, x.v)
    tau = moved.torque
    if not turning.is_zero():
        tau = tau + composite_inertia(tree) @ turning
    done = setup.law.step(setup.scene, tree, tau, rows, h, x.z, lane)
    motors = _along_joints(model, [j for j in rows if j.motor], _of(rows, done.joint, True))
    torque = moved.torque + motors
    work = x.w
    if setup.ledger:
        mean = (x.v + done.v) / 2
        others = _along_joints(
            model, [j for j in rows if not j.motor], _of(rows, done.joint, False)
        )
        pushed = _generalised(tree, _wrenches(tree, done.gaps, done.forces))
        work = x.w + h * stack(ca.dot(torque, mean), ca.dot(pushed, mean), ca.dot(others, mean))
    after = State(model.integrate(x.q, h * done.v), turned_along(model, done.v, h), done.z, work)
    return _Step(after, torque, done.gaps, done.forces, done.residual)


def axes_rate(model: Model, v: Array) -> Array:
    """What changes velocities in the axes of free bodies only because those axes turn: omega x v.

    Added to the accelerations it gives rates in axes that stand still for the step. Euler's method
    in turning axes would make everything that spins go faster and faster.
    """
    result = ca.SX(model.nv, 1)
    for joint, slots in zip(model.joints, model.joint_slots, strict=True):
        if joint.kind == "free":
            k = slots.v.start
            result[k : k + 3] = cross(v[k + 3 : k + 6], v[k : k + 3])
    return result


def turned_along(model: Model, v: Array, h: Array) -> Array:
    """Velocities in the axes of free bodies at the end of a step, from those of its start."""
    result = ca.SX(v)
    for joint, slots in zip(model.joints, model.joint_slots, strict=True):
        if joint.kind == "free":
            k = slots.v.start
            turn = quaternion_rotation(quaternion_exp(h * v[k + 3 : k + 6]))
            result[k : k + 3] = turn @ v[k : k + 3]
    return result


def _of(rows: Sequence[JointRow], values: Sequence[Array], motor: bool) -> list[Array]:
    return [value for row, value in zip(rows, values, strict=True) if row.motor is motor]


def accelerations(
    tree: Tree, tau: Array, wrenches: dict[str, Array], added: Array | None = None
) -> Array:
    """Forward dynamics with inertia ``added`` along the degrees of freedom."""
    if not tree.model.couplers:
        return articulated(tree, tau, wrenches, added)
    H = composite_inertia(tree)
    if added is not None:
        H = H + ca.diag(added)
    return factorized(tree, H).solve(tau - newton_euler(tree, None, wrenches))


def _along_joints(model: Model, rows: Sequence[JointRow], forces: Sequence[Array]) -> Array:
    total = [ca.SX(0.0)] * model.nv
    for joint, force in zip(rows, forces, strict=True):
        total[joint.entry] = total[joint.entry] + force
    return stack(*total) if total else ca.SX(0, 1)


def _wrenches(tree: Tree, gaps: Sequence[Gap], forces: Sequence[Array]) -> dict[str, Array]:
    """Contact forces gathered for each body: moment about its origin and force, world axes."""
    total: dict[str, Array] = {}
    for gap, force in zip(gaps, forces, strict=True):
        for body, sign in ((gap.body, 1.0), (gap.other, -1.0)):
            if body < 0:
                continue
            name = tree.model.body_names[body]
            arm = gap.point - tree.placements[body].r
            wrench = sign * stack(cross(arm, force), force)
            total[name] = total[name] + wrench if name in total else wrench
    return total


def _generalised(tree: Tree, wrenches: dict[str, Array]) -> Array:
    """Generalised forces of wrenches on bodies."""
    on = body_wrenches(tree, wrenches)
    forces = [on.get(i, ca.SX.zeros(6)) for i in range(len(tree.model.bodies))]
    return tree.project(tree.inward(forces))
