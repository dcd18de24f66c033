"""Steps of inverse kinematics: velocities that reduce the errors of tasks within limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.ik_step import IkResult, IkStep
from homodyn.control.limits import ConfigurationLimit, Limit, VelocityLimit
from homodyn.control.programs.quadratic_program import QuadraticProgram
from homodyn.control.tasks.task import Task
from homodyn.errors import ModelError
from homodyn.model import Model

DEFAULT_DAMPING = 1e-8
"""Cost of every velocity times dt, squared: it decides what the tasks leave free."""
MIN_STEP_SHARE = 2.0**-8
"""Share of a step below which the state stays where it is."""
DEFAULT_LIMITS: tuple[Limit, ...] = (ConfigurationLimit(), VelocityLimit())
"""Limits where none are given."""


def solve_ik(
    model: Model,
    q: ArrayLike,
    tasks: Sequence[Task],
    dt: float,
    *,
    limits: Sequence[Limit] | None = None,
    damping: float = DEFAULT_DAMPING,
) -> IkResult:
    """Velocities that reduce the errors of tasks within limits, for one state or a batch.

    The step minimizes ``sum |cost (J v dt - gain error)|^2 + damping |v dt|^2`` within the limits.
    Tasks of a higher level act in what those of lower levels leave free.

    Rows of limits are linear. Where a step would end beyond a limit by more than its
    ``max_violation``, since bodies turn or nearest points jump, it is halved until it does not.

    The first calls run on the virtual machine; the program is compiled in the background once that
    pays. `homodyn.control.compile_ik` compiles it at once.

    Args:
        model: The model; parameters have their nominal values.
        q: Positions, (..., nq).
        tasks: Tasks, whose targets may be batches too.
        dt: Length of the step, s.
        limits: Limits; None: ranges and velocities of the model.
        damping: Cost of all velocities, above zero.

    Returns:
        Velocities with status.

    Raises:
        ModelError: A task or limit does not fit the model, or an argument is invalid.
        InfeasibleProgram: Hard limits and tasks of lower levels contradict each other.
    """
    step = IkStep.of(model, q, tasks, dt, DEFAULT_LIMITS if limits is None else limits, damping)
    return _shorten(step, step.solve())


def _shorten(step: IkStep, result: IkResult) -> IkResult:
    """The result with steps that end within the limits at the new state."""
    curved = [limit for limit in step.limits if np.isfinite(limit.max_violation)]
    if not curved:
        return result
    model, batch = step.model, result.v.shape[:-1]
    q = np.broadcast_to(step.q, (*batch, model.nq)).reshape(-1, model.nq)
    moves = (result.v * step.dt).reshape(-1, model.nv)
    share = np.ones(len(q))
    for limit in curved:
        allowed = np.maximum(limit.max_violation, limit.violation(model, q))
        rest = np.arange(len(q))
        while len(rest):
            ends = np.asarray(model.integrate(q[rest], share[rest, None] * moves[rest]))
            rest = rest[limit.violation(model, ends) > allowed[rest]]
            share[rest] = np.where(share[rest] > MIN_STEP_SHARE, share[rest] / 2, 0.0)
            rest = rest[share[rest] > 0]
    scale = share.reshape(batch)
    return replace(result, v=result.v * scale[..., None], share=scale)


def build_ik(
    model: Model,
    q: ArrayLike,
    tasks: Sequence[Task],
    dt: float,
    *,
    limits: Sequence[Limit] | None = None,
    damping: float = DEFAULT_DAMPING,
) -> QuadraticProgram:
    """The quadratic program of `solve_ik`, in the displacements ``v dt``, without solving it.

    Args:
        model: The model.
        q: Positions, (..., nq).
        tasks: Tasks of one level.
        dt: Length of the step, s.
        limits: Limits; None: ranges and velocities of the model.
        damping: Cost of all velocities, above zero.

    Returns:
        The program.

    Raises:
        ModelError: A task or limit does not fit the model, an argument is invalid, or tasks have
            several levels, which are several programs.
    """
    step = IkStep.of(model, q, tasks, dt, DEFAULT_LIMITS if limits is None else limits, damping)
    if len(step.levels) > 1:
        raise ModelError(
            f"tasks have the levels {', '.join(map(str, step.levels))}, which are several "
            "programs; solve_ik solves them one after the other"
        )
    return step.build(step.levels[0], np.zeros(model.nv))


def compile_ik(
    model: Model, tasks: Sequence[Task], *, limits: Sequence[Limit] | None = None
) -> None:
    """Compile the programs of these tasks and limits now instead of in the background.

    Programs depend on the kinds and frames of tasks and limits, not on targets, costs and gains.

    Args:
        model: The model.
        tasks: Tasks.
        limits: Limits; None: ranges and velocities of the model.

    Raises:
        ModelError: A task or limit does not fit the model.
    """
    q = model.neutral()
    step = IkStep.of(model, q, tasks, 1.0, DEFAULT_LIMITS if limits is None else limits, 1.0)
    for level in step.levels:
        program = step.program(level)
        kernel = program.solving_kernel if step.compact(program) else program.building_kernel
        kernel.compile()
