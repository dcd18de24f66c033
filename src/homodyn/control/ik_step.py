"""One step of inverse kinematics with checked arguments: its programs, solved level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.ik_program import IkProgram, Member, ik_program, prepare_limit, prepare_task
from homodyn.control.inputs import pack_inputs
from homodyn.control.limits.limit import Limit
from homodyn.control.programs.conflicts import conflicting_owners
from homodyn.control.programs.dense_solver import solve_by_daqp
from homodyn.control.programs.quadratic_program import ProgramPattern, QuadraticProgram
from homodyn.control.tasks.task import Task
from homodyn.errors import ModelError, NoSolution
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of, enumerate_names
from homodyn.model import Model

MAX_COMPILED_ROWS = 72
"""Rows above which programs are solved by daqp: compilation takes long."""


class IkStatus(StrEnum):
    """How a step of inverse kinematics ended."""

    SOLVED = "solved"
    """All states have the velocity with the least cost within the limits."""
    NOT_CONVERGED = "not converged"
    """Some states have none; their velocity is zero."""

    @property
    def success(self) -> bool:
        """Whether all states are solved."""
        return self is IkStatus.SOLVED


class InfeasibleProgram(NoSolution):
    """Limits and tasks that cannot hold together.

    Attributes:
        conflict: Their names.
        state: Index of the first state of the batch with a conflict.
    """

    def __init__(self, conflict: tuple[str, ...], state: int, count: int) -> None:
        where = f" in state {state} of {count}" if count > 1 else ""
        super().__init__(
            f"{enumerate_names(conflict)} cannot hold together{where}: relax one of them, or "
            "make a strict task a cost of the same level"
        )
        self.conflict = conflict
        self.state = state


@record
class IkResult(Record):
    """Velocities of a step."""

    v: np.ndarray
    """(..., nv), rad/s, m/s."""
    share: np.ndarray
    """(...): by which the velocity of least cost was multiplied; 1 where limits hold at its end."""
    status: IkStatus
    solved: np.ndarray
    """(...): True where the velocity is the optimum."""
    active: np.ndarray
    """(..., nv): -1 or 1 where the velocity is at its lower or upper bound, else 0."""
    iterations: np.ndarray
    """(...)."""
    names: tuple[str, ...]
    """Names of the coordinates."""

    @property
    def at_limit(self) -> tuple[str, ...]:
        """Coordinates whose bound is active, in any state."""
        active = (self.active != 0).reshape(-1, len(self.names)).any(axis=0)
        return tuple(self.names[k] for k in np.flatnonzero(active))

    def headline(self) -> str:
        """Number of states and status."""
        return f"IkResult of {count_of(int(np.size(self.solved)), 'state')}: {self.status}"


@dataclass(frozen=True, eq=False)
class IkStep:
    """A call with checked arguments."""

    model: Model
    q: np.ndarray
    tasks: Sequence[Task]
    limits: Sequence[Limit]
    members: tuple[Member, ...]
    limit_members: tuple[Member, ...]
    inputs: np.ndarray
    dt: float
    levels: tuple[int, ...]

    @staticmethod
    def of(
        model: Model,
        q: ArrayLike,
        tasks: Sequence[Task],
        dt: float,
        limits: Sequence[Limit],
        damping: float | np.ndarray,
    ) -> IkStep:
        """Check the arguments and pack the numbers."""
        if model.parameters:
            model = model.at(model.parameter_values)
        if not tasks:
            raise ModelError("inverse kinematics needs at least one task, such as PostureTask()")
        if not (dt > 0 and np.all(np.asarray(damping) > 0)):
            raise ModelError(f"dt and damping are numbers above 0, got {dt!r} and {damping!r}")
        q = np.asarray(q, dtype=float)
        if q.shape[-1:] != (model.nq,):
            raise ModelError(
                f"q of model {model.name!r} has {model.nq} entries, got shape {q.shape}"
            )
        members, limit_members = [], []
        parts = [np.array([dt]), np.asarray(damping, dtype=float)[..., None]]
        for task in tasks:
            member, numbers = prepare_task(task, model)
            members.append(member)
            parts.append(numbers)
        for limit in limits:
            member, numbers = prepare_limit(limit, model, q)
            limit_members.append(member)
            parts.append(numbers)
        levels = tuple(sorted({member.level for member in members}))
        return IkStep(
            model,
            q,
            tasks,
            limits,
            tuple(members),
            tuple(limit_members),
            pack_inputs(parts),
            float(dt),
            levels,
        )

    @staticmethod
    def compact(program: IkProgram) -> bool:
        """Whether a program is small enough for the compiled solver."""
        return program.pattern.rows <= MAX_COMPILED_ROWS

    def program(self, level: int) -> IkProgram:
        """The program of a level."""
        tasks = tuple(zip(self.tasks, self.members, strict=True))
        limits = tuple(zip(self.limits, self.limit_members, strict=True))
        return ik_program(self.model, tasks, limits, level)

    def build(
        self, level: int, previous: np.ndarray, states: np.ndarray | None = None
    ) -> QuadraticProgram:
        """The program of a level with its numbers, of all states or of some (flattened)."""
        program = self.program(level)
        q, inputs = self.q, self.inputs
        if states is not None:
            q, inputs, previous = (
                _take_states(array, self._batch(), states) for array in (q, inputs, previous)
            )
        values = program.building_kernel(q, inputs, previous)
        return _quadratic_program(program, values, self._owner_names(program))

    def _owner_names(self, program: IkProgram) -> tuple[str, ...]:
        names = {}
        for owner in set(program.row_owners):
            kind, index = owner.split()
            members = self.tasks if kind == "task" else self.limits
            names[owner] = members[int(index)].title
        return tuple(names[owner] for owner in program.row_owners)

    def _batch(self) -> tuple[int, ...]:
        return np.broadcast_shapes(self.q.shape[:-1], self.inputs.shape[:-1])

    def solve(self, *, raise_conflicts: bool = True) -> IkResult:
        """All levels, one after the other.

        Args:
            raise_conflicts: Whether limits that cannot hold together, such as those of a capsule
                inside two obstacles, are an error; otherwise they are relaxed to what the state
                satisfies.
        """
        x = np.zeros(self.model.nv)
        for level in self.levels:
            program = self.program(level)
            if self.compact(program):
                x, _, active, count, violations = program.solving_kernel(self.q, self.inputs, x)
                solved = violations == 0
            else:
                batch = self._batch()
                x = np.broadcast_to(x, (*batch, self.model.nv)).copy()
                active, count = np.zeros(x.shape), np.zeros(batch)
                solved = np.zeros(batch, dtype=bool)
            if not solved.all():
                x, active, solved = self._solve_rest(level, x, active, solved, raise_conflicts)
        names = self.model.coordinate_names
        status = IkStatus.SOLVED if solved.all() else IkStatus.NOT_CONVERGED
        return IkResult(x / self.dt, np.ones(solved.shape), status, solved, active, count, names)

    def _solve_rest(
        self,
        level: int,
        x: np.ndarray,
        active: np.ndarray,
        solved: np.ndarray,
        raise_conflicts: bool,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Solve by daqp what the compiled solver has not solved."""
        if not (np.isfinite(self.q).all() and np.isfinite(self.inputs[..., :2]).all()):
            raise ModelError("q contains numbers that are not finite")
        batch, nv = self._batch(), self.model.nv
        x, active = np.array(x).reshape(-1, nv), np.array(active).reshape(-1, nv)
        done = np.array(solved).reshape(-1)
        rest = np.flatnonzero(~done)
        # The lower levels are satisfied by what they found; the others start from zero.
        previous = np.where(np.isfinite(x), x, 0.0).reshape(*batch, nv)
        if len(self.levels) > 1 and level != self.levels[0]:
            previous = self._lower_levels(level).reshape(*batch, nv)
        program = self.build(level, previous, rest)
        for k, solution in enumerate(solve_by_daqp(program)):
            state = rest[k]
            if not (raise_conflicts or solution.solved):
                solution = solve_by_daqp(_relax_rows(_take_program(program, k)))[0]
            if solution.solved:
                x[state], done[state] = solution.x, True
                scale = 1e-9 * np.abs(solution.bound_multipliers).max(initial=1e-300)
                active[state] = np.sign(solution.bound_multipliers) * (
                    np.abs(solution.bound_multipliers) > scale
                )
                continue
            x[state], active[state] = 0.0, 0.0
            if not raise_conflicts:
                continue
            conflict = conflicting_owners(_take_program(program, k), "the bounds of coordinates")
            if conflict:
                raise InfeasibleProgram(conflict, int(state), len(done))
        return x.reshape(*batch, nv), active.reshape(*batch, nv), done.reshape(batch)

    def _lower_levels(self, level: int) -> np.ndarray:
        """The displacement that the levels below one found."""
        kept = [task for task in self.tasks if task.level < level]
        damping = float(self.inputs[..., 1].flat[0])
        below = IkStep.of(self.model, self.q, kept, self.dt, self.limits, damping).solve()
        return np.asarray(below.v * self.dt)


def _take_states(array: np.ndarray, batch: tuple[int, ...], states: np.ndarray) -> np.ndarray:
    """Rows of an array for some states of the flattened batch."""
    size = array.shape[-1]
    return np.broadcast_to(array, (*batch, size)).reshape(-1, size)[states]


def _take_program(program: QuadraticProgram, k: int) -> QuadraticProgram:
    """One state of a program with one batch axis."""
    parts = {
        name: getattr(program, name)[k]
        for name in (
            *("curvature", "gradient", "rows", "target"),
            *("lower", "upper", "row_lower", "row_upper"),
        )
    }
    return QuadraticProgram(
        **parts,
        pattern=program.pattern,
        variable_names=program.variable_names,
        row_owners=program.row_owners,
    )


def _relax_rows(program: QuadraticProgram) -> QuadraticProgram:
    """The program with rows of limits that no displacement satisfies too."""
    lower, upper = np.minimum(program.row_lower, 0.0), np.maximum(program.row_upper, 0.0)
    return replace(program, row_lower=lower, row_upper=upper)


def _quadratic_program(
    program: IkProgram, values: Sequence[np.ndarray], owners: tuple[str, ...]
) -> QuadraticProgram:
    curvature, gradient, lower, upper, entries, target, row_lower, row_upper = values
    pattern: ProgramPattern = program.pattern
    rows = np.zeros((*entries.shape[:-1], pattern.rows, pattern.variables))
    places, columns = pattern.entries
    rows[..., places, columns] = entries
    return QuadraticProgram(
        curvature=curvature,
        gradient=gradient,
        rows=rows,
        target=target,
        lower=lower,
        upper=upper,
        row_lower=row_lower,
        row_upper=row_upper,
        pattern=pattern,
        variable_names=program.model.coordinate_names,
        row_owners=owners,
    )
