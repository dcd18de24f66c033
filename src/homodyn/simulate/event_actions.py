"""Events inside the kernel of a step: they end a simulation, or change its state.

An event that crosses zero within a step acts at the end of that step. Actions are traced: they are
functions over symbols, with the signature of the actions of a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from homodyn.dynamics import kinetic_energy, potential_energy
from homodyn.errors import KernelError, ModelError
from homodyn.model import Model
from homodyn.simulate.events import StateEvent
from homodyn.simulate.motion_system import WORK_NAMES, WORK_SIZE, MotionState
from homodyn.simulate.rows.joint_rows import spring_energy
from homodyn.simulate.signals import SignalInput, StepSample
from homodyn.simulate.step_memory import StepMemory
from homodyn.spatial import Array
from homodyn.symbolic.branch_errors import explain_branches


@dataclass(frozen=True, eq=False)
class StepOutcome:
    """The end of a step after its events."""

    x: MotionState
    memory: Array
    ended: Array
    """Whether an event ended the simulation."""


def changed_names(
    event: StateEvent, model: Model, batch_names: Sequence[str], signals: StepMemory
) -> tuple[str, ...]:
    """What the action of an event changes within a kernel: q, v and batch parameters.

    Raises:
        ModelError: The action is a log, cannot be traced, or changes something else.
    """
    if event.action == "end":
        return ()
    if not callable(event.action):
        raise ModelError(
            f"event {event.name!r} has the action {event.action!r}; in a rollout an event ends the "
            "simulation or changes its state. Count occurrences by a measure such as Count"
        )
    at = signals.symbols()
    names = tuple(_changes(event, at))
    for name in names:
        if name not in ("q", "v", *batch_names):
            raise ModelError(
                f"the action of event {event.name!r} changes {name!r}; it may change q, v and "
                f"batch parameters ({', '.join(batch_names) or 'there are none'})"
            )
    return names


def _changes(event: StateEvent, at: SignalInput) -> dict[str, Array]:
    """What the action of an event returns, over symbols.

    Raises:
        ModelError: The action cannot be traced, or a size does not fit.
    """
    action: Callable[..., Any] = event.action  # type: ignore[assignment]
    what = f"the action of event {event.name!r}"
    try:
        with explain_branches(what):
            given = action(at.t, at.q, at.v, dict(at.batch)) or {}
        changes = {name: ca.densify(ca.SX(value)) for name, value in given.items()}
    except (KernelError, ModelError):
        raise
    except Exception as error:
        raise ModelError(
            f"{what} cannot be traced: in a rollout it is called once with symbols and returns "
            f"expressions of them, such as ca.vertcat(v[:2], -v[2]); {error}"
        ) from error
    for name, value in changes.items():
        if any(entry.is_constant() and math.isnan(float(entry)) for entry in value.elements()):
            raise ModelError(
                f"{what} cannot be traced: {name} is not a number, as where a symbol is converted "
                "by float(); calculate with the symbols"
            )
        size = {"q": at.model.nq, "v": at.model.nv}.get(name, 1)
        if value.shape != (size, 1):
            raise ModelError(f"{what} returned {name} of shape {value.shape}; ({size},) is needed")
    return changes


def apply_events(
    events: Sequence[StateEvent],
    memory_layout: StepMemory,
    step: StepSample,
    after: MotionState,
    memory: Array,
    energy: bool,
) -> StepOutcome:
    """The end of a step with its events, in their order.

    ``after`` and ``memory`` are those at the end of the step; with ``energy``, the energy that
    actions add is part of the work.
    """
    model, ended = step.model, ca.SX(0.0)
    before = MotionState(step.q, step.v, after.z, after.w)
    x = after
    for event in events:
        crossing = event.crossing_condition(model, step.t, before, after, step.h, step.batch)
        if event.action == "end":
            ended = ca.logic_or(ended, crossing)
            continue
        batch = {**step.batch, **memory_layout.variable_values(memory)}
        at = SignalInput(model, step.t + step.h, step.h, x.q, x.v, batch)
        changes = _changes(event, at)
        chosen = {
            name: ca.if_else(crossing, value, getattr(x, name) if name in "qv" else batch[name])
            for name, value in changes.items()
        }
        q, v = chosen.pop("q", x.q), chosen.pop("v", x.v)
        memory = memory_layout.with_variables(memory, chosen)
        if energy:
            x = x._replace(w=x.w + _added_energy(model, x, q, v))
        x = x._replace(q=q, v=v)
    return StepOutcome(x, memory, ended)


def _added_energy(model: Model, x: MotionState, q: Array, v: Array) -> Array:
    """Energy that a change of the state adds, as work."""

    def energies(q: Array, v: Array) -> tuple[Array, Array]:
        springs = spring_energy(model, q)
        return kinetic_energy(model, q, v) + potential_energy(model, q) + springs, springs

    (total, springs), (new_total, new_springs) = energies(x.q, x.v), energies(q, v)
    work = ca.SX.zeros(WORK_SIZE)
    work[WORK_NAMES.index("events")] = new_total - total
    work[WORK_NAMES.index("event springs")] = new_springs - springs
    return work
