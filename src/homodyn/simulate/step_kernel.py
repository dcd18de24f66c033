"""One step of a simulation as a kernel: from a state to the next, with the recorded quantities.

Inputs: ``q``, ``v``, ``z`` (memory of the contact law, states of actuations), ``t`` (s), ``work``
(J: actuators, contacts, joints), ``status`` (0 while running, else the state is kept), ``dt`` (s),
``torque`` (N m, N, external), ``batch`` (batch parameters), for a model with parameters
``parameters``, and with sampled targets of rows ``targets``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from homodyn.dynamics import kinetic_energy, potential_energy
from homodyn.dynamics.constraints import row_names
from homodyn.errors import ModelError
from homodyn.simulate.event_actions import apply_events
from homodyn.simulate.motion_system import WORK_SIZE, MotionState
from homodyn.simulate.result import SimulationStatus
from homodyn.simulate.rows.joint_rows import spring_energy
from homodyn.simulate.setup import SimulationSetup
from homodyn.simulate.signals import SignalInput, StepSample
from homodyn.simulate.state_update import StateUpdate, StepInput, advance
from homodyn.spatial import Array
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

MAX_STATE_SIZE = 1e6
"""Sum of |q| and |v| (SI units) beyond which a simulation has failed."""

STATES = ("q", "v", "z", "t", "work", "memory", "status")
"""Inputs that a step updates."""


def step_kernel(setup: SimulationSetup, record: Sequence[str] = ()) -> Kernel:
    """The kernel of a step; ``record`` names further outputs, at the state at its start."""
    model, sizes = setup.model, setup.sizes()
    count = setup.gap_count

    def body(*symbols: ca.SX) -> dict[str, Array]:
        given = dict(zip(sizes, symbols, strict=True))
        numbers = {name: given["batch"][k] for k, name in enumerate(setup.batch_names)}
        x = MotionState(given["q"], given["v"], given["z"], given["work"])
        t, h, memory = given["t"], given["dt"], given["memory"]
        start = SignalInput(model, t, h, x.q, x.v, numbers)
        batch = setup.step_memory.values(start, memory)
        sampled = given.get("targets", ca.SX(0, 1))
        end = advance(setup, x, h, StepInput(t, given["torque"], batch, sampled))
        size = ca.sum1(ca.fabs(end.x.q)) + ca.sum1(ca.fabs(end.x.v))
        step = StepSample(
            model, t, h, x.q, x.v, batch, end.x.q, end.x.v, end.torque, end.gaps, end.forces,
            end.constraint_force, _row_names(setup),
        )  # fmt: skip
        carried = setup.step_memory
        outcome = apply_events(
            setup.end_events, carried, step, end.x, carried.next(step, memory), setup.energy
        )
        end = replace(end, x=outcome.x)
        running = given["status"] == 0
        solved = ca.logic_and(size < MAX_STATE_SIZE, end.failed == 0)
        valid = ca.logic_and(running, solved)
        failure = ca.if_else(end.failed == 0, 0.0, float(SimulationStatus.NOT_CONVERGED.value))
        not_finite = float(SimulationStatus.NOT_FINITE.value)
        failure = ca.if_else(size < MAX_STATE_SIZE, failure, not_finite)
        ending = ca.if_else(outcome.ended, float(SimulationStatus.ENDED.value), 0.0)
        status = ca.if_else(failure > 0, failure, ending)
        after = {
            "q": ca.if_else(valid, end.x.q, x.q),
            "v": ca.if_else(valid, end.x.v, x.v),
            "z": ca.if_else(valid, end.x.z, x.z) if setup.memory else x.z,
            "t": ca.if_else(valid, t + h, t),
            "work": ca.if_else(valid, end.x.w, x.w),
            "memory": ca.if_else(valid, outcome.memory, memory) if memory.numel() else memory,
            "status": ca.if_else(running, status, given["status"]),
        }
        now = {"q": x.q, "v": x.v, "t": t, "work": x.w, "status": given["status"]}
        signals = [batch[name] for name in setup.step_memory.signals]
        now["signals"] = ca.vertcat(ca.SX(0, 1), *signals)
        quantities = {
            name: now[name] if name in now else _recorded_quantity(name, setup, x, end)
            for name in record
        }
        return {**after, **{f"{name}_now": value for name, value in quantities.items()}}

    shapes: dict[str, tuple[int, ...]] = {
        "q": (model.nq,),
        "v": (model.nv,),
        "t": (),
        "work": (WORK_SIZE,),
        "signals": (sum(setup.step_memory.signal_sizes.values()),),
        "actuator_states": (len(setup.actuator_states),),
        "status": (),
        "forces": (count, 3),
        "distances": (count,),
        "torques": (model.nv,),
        "kinetic": (),
        "potential": (),
        "residual": (),
        "constraint_forces": (
            (len(setup.constraints.rows) if setup.constraints else 0) + len(setup.row_names),
        ),
    }
    unknown = [name for name in record if name not in shapes]
    if unknown:
        raise ModelError(f"cannot record {', '.join(unknown)}; accepted: {', '.join(shapes)}")
    outputs = {name: sizes[name] for name in STATES}
    outputs.update({f"{name}_now": shapes[name] for name in record})
    known = {"parameters": model.parameter_symbols} if model.parameters else {}
    return Kernel(trace(body, sizes, outputs, f"step of {model.name}", given=known), mapping=True)


def _row_names(setup: SimulationSetup) -> tuple[str, ...]:
    """Names of the entries of the constraint forces: constraints, then rows of the user."""
    known = row_names(setup.constraints) if setup.constraints else ()
    return (*known, *setup.row_names)


def _recorded_quantity(
    name: str, setup: SimulationSetup, x: MotionState, end: StateUpdate
) -> Array:
    """A recorded quantity besides the state itself."""
    if name == "forces":
        return ca.horzcat(ca.SX(3, 0), *end.forces).T
    if name == "distances":
        return ca.vertcat(ca.SX(0, 1), *[gap.distance for gap in end.gaps])
    if name == "torques":
        return end.torque
    if name == "actuator_states":
        return x.z[setup.law_memory :]
    if name == "kinetic":
        return kinetic_energy(setup.model, x.q, x.v)
    if name == "potential":
        return potential_energy(setup.model, x.q) + spring_energy(setup.model, x.q)
    return end.constraint_force if name == "constraint_forces" else end.residual
