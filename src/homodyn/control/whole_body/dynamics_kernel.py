"""Everything that the program of whole-body control needs of a state, in one compiled kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.control.ik_program import Member
from homodyn.control.inputs import unpack_symbols
from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.limits.limit import Limit, intersect_boxes
from homodyn.control.tasks.task import Task
from homodyn.control.whole_body.body_contact import BodyContact
from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.kinematics import body_jacobians
from homodyn.dynamics.rnea import newton_euler, passive_force
from homodyn.model import Model
from homodyn.model.configuration import rates
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

KERNEL_OUTPUTS = (
    *("mass", "bias"),
    *("task_rows", "task_bias", "task_error", "task_rate", "task_cost"),
    *("contact_rows", "contact_bias", "contact_rate"),
    *("force_map", "box_lower", "box_upper", "limit_rows", "limit_lower", "limit_upper"),
)


@dataclass(frozen=True, eq=False)
class DynamicsKernel:
    """The kernel of a model with its tasks, contacts and limits."""

    model: Model
    tasks: tuple[tuple[Task, Member], ...]
    contacts: tuple[BodyContact, ...]
    limits: tuple[tuple[Limit, Member], ...]

    @cached_property
    def rate_rows(self) -> np.ndarray:
        """(rows,): True for the rows of tasks about rates."""
        flags: list[bool] = []
        point = KinematicPoint(self.model, ca.SX.sym("q", self.model.nq), None)
        for task, member in self.tasks:
            size = sum(length for _, length in member.layout)
            inputs, _ = unpack_symbols(ca.SX.sym("x", size), 0, member.layout)
            rows = task.rows(point, inputs)
            flags += [rows.rate] * ca.SX(rows.error).numel()
        return np.array(flags, dtype=bool)

    @cached_property
    def task_sizes(self) -> tuple[int, ...]:
        """Number of rows of each task."""
        point = KinematicPoint(self.model, ca.SX.sym("q", self.model.nq), None)
        sizes = []
        for task, member in self.tasks:
            size = sum(length for _, length in member.layout)
            inputs, _ = unpack_symbols(ca.SX.sym("x", size), 0, member.layout)
            sizes.append(ca.SX(task.rows(point, inputs).error).numel())
        return tuple(sizes)

    @cached_property
    def contact_sizes(self) -> tuple[int, ...]:
        """Number of motion rows of each contact."""
        return tuple(len(contact.motion_rows(self.model)) for contact in self.contacts)

    @cached_property
    def kernel(self) -> Kernel:
        """State and inputs to the outputs of `KERNEL_OUTPUTS`."""
        members = [member for _, member in (*self.tasks, *self.limits)]
        size = 1 + sum(length for member in members for _, length in member.layout)
        sizes: dict[str, int | tuple[int, ...]] = {
            "q": self.model.nq,
            "v": self.model.nv,
            "inputs": size,
        }
        name = f"whole-body control of {self.model.name}"
        return Kernel(trace(self._evaluate, sizes, None, name), mapping=True)

    def _evaluate(self, q: ca.SX, v: ca.SX, inputs: ca.SX) -> dict[str, ca.SX]:
        model = self.model
        positions, speeds = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
        point = KinematicPoint(model, positions, speeds)
        dt, place = inputs[0], 1
        empty = ca.SX(0, model.nv)
        jacobians, errors, costs = [empty], [ca.SX(0, 1)], [ca.SX(0, 1)]
        for task, member in self.tasks:
            numbers, place = unpack_symbols(inputs, place, member.layout)
            rows = task.rows(point, numbers)
            jacobians.append(ca.SX(rows.jacobian))
            errors.append(ca.SX(rows.error))
            costs.append(ca.SX(rows.cost))
        tasks = ca.vertcat(*jacobians)
        contacts, forces = self._contact_rows(point)
        motion = ca.SX(rates(model, positions, speeds))
        values: dict[str, ca.SX] = {
            "mass": composite_inertia(point.tree),
            "bias": newton_euler(point.tree, None) - ca.SX(passive_force(model, positions, speeds)),
            "task_rows": tasks,
            "task_bias": ca.jtimes(tasks @ speeds, positions, motion),
            "task_error": ca.vertcat(*errors),
            "task_rate": tasks @ speeds,
            "task_cost": ca.vertcat(*costs),
            "contact_rows": contacts,
            "contact_bias": ca.jtimes(contacts @ speeds, positions, motion),
            "contact_rate": contacts @ speeds,
            "force_map": forces,
            **self._limit_rows(point, inputs, place, dt),
        }
        values = {name: ca.densify(ca.SX(values[name])) for name in KERNEL_OUTPUTS}
        graph = ca.Function("state", [positions, speeds, inputs], list(values.values()))
        found = graph.call([q, v, inputs], True, False)
        # Matrices with one row or none would become vectors or vanish: outputs are flat columns.
        return {
            name: ca.vertcat(ca.reshape(ca.SX(value).T, -1, 1), 0.0)
            for name, value in zip(values, found, strict=True)
        }

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the outputs, which the kernel returns as flat arrays with a zero behind."""
        nv, rows, held = self.model.nv, sum(self.task_sizes), sum(self.contact_sizes)
        edges = sum(len(contact.edges) * len(contact.points) for contact in self.contacts)
        vectors = dict.fromkeys(("task_bias", "task_error", "task_rate", "task_cost"), (rows,))
        return {
            "mass": (nv, nv),
            "bias": (nv,),
            "task_rows": (rows, nv),
            **vectors,
            "contact_rows": (held, nv),
            "contact_bias": (held,),
            "contact_rate": (held,),
            "force_map": (nv, edges),
            "box_lower": (nv,),
            "box_upper": (nv,),
            "limit_rows": (-1, nv),
            "limit_lower": (-1,),
            "limit_upper": (-1,),
        }

    def evaluate(
        self, q: np.ndarray, v: np.ndarray, inputs: Sequence[np.ndarray]
    ) -> dict[str, np.ndarray]:
        """The outputs at a state.

        Args:
            q: (nq,).
            v: (nv,).
            inputs: Time step, then the packed numbers of tasks and limits.

        Returns:
            Arrays by name.
        """
        flat = self.kernel(q, v, np.concatenate(inputs))
        return {
            name: np.atleast_1d(flat[name])[:-1].reshape(shape)
            for name, shape in self._shapes.items()
        }

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return self.shapes()

    def _contact_rows(self, point: KinematicPoint) -> tuple[ca.SX, ca.SX]:
        """Rows of the motion of bodies in contact, and the map from pyramid edges to torques."""
        model = point.model
        held, forces = [ca.SX(0, model.nv)], [ca.SX(model.nv, 0)]
        for contact in self.contacts:
            body, _ = model.locate(contact.body)
            local = contact.local_points(model)
            angular, linear = body_jacobians(point.tree, body, np.zeros(3))
            turn = point.tree.placements[body].E
            motion = ca.vertcat(turn @ angular, turn @ linear)
            held.append(ca.SX(contact.motion_rows(model)) @ motion)
            edges = ca.SX(contact.edges.T)
            for r in local:
                forces.append(body_jacobians(point.tree, body, r)[1].T @ edges)
        return ca.vertcat(*held), ca.horzcat(*forces)

    def _limit_rows(
        self, point: KinematicPoint, inputs: ca.SX, place: int, dt: ca.SX
    ) -> dict[str, ca.SX]:
        """Bounds of the displacement of the next step, over symbols."""
        model = self.model
        boxes, rows, low, high = [], [ca.SX(0, model.nv)], [ca.SX(0, 1)], [ca.SX(0, 1)]
        found = []
        for limit, member in self.limits:
            numbers, place = unpack_symbols(inputs, place, member.layout)
            found.append((limit.precedence, limit.rows(point, numbers, dt)))
        for _, part in sorted(found, key=lambda pair: pair[0]):
            if part.box_lower is not None:
                boxes.append((part.box_lower, part.box_upper))
            if part.jacobian is not None:
                rows.append(ca.SX(part.jacobian))
                low.append(ca.SX(part.lower))
                high.append(ca.SX(part.upper))
        lower, upper = intersect_boxes(boxes, model.nv)
        return {
            "box_lower": lower,
            "box_upper": upper,
            "limit_rows": ca.vertcat(*rows),
            "limit_lower": ca.vertcat(*low),
            "limit_upper": ca.vertcat(*high),
        }
