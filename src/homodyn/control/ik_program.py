"""The quadratic program of a step of inverse kinematics, over symbols and as compiled kernels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.control.inputs import Layout, input_layout, pack_inputs, unpack_symbols
from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.limits.limit import Limit, LimitRows, intersect_boxes
from homodyn.control.programs.block_pivoting import ProgramSymbols, solve_symbolically
from homodyn.control.programs.quadratic_program import ProgramPattern, RowKind
from homodyn.control.tasks.task import Task
from homodyn.model import Model
from homodyn.model.model_cache import ModelCache
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

STEP_LAYOUT: Layout = (("dt", 1), ("damping", 1))
"""Numbers in front of those of tasks and limits."""
TASK_HEADER: Layout = (("gain", 1), ("damping", 1))
"""Numbers in front of those of each task."""

PREPARED_INPUTS = "_prepared inputs"
"""Attribute of tasks and limits in which their packed inputs are kept."""


@dataclass(frozen=True)
class Member:
    """What a compiled program depends on of a task or a limit."""

    kind: type
    structure: Hashable
    layout: Layout
    level: int = 0


@dataclass(frozen=True, eq=False)
class _Prepared:
    model: Model
    member: Member
    numbers: np.ndarray


def prepare_task(task: Task, model: Model) -> tuple[Member, np.ndarray]:
    """Structure and packed numbers of a task, which are computed once.

    Args:
        task: The task.
        model: The model.

    Raises:
        ModelError: The task does not fit the model.
    """
    kept: _Prepared | None = task.__dict__.get(PREPARED_INPUTS)
    if kept is None or kept.model is not model:
        inputs = task.inputs(model)
        header = [np.array([task.gain], dtype=float), np.array([task.damping], dtype=float)]
        numbers = pack_inputs([*header, *inputs.values()])
        layout = TASK_HEADER + input_layout(inputs)
        member = Member(type(task), task.structure(model), layout, task.level)
        kept = _Prepared(model, member, numbers)
        task.__dict__[PREPARED_INPUTS] = kept
    return kept.member, kept.numbers


def prepare_limit(limit: Limit, model: Model, q: np.ndarray) -> tuple[Member, np.ndarray]:
    """Structure and packed numbers of a limit at a state.

    Args:
        limit: The limit.
        model: The model.
        q: Positions, (..., nq).

    Raises:
        ModelError: The limit does not fit the model.
    """
    kept: _Prepared | None = limit.__dict__.get(PREPARED_INPUTS)
    if kept is None or kept.model is not model:
        inputs = limit.inputs(model, q)
        numbers = pack_inputs(list(inputs.values()))
        member = Member(type(limit), limit.structure(model), input_layout(inputs))
        kept = _Prepared(model, member, numbers)
        if not limit.depends_on_state:
            limit.__dict__[PREPARED_INPUTS] = kept
    return kept.member, kept.numbers


IK_PROGRAMS: ModelCache[IkProgram] = ModelCache("programs of inverse kinematics")
"""Programs by members and level."""


def ik_program(
    model: Model,
    tasks: Sequence[tuple[Task, Member]],
    limits: Sequence[tuple[Limit, Member]],
    level: int,
) -> IkProgram:
    """The program of one level, from the cache of the model.

    Args:
        model: The model.
        tasks: Tasks with their structure.
        limits: Limits with theirs.
        level: Tasks of this level are costs, those of lower levels equalities.
    """
    key = (tuple(m for _, m in tasks), tuple(m for _, m in limits), level)
    return IK_PROGRAMS.get(
        model,
        key,
        lambda: IkProgram(model, tuple(tasks), tuple(limits), level),
    )


@dataclass(frozen=True, eq=False)
class IkProgram:
    """One level of a step of inverse kinematics: how its numbers follow from state and inputs."""

    model: Model
    tasks: tuple[tuple[Task, Member], ...]
    limits: tuple[tuple[Limit, Member], ...]
    level: int

    @property
    def size(self) -> int:
        """Number of packed inputs."""
        layouts = [STEP_LAYOUT, *[m.layout for _, m in (*self.tasks, *self.limits)]]
        return sum(size for layout in layouts for _, size in layout)

    @cached_property
    def symbols(self) -> _Assembly:
        """The program over symbols, traced once for its pattern."""
        q, numbers = ca.SX.sym("q", self.model.nq), ca.SX.sym("inputs", self.size)
        return self.assemble(q, numbers, ca.SX.sym("previous", self.model.nv))

    @cached_property
    def pattern(self) -> ProgramPattern:
        """Sizes, columns and kinds of rows."""
        return self.symbols.pattern

    @cached_property
    def row_owners(self) -> tuple[str, ...]:
        """Kind of task or limit of each row, with its index among all."""
        return self.symbols.owners

    def assemble(self, q: Any, numbers: Any, previous: Any) -> _Assembly:
        """The program at a state.

        Args:
            q: (nq,).
            numbers: Packed inputs, (size,).
            previous: (nv,): displacement that the lower levels found.
        """
        model = self.model
        point = KinematicPoint(model, q, None)
        header, place = unpack_symbols(numbers, 0, STEP_LAYOUT)
        dt = header["dt"]
        assembly = _Assembly(model.nv, header["damping"])
        for index, (task, member) in enumerate(self.tasks):
            inputs, place = unpack_symbols(numbers, place, member.layout)
            if member.level > self.level:
                continue
            rows = task.rows(point, inputs)
            J = ca.SX(rows.jacobian)
            wanted = (dt if rows.rate else inputs["gain"]) * rows.error
            owner = f"task {index}"
            if member.level < self.level:
                J = ca.diag(rows.cost) @ J
                assembly.add_equalities(J, J @ previous, owner)
            else:
                assembly.add_costs(J, wanted, rows.cost, owner)
                weighted = ca.SX(rows.cost * rows.error)
                assembly.damp(inputs["damping"] * ca.sumsqr(weighted))
        boxes = []
        order = sorted(range(len(self.limits)), key=lambda k: self.limits[k][0].precedence)
        found: dict[int, LimitRows] = {}
        for index, (limit, member) in enumerate(self.limits):
            inputs, place = unpack_symbols(numbers, place, member.layout)
            found[index] = limit.rows(point, inputs, dt)
        for index in order:
            rows_of_limit = found[index]
            if rows_of_limit.box_lower is not None:
                boxes.append((rows_of_limit.box_lower, rows_of_limit.box_upper))
        assembly.lower, assembly.upper = intersect_boxes(boxes, model.nv)
        for index in range(len(self.limits)):
            rows_of_limit = found[index]
            if rows_of_limit.jacobian is not None:
                assembly.add_inequalities(
                    ca.SX(rows_of_limit.jacobian),
                    rows_of_limit.lower,
                    rows_of_limit.upper,
                    f"limit {index}",
                )
        return assembly

    @cached_property
    def building_kernel(self) -> Kernel:
        """State, inputs and previous displacement to the numbers of the program."""
        sizes = self._input_sizes
        names = tuple(ProgramSymbols.__dataclass_fields__)

        def build(q: ca.SX, inputs: ca.SX, previous: ca.SX) -> tuple[ca.SX, ...]:
            program = self.assemble(q, inputs, previous).program
            return tuple(ca.densify(ca.SX(getattr(program, name))) for name in names)

        program = self.symbols.program
        outputs: dict[str, int | tuple[int, ...]] = {
            name: (ca.SX(getattr(program, name)).numel(),) for name in names
        }
        return Kernel(trace(build, sizes, outputs, f"inverse kinematics of {self.model.name}"))

    @cached_property
    def solving_kernel(self) -> Kernel:
        """State, inputs and previous displacement to the solution, in one compiled function."""
        n, m = self.pattern.variables, self.pattern.rows
        outputs: dict[str, int | tuple[int, ...]] = {
            "x": n,
            "multipliers": m,
            "active": n,
            "iterations": (),
            "violations": (),
        }

        def solve(q: ca.SX, inputs: ca.SX, previous: ca.SX) -> tuple[ca.SX, ...]:
            assembly = self.assemble(q, inputs, previous)
            found = solve_symbolically(assembly.pattern, assembly.program)
            return found.x, found.multipliers, found.active, found.iterations, found.violations

        name = f"steps of inverse kinematics of {self.model.name}"
        return Kernel(trace(solve, self._input_sizes, outputs, name))

    @cached_property
    def error_kernel(self) -> Kernel:
        """State and inputs to the errors of all tasks, without and with their costs."""

        def evaluate(q: ca.SX, inputs: ca.SX, previous: ca.SX) -> tuple[ca.SX, ca.SX]:
            point = KinematicPoint(self.model, q, None)
            _, place = unpack_symbols(inputs, 0, STEP_LAYOUT)
            errors, costs = [ca.SX(0, 1)], [ca.SX(0, 1)]
            for task, member in self.tasks:
                numbers, place = unpack_symbols(inputs, place, member.layout)
                rows = task.rows(point, numbers)
                errors.append(ca.SX(rows.error))
                costs.append(ca.SX(rows.cost))
            error, cost = ca.vertcat(*errors), ca.vertcat(*costs)
            return ca.densify(error), ca.densify(cost * error)

        return Kernel(trace(evaluate, self._input_sizes, None, f"errors of {self.model.name}"))

    @cached_property
    def task_sizes(self) -> tuple[int, ...]:
        """Number of rows of each task, those without entries included."""
        q, numbers = ca.SX.sym("q", self.model.nq), ca.SX.sym("inputs", self.size)
        point = KinematicPoint(self.model, q, None)
        _, place = unpack_symbols(numbers, 0, STEP_LAYOUT)
        sizes = []
        for task, member in self.tasks:
            inputs, place = unpack_symbols(numbers, place, member.layout)
            sizes.append(ca.SX(task.rows(point, inputs).error).numel())
        return tuple(sizes)

    @property
    def _input_sizes(self) -> dict[str, int | tuple[int, ...]]:
        return {"q": self.model.nq, "inputs": self.size, "previous": self.model.nv}


class _Assembly:
    """Rows of a program as they are collected. Rows with one entry become part of the diagonal."""

    def __init__(self, variables: int, damping: Any) -> None:
        self.variables = variables
        self.curvature = ca.SX.ones(variables) * damping
        self.gradient = ca.SX.zeros(variables)
        self.lower: Any = None
        self.upper: Any = None
        self._rows: list[tuple[RowKind, list[tuple[int, Any]], Any, Any, Any, str]] = []

    def damp(self, amount: Any) -> None:
        """Add to the cost of all variables."""
        self.curvature = self.curvature + amount

    def add_costs(self, jacobian: Any, wanted: Any, cost: Any, owner: str) -> None:
        """Rows ``cost (J x - wanted)``."""
        for k, entries in enumerate(_row_entries(jacobian)):
            if len(entries) == 1:
                i, factor = entries[0]
                scaled = cost[k] ** 2 * factor
                self.curvature[i] = self.curvature[i] + scaled * factor
                self.gradient[i] = self.gradient[i] + scaled * wanted[k]
            elif entries:
                scaled_entries = [(i, cost[k] * factor) for i, factor in entries]
                self._add(RowKind.COST, scaled_entries, cost[k] * wanted[k], owner=owner)

    def add_equalities(self, jacobian: Any, wanted: Any, owner: str) -> None:
        """Rows ``J x = wanted``."""
        for k, entries in enumerate(_row_entries(jacobian)):
            if entries:
                self._add(RowKind.EQUALITY, entries, wanted[k], owner=owner)

    def add_inequalities(self, jacobian: Any, lower: Any, upper: Any, owner: str) -> None:
        """Rows ``lower <= J x <= upper``."""
        for k, entries in enumerate(_row_entries(jacobian)):
            if entries:
                self._add(RowKind.INEQUALITY, entries, 0.0, lower[k], upper[k], owner)

    def _add(
        self,
        kind: RowKind,
        entries: list[tuple[int, Any]],
        target: Any,
        lower: Any = 0.0,
        upper: Any = 0.0,
        owner: str = "",
    ) -> None:
        self._rows.append((kind, entries, target, lower, upper, owner))

    @property
    def owners(self) -> tuple[str, ...]:
        """Owner of each row."""
        return tuple(row[5] for row in self._rows)

    @property
    def pattern(self) -> ProgramPattern:
        """Sizes, columns and kinds of rows."""
        columns = tuple(tuple(i for i, _ in row[1]) for row in self._rows)
        return ProgramPattern(self.variables, columns, tuple(row[0] for row in self._rows))

    @property
    def program(self) -> ProgramSymbols:
        """The numbers as symbols."""

        def column(parts: list[Any]) -> Any:
            return ca.vertcat(ca.SX(0, 1), *parts)

        return ProgramSymbols(
            self.curvature,
            self.gradient,
            self.lower,
            self.upper,
            column([factor for row in self._rows for _, factor in row[1]]),
            column([row[2] for row in self._rows]),
            column([row[3] for row in self._rows]),
            column([row[4] for row in self._rows]),
        )


def _row_entries(jacobian: Any) -> list[list[tuple[int, Any]]]:
    """Column and expression of the entries of each row that may differ from zero."""
    matrix = ca.sparsify(ca.SX(jacobian))
    rows: list[list[tuple[int, Any]]] = [[] for _ in range(matrix.shape[0])]
    places, columns = matrix.sparsity().get_triplet()
    for row, column in zip(places, columns, strict=True):
        rows[row].append((column, matrix[row, column]))
    return [sorted(row, key=lambda entry: entry[0]) for row in rows]
