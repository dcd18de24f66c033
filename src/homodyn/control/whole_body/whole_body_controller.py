"""Whole-body control: accelerations, torques and contact forces in one quadratic program.

At every call, with accelerations a and forces f along the edges of the friction pyramids,

    minimize    sum_k |c_k (J_k a + Jdot_k v - wanted_k)|^2 + e_a |a|^2 + e_f |f|^2
    subject to  M a + h = S tau + F f          (no torque on the root)
                J_c a + Jdot_c v = -k_d J_c v  (bodies in contact)
                f >= 0,  |tau| <= tau_max,  and the limits of coordinates for v + a dt.

Torques follow from a and f, so they are not variables. Source of the form: Collette et al. 2007,
Humanoids; Qiu 2012, section 6.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from homodyn.control.ik_program import Member, prepare_limit, prepare_task
from homodyn.control.ik_step import InfeasibleProgram
from homodyn.control.limits import ConfigurationLimit, Limit
from homodyn.control.limits.torque_limit import TorqueLimit
from homodyn.control.programs.conflicts import conflicting_owners
from homodyn.control.programs.dense_solver import DenseSolution, dense_solver
from homodyn.control.programs.quadratic_program import ProgramPattern, QuadraticProgram, RowKind
from homodyn.control.tasks.task import Task
from homodyn.control.whole_body.body_contact import BodyContact
from homodyn.control.whole_body.dynamics_kernel import DynamicsKernel
from homodyn.control.whole_body.tracking_task import TrackingTask
from homodyn.control.whole_body.whole_body_solution import WholeBodySolution, WholeBodyStatus
from homodyn.errors import ModelError, NoSolution
from homodyn.model import Model

DEFAULT_PERIOD_S = 0.005
"""Time between calls; that of Qiu (2012)."""
ACCELERATION_REGULARIZATION = 1e-3
"""Cost of accelerations, (s2/rad)2."""
FORCE_REGULARIZATION = 1e-6
"""Cost of forces, 1/N2."""
RAMP_FORCE_PER_MASS_N_KG = 20.0
"""Largest force of a point of an unlimited contact that fades by its schedule, per body mass: about
twice the weight."""
CONTACT_DAMPING = 20.0
"""1/s: how fast the velocity of a body in contact decays."""
MIN_CONTACT_SINGULAR_RATIO = 1e-9
"""Singular value of contact rows, relative to the largest, below which rows depend on others."""
MAX_CONTACT_RESIDUAL = 1e-6
"""Acceleration (m/s2, rad/s2) by which dependent contact rows may differ from the others."""
RELAXED_CONTACT_COST = 1e5
"""Cost of the motion of bodies in contact where their rows contradict other constraints."""
RELAXED_REGULARIZATION = 1e-1
"""Cost of accelerations in that case, (s2/rad)2, and of forces, 1e-4 of it: segments of little
inertia whose motors are too weak fall fast, and daqp needs a smaller ratio of costs."""
RELATIVE_TORQUE_REGULARIZATION = 1e-9
"""Curvature added for all torques and forces, relative to the largest, where torque limits are the
only constraints."""

References = Sequence[TrackingTask] | Callable[[float], Sequence[TrackingTask]]
"""Tasks, or a function of time (s) that returns them; their kinds and frames must not change."""


class WholeBodyController:
    """A controller that tracks tasks with the torques of all joints and the contact forces.

    It is called with time and state, as `homodyn.simulate.Controller` does::

        actuation = hd.simulate.Controller(controller, period=0.005)

    Args:
        model: The model; parameters have their nominal values.
        tasks: What to track, or a function of time.
        contacts: Bodies in contact, with their schedules.
        limits: Limits of coordinates, distances and torques.
        period: Time between calls, s.

    Raises:
        ModelError: A task, contact or limit does not fit the model.
    """

    def __init__(
        self,
        model: Model,
        tasks: References,
        contacts: Sequence[BodyContact] = (),
        *,
        limits: Sequence[Limit] = (ConfigurationLimit(), TorqueLimit()),
        period: float = DEFAULT_PERIOD_S,
    ) -> None:
        if not period > 0:
            raise ModelError(f"period is a time above 0 s, got {period!r}")
        self.model = model.at(model.parameter_values) if model.parameters else model
        self.contacts = tuple(contacts)
        self.period = period
        self.calls = 0
        """Number of programs solved."""
        self.relaxed_times: list[float] = []
        """Times (s) at which contacts could not be held."""
        self._tasks = tasks
        self._limits = tuple(limit for limit in limits if not isinstance(limit, TorqueLimit))
        torque = np.full(self.model.nv, np.inf)
        for limit in limits:
            if isinstance(limit, TorqueLimit):
                torque = np.minimum(torque, limit.bounds(self.model))
        torque[np.setdiff1d(np.arange(self.model.nv), self.model.actuated)] = 0.0
        self.max_torque = torque
        self._kernels: dict[tuple[tuple[Member, ...], tuple[Member, ...]], DynamicsKernel] = {}
        for contact in self.contacts:
            contact.local_points(self.model)
        q = self.model.neutral()
        self._prepare(0.0, q)

    def compile(self) -> WholeBodyController:
        """Compile the kernel now instead of in the background.

        Returns:
            The controller itself.
        """
        for kernel in self._kernels.values():
            kernel.kernel.compile()
        return self

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Torques at a state.

        Args:
            t: Time, s.
            q: Positions, (nq,).
            v: Velocities, (nv,).

        Returns:
            (nv,), N m, N.

        Raises:
            InfeasibleProgram: Limits contradict each other even with relaxed contacts.
            NoSolution: The solver fails.
        """
        return np.array(self.solve(t, q, v).tau)

    def solve(self, t: float, q: np.ndarray, v: np.ndarray) -> WholeBodySolution:
        """Torques, accelerations and contact forces at a state.

        Args:
            t: Time, s.
            q: Positions, (nq,).
            v: Velocities, (nv,).

        Returns:
            The solution with its status.

        Raises:
            InfeasibleProgram: Limits contradict each other even with relaxed contacts.
            NoSolution: The solver fails.
        """
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        kernel, inputs, tracked = self._prepare(t, q)
        state = kernel.evaluate(q, v, inputs)
        program = _Program(self, kernel, state, tracked, t, v)
        self.calls += 1
        found = program.solve(relaxed=False)
        if not found.solved and program.reduce_contacts():
            found = program.solve(relaxed=False)
        status = WholeBodyStatus.SOLVED
        if not found.solved:
            self.relaxed_times.append(float(t))
            status = WholeBodyStatus.RELAXED
            found = program.solve(relaxed=True)
        if not found.solved:
            limited = program.solve_for_torques()
            if limited is not None:
                return program.solution(limited, WholeBodyStatus.TORQUE_LIMITED)
            conflict = conflicting_owners(
                program.quadratic_program(relaxed=True), "the limits of coordinates"
            )
            if conflict:
                raise InfeasibleProgram(conflict, 0, 1)
            raise NoSolution(
                f"daqp found no torques at {t:g} s, although no constraints contradict each other"
            )
        return program.solution(found, status)

    def _prepare(
        self, t: float, q: np.ndarray
    ) -> tuple[DynamicsKernel, list[np.ndarray], Sequence[TrackingTask]]:
        """The kernel of the tasks at a time, with its inputs."""
        tracked = self._tasks(t) if callable(self._tasks) else self._tasks
        inputs = [np.array([self.period])]
        members, limit_members = [], []
        for one in tracked:
            member, numbers = prepare_task(one.task, self.model)
            if numbers.ndim != 1:
                raise ModelError(f"{one.task.title}: whole-body control takes targets of one state")
            members.append(member)
            inputs.append(numbers)
        for limit in self._limits:
            member, numbers = prepare_limit(limit, self.model, q)
            limit_members.append(member)
            inputs.append(numbers)
        key = (tuple(members), tuple(limit_members))
        if key not in self._kernels:
            tasks: list[tuple[Task, Member]] = [
                (one.task, member) for one, member in zip(tracked, members, strict=True)
            ]
            limits = tuple(zip(self._limits, limit_members, strict=True))
            self._kernels[key] = DynamicsKernel(self.model, tuple(tasks), self.contacts, limits)
        return self._kernels[key], inputs, tracked


@dataclass(frozen=True, eq=False)
class _Program:
    """The program of one call."""

    controller: WholeBodyController
    kernel: DynamicsKernel
    state: dict[str, np.ndarray]
    tracked: Sequence[TrackingTask]
    t: float
    v: np.ndarray

    def __post_init__(self) -> None:
        contacts = self.controller.contacts
        strength = [contact.strength(self.t) for contact in contacts]
        points = [len(contact.edges) * len(contact.points) for contact in contacts]
        on = np.array([s > 0 for s in strength], dtype=bool)
        set_ = object.__setattr__
        set_(self, "on", on)
        set_(self, "active_rows", np.repeat(on, self.kernel.contact_sizes))
        set_(self, "edges", np.repeat(on, points))
        bounds = [
            contact.max_force * s
            if s < 1 and np.isfinite(contact.max_force)
            else (
                self.controller.model.mass * RAMP_FORCE_PER_MASS_N_KG * s
                if s < 1
                else contact.max_force
            )
            for contact, s in zip(contacts, strength, strict=True)
        ]
        set_(self, "bounds", np.repeat(bounds, points)[self.edges] if contacts else np.zeros(0))

    on: np.ndarray = field(init=False)
    active_rows: np.ndarray = field(init=False)
    edges: np.ndarray = field(init=False)
    bounds: np.ndarray = field(init=False)
    reduced: tuple[np.ndarray, np.ndarray] | None = field(init=False, default=None)

    def wanted_acceleration(self) -> np.ndarray:
        """Wanted accelerations (rows,) less the bias."""
        state, parts = self.state, []
        start = 0
        for one, size in zip(self.tracked, self.kernel.task_sizes, strict=True):
            rows = slice(start, start + size)
            start += size
            error, rate = state["task_error"][rows], state["task_rate"][rows]
            if self.kernel.rate_rows[rows.start]:
                target = one.damping * (error - rate)
            else:
                speed = 0.0 if one.velocity is None else np.asarray(one.velocity, dtype=float)
                target = one.stiffness * error + one.damping * (speed - rate)
            if one.acceleration is not None:
                target = target + np.asarray(one.acceleration, dtype=float)
            parts.append(target)
        return np.concatenate(parts or [np.zeros(0)]) - state["task_bias"]

    def costs(self, relaxed: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Hessian of a, its linear term, and the cost rows of relaxed contacts."""
        state = self.state
        rows = state["task_rows"] * state["task_cost"][:, None]
        target = self.wanted_acceleration() * state["task_cost"]
        if relaxed:
            cost = np.sqrt(RELAXED_CONTACT_COST)
            contact, bound = self.contact_motion()
            rows, target = np.vstack([rows, cost * contact]), np.r_[target, cost * bound]
        hessian = rows.T @ rows
        hessian.flat[:: len(hessian) + 1] += (
            RELAXED_REGULARIZATION if relaxed else ACCELERATION_REGULARIZATION
        )
        return hessian, -rows.T @ target, rows

    def contact_motion(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the bodies in contact, and their accelerations."""
        state, active = self.state, self.active_rows
        if self.reduced is not None:
            return self.reduced
        target = -CONTACT_DAMPING * state["contact_rate"][active] - state["contact_bias"][active]
        return state["contact_rows"][active], target

    def reduce_contacts(self) -> bool:
        """Keep independent combinations of contact rows, where rows depend on each other.

        Points of one chain, such as four contacts of one foot, have dependent rows, which are
        consistent unless they turn. Inconsistent ones stay as they are.

        Returns:
            Whether rows were left out.
        """
        rows, target = self.contact_motion()
        if not len(rows):
            return False
        left, values, right = np.linalg.svd(rows)
        rank = int((values > MIN_CONTACT_SINGULAR_RATIO * values[0]).sum())
        moved = left.T @ target
        if rank == len(rows) or np.abs(moved[rank:]).max() > MAX_CONTACT_RESIDUAL:
            return False
        object.__setattr__(self, "reduced", (right[:rank], moved[:rank] / values[:rank]))
        return True

    def constraints(
        self, relaxed: bool, torque_limits: bool = True
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
        """Rows over (a, f), their bounds, and the name of what each belongs to."""
        state, controller = self.state, self.controller
        nv, count = controller.model.nv, int(self.edges.sum())
        force = state["force_map"][:, self.edges]
        most = controller.max_torque
        limited = np.flatnonzero(np.isfinite(most) if torque_limits else most == 0)
        torque = np.hstack([state["mass"][limited], -force[limited]])
        bound, bias = most[limited], state["bias"][limited]
        names = [
            "the equations of motion of the root"
            if controller.max_torque[k] == 0
            else f"the torque limit of {controller.model.coordinate_names[k]}"
            for k in limited
        ]
        blocks, low, high = [torque], [-bound - bias], [bound - bias]
        if not relaxed:
            contact, target = self.contact_motion()
            blocks.append(np.hstack([contact, np.zeros((len(contact), count))]))
            low.append(target)
            high.append(target)
            names += ["contacts"] * len(contact)
        if len(state["limit_rows"]):
            rows, dt = state["limit_rows"], controller.period
            now = rows @ self.v
            blocks.append(np.hstack([rows, np.zeros((len(rows), count))]))
            low.append((state["limit_lower"] / dt - now) / dt)
            high.append((state["limit_upper"] / dt - now) / dt)
            names += ["a limit of distances"] * len(rows)
        assert blocks[0].shape[1] == nv + count
        return np.vstack(blocks), np.concatenate(low), np.concatenate(high), names

    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of (a, f)."""
        dt = self.controller.period
        low = (self.state["box_lower"] / dt - self.v) / dt
        high = (self.state["box_upper"] / dt - self.v) / dt
        return np.r_[low, np.zeros(len(self.bounds))], np.r_[high, self.bounds]

    def solve(self, relaxed: bool, torque_limits: bool = True) -> DenseSolution:
        """The solution by daqp."""
        nv, count = self.controller.model.nv, len(self.bounds)
        rows, low, high, _ = self.constraints(relaxed, torque_limits)
        size = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        size[size == 0] = 1.0
        rows, low, high = rows / size[:, None], low / size, high / size
        solver = dense_solver(nv + count, len(rows))
        hessian, linear, _ = self.costs(relaxed)
        solver.hessian[:] = 0.0
        solver.hessian[:nv, :nv] = hessian
        force = np.arange(nv, nv + count)
        solver.hessian[force, force] = (
            1e-4 * RELAXED_REGULARIZATION if relaxed else FORCE_REGULARIZATION
        )
        solver.linear[:nv], solver.linear[nv:] = linear, 0.0
        solver.rows[:] = rows
        solver.row_lower[:], solver.row_upper[:] = low, high
        solver.lower[:], solver.upper[:] = self.box()
        return solver.solve()

    def solve_for_torques(self) -> DenseSolution | None:
        """Torques with contacts as costs and without limits of coordinates.

        Torques and forces are the variables, so that their limits are bounds, which never
        contradict each other: ``a = M^-1 (S tau + F f - h)``.

        Returns:
            Accelerations and forces; None where torque limits are not what makes the program
            infeasible.
        """
        state, most = self.state, self.controller.max_torque
        driven = np.flatnonzero(most > 0)
        bound = most[driven]
        if not np.isfinite(bound).any():
            return None
        unlimited = self.solve(relaxed=True, torque_limits=False)
        if not unlimited.solved and conflicting_owners(
            self.quadratic_program(relaxed=True, torque_limits=False), "the limits of coordinates"
        ):
            return None
        mass = state["mass"]
        selection = np.eye(len(mass))[:, driven]
        effect = np.linalg.solve(mass, np.hstack([selection, state["force_map"][:, self.edges]]))
        free = np.linalg.solve(mass, -state["bias"])
        hessian, linear, _ = self.costs(relaxed=True)
        count = effect.shape[1]
        # Torques by their bounds, so that variables have the same size.
        size = np.r_[np.where(np.isfinite(bound), bound, 1.0), np.ones(count - len(driven))]
        effect = effect * size
        solver = dense_solver(count, 0)
        solver.hessian[:] = effect.T @ hessian @ effect
        solver.hessian.flat[:: count + 1] += (
            RELATIVE_TORQUE_REGULARIZATION * solver.hessian.diagonal().max()
        )
        solver.linear[:] = effect.T @ (hessian @ free + linear)
        ratio = np.where(np.isfinite(bound), 1.0, np.inf)
        solver.lower[:] = np.r_[-ratio, np.zeros(count - len(driven))]
        solver.upper[:] = np.r_[ratio, self.bounds]
        found = solver.solve()
        if not found.solved:
            return None
        forces = found.x[len(driven) :]
        x = np.r_[free + effect @ found.x, forces]
        return DenseSolution(x, np.zeros(0), np.zeros(len(x)), True)

    def solution(self, found: DenseSolution, status: WholeBodyStatus) -> WholeBodySolution:
        """Torques and forces of a solution."""
        controller, state = self.controller, self.state
        nv = controller.model.nv
        a, strength = found.x[:nv], np.maximum(found.x[nv:], 0.0)
        tau = state["mass"] @ a + state["bias"] - state["force_map"][:, self.edges] @ strength
        tau[controller.max_torque == 0] = 0.0
        forces, names, place = [], [], 0
        for contact, on in zip(controller.contacts, self.on, strict=True):
            if not on:
                continue
            edges = contact.edges
            for point in contact.points:
                forces.append(strength[place : place + len(edges)] @ edges)
                names.append(point)
                place += len(edges)
        return WholeBodySolution(status, tau, a, np.array(forces).reshape(-1, 3), tuple(names))

    def quadratic_program(self, relaxed: bool, torque_limits: bool = True) -> QuadraticProgram:
        """The hard constraints with their names, to find what contradicts."""
        nv, count = self.controller.model.nv, len(self.bounds)
        rows, low, high, names = self.constraints(relaxed, torque_limits)
        lower, upper = self.box()
        size = nv + count
        columns = tuple(tuple(range(size)) for _ in rows)
        pattern = ProgramPattern(size, columns, (RowKind.INEQUALITY,) * len(rows))
        return QuadraticProgram(
            np.ones(size),
            np.zeros(size),
            rows,
            np.zeros(len(rows)),
            lower,
            upper,
            low,
            high,
            pattern,
            row_owners=tuple(names),
        )
