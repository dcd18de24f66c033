"""Single simulations from an initial state, with all quantities recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import ModelError
from homodyn.foundation import unknown_name
from homodyn.foundation.arguments import require_type
from homodyn.model import Model
from homodyn.model.state_function import parameter_array
from homodyn.simulate.actuation import ActuationArgument, actuation_parts
from homodyn.simulate.adaptive_steppers import DormandPrinceStepper, ImplicitMidpointStepper
from homodyn.simulate.diagnostics import step_failure_message
from homodyn.simulate.geometry import (
    MeshQueries,
    bind_meshes,
    mesh_obstacles,
    scene_geometry,
)
from homodyn.simulate.initial_state import (
    check_state,
    initial_point,
    penetration_notes,
    sampled_torques_on_grid,
    step_length,
    time_grid,
)
from homodyn.simulate.laws import ContactLaw, EventDrivenLaw, ImplicitSprings, SoftContact
from homodyn.simulate.options import (
    SimulationKeywords,
    SimulationOptions,
    batch_values,
    resolve_options,
)
from homodyn.simulate.recorder import build_result
from homodyn.simulate.result import SimulationResult, SimulationStatus
from homodyn.simulate.rigid import EventDrivenContact, TimeStepping
from homodyn.simulate.rows.loop_rows import anchor_at_pose
from homodyn.simulate.setup import SimulationSetup
from homodyn.simulate.simulation_point import SimulationPoint
from homodyn.simulate.step_kernel import STATES, step_kernel
from homodyn.simulate.step_memory import named_signals
from homodyn.simulate.stepper import Stepper, SteppingLoop
from homodyn.symbolic import Kernel, Scan
from homodyn.symbolic.kernel import (
    COMPILE_SECONDS_PER_INSTRUCTION,
    INTERPRETED_SECONDS_PER_INSTRUCTION,
)

CONTACT_LAWS: dict[
    str,
    type[SoftContact] | type[ImplicitSprings] | type[TimeStepping] | type[EventDrivenContact],
] = {
    "soft": SoftContact,
    "implicit": ImplicitSprings,
    "time_stepping": TimeStepping,
    "event_driven": EventDrivenContact,
}
"""Contact laws by the names that select them with default constants."""

EVALUATED_QUANTITIES = (
    "forces",
    "distances",
    "torques",
    "kinetic",
    "potential",
    "residual",
    "constraint_forces",
    "signals",
    "actuator_states",
)
"""Recorded quantities that follow from the state."""
RECORDED_QUANTITIES = ("q", "v", "t", "work", "status", *EVALUATED_QUANTITIES)


def run(
    model: Model,
    q0: ArrayLike,
    v0: ArrayLike | None = None,
    duration: float = 1.0,
    dt: float = 1e-3,
    *,
    contact: ContactLaw | str | None = "implicit",
    actuation: ActuationArgument = None,
    options: SimulationOptions | None = None,
    **changes: Unpack[SimulationKeywords],
) -> SimulationResult:
    """Simulate a model from an initial state.

    Args:
        model: The model.
        q0: Positions at the start, (nq,).
        v0: Velocities at the start, (nv,); None for rest.
        duration: Time to simulate (s).
        dt: Step (s); the maximum for ``"dormand_prince"`` and event-driven laws.
        contact: A contact law, its name in `CONTACT_LAWS`, or None (``"none"``) for no contact.
        actuation: Actuation of the joints: torques (nv,), `PD`, `SampledTorques`, a `Controller`, a
            function ``f(t, q, v, batch)`` over symbols, your own `Actuation`, or a tuple of these.
        options: Scene, events, constraints, limits, integrator, parameters and recording; the
            defaults when left out.
        changes: Fields of `SimulationOptions` to change, such as ``scene=scene``.

    Returns:
        The recorded movement with forces, energy balance, events and status.

    Raises:
        ModelError: State, times, parameters, scene or names do not fit the model, or the contact
            law cannot be combined with the integrator.
        TypeError: An argument is unknown; the message says where it belongs.
        HomodynError: ``model`` has another type.
    """
    require_type("model", model, Model)
    options = resolve_options("run", options, changes)
    law = resolve_contact_law(contact)
    if isinstance(law, EventDrivenLaw):
        if options.integrator != "semi_implicit_euler":
            raise ModelError(
                f"contact law {law.name!r} has its own steps and tolerance; leave the integrator "
                f"out, got {options.integrator_name!r}"
            )
        if options.rows:
            raise ModelError(
                f"rows need steps of fixed length; contact law {law.name!r} advances from event to "
                "event"
            )
        return law.simulate(model, q0, v0, duration, dt, actuation, options)
    batch = batch_values(options)
    contact_geometry = scene_geometry(model, options.scene)
    queries = None
    if law is not None and mesh_obstacles(contact_geometry):
        queries = MeshQueries(contact_geometry)
        planes = queries.values(check_state(model, q0, "q0"))
        batch = {**batch, **dict(zip(queries.names, map(float, planes), strict=True))}
    setup = SimulationSetup(
        model,
        contact_geometry,
        law,
        actuation_parts(actuation),
        options.integrator,
        options.joint_limits,
        options.torque_limits,
        tuple(batch),
        signals=named_signals(options.signals),
        measures=dict(options.measures or {}),
        external_forces=tuple(options.external_forces),
        constraints=anchor_at_pose(model, check_state(model, q0, "q0"), options.constraints),
        rows=tuple(options.rows),
    )
    inputs: dict[str, np.ndarray] = {}
    if model.parameters:
        numbers: Any = options.parameters
        inputs["parameters"] = np.asarray(parameter_array(model, numbers), dtype=float)
    elif options.parameters is not None:
        raise ModelError(f"model {model.name!r} has no parameters; leave parameters out")
    start = initial_point(setup, q0, v0, batch, inputs.get("parameters"))
    grid, every = time_grid(duration, dt, options.record_interval)
    notes: tuple[str, ...] = ()
    if law is not None:
        geometry = bind_meshes(setup.geometry, batch)
        if inputs:
            geometry = replace(geometry, model=model.at(inputs["parameters"]))
        notes = penetration_notes(geometry, start.q)
    if queries is not None and setup.solves_steps:
        raise ModelError(
            f"contact with meshes needs steps of fixed length, not {setup.integrator_name}"
        )
    in_python = options.events or setup.controllers or setup.solves_steps or queries is not None
    if not in_python:
        h = step_length(grid, dt)
        return _run_kernel(setup, start, grid, every, inputs, notes, options.compiled, h)
    return _run_steps(setup, start, grid, every, inputs, options, dt, notes, queries)


def resolve_contact_law(contact: ContactLaw | str | None) -> ContactLaw | None:
    """A contact law from its name, or the law itself."""
    if isinstance(contact, str):
        if contact == "none":
            return None
        if contact not in CONTACT_LAWS:
            raise ModelError(unknown_name("contact law", contact, (*CONTACT_LAWS, "none")))
        return CONTACT_LAWS[contact]()
    if contact is not None and not isinstance(contact, ContactLaw):
        raise ModelError(
            "a contact law derives from ForceLaw, StepLaw or EventDrivenLaw, or is one of the "
            f"names {', '.join((*CONTACT_LAWS, 'none'))}; got {contact!r}"
        )
    return contact


def _run_kernel(
    setup: SimulationSetup,
    start: SimulationPoint,
    grid: np.ndarray,
    every: int,
    parameters: dict[str, np.ndarray],
    notes: tuple[str, ...],
    compiled: bool | None,
    h: float,
) -> SimulationResult:
    """All steps in one call; one more step gives the forces at the last time."""
    names = RECORDED_QUANTITIES
    kernel = step_kernel(setup, names)
    steps = len(grid) - 1
    inputs: dict[str, Any] = {
        "q": start.q, "v": start.v, "z": start.z, "t": 0.0, "work": start.work, "status": 0.0,
        "memory": start.memory, "dt": h, "batch": start.batch, **parameters,
    }  # fmt: skip
    sampled = {}
    torque = sampled_torques_on_grid(setup, grid)
    if torque is None:
        inputs["torque"] = np.zeros(setup.model.nv)
    else:
        sampled["torque"] = torque
    if setup.target_size:
        sampled["targets"] = setup.sample_targets(grid)
    scan = Scan(kernel, STATES, stop="status")
    # Records are at multiples of ``every``, and at the last time if it is one of them.
    spacing = every if steps % every == 0 else 1
    scan_result = scan(
        steps + 1,
        inputs,
        sampled=sampled,
        record=[f"{n}_now" for n in names],
        every=spacing,
        native=steps * INTERPRETED_SECONDS_PER_INSTRUCTION > COMPILE_SECONDS_PER_INSTRUCTION
        if compiled is None
        else compiled,
        peek_last_step=True,
    )
    recorded = {name: scan_result.records[f"{name}_now"][0] for name in names}
    # Sums of steps deviate from the times of the grid by rounding.
    recorded["t"] = grid[::spacing]
    if spacing != every:
        chosen = sorted({*range(0, steps + 1, every), steps})
        recorded = {name: array[chosen] for name, array in recorded.items()}
    status = SimulationStatus(int(scan_result.states["status"][0]))
    message = f"ran to {float(grid[-1]):.6g} s"
    if status is not SimulationStatus.FINISHED:
        running = recorded["status"] == 0
        last = max(1, int(np.count_nonzero(running)))
        recorded = {name: array[:last] for name, array in recorded.items()}
        t = float(scan_result.states["t"][0])
        reached = {name: scan_result.states[name][0] for name in ("q", "v", "z")}
        end = replace(start, t=t, **reached)
        if torque is not None:
            end = replace(end, torque=torque[min(round(t / h), steps)])
        message = step_failure_message(setup, status, end, h, parameters.get("parameters"))
    recorded["event_energy"] = np.zeros(len(recorded["t"]))
    numbers = parameters.get("parameters")
    measures = _measures(setup, scan_result.states["memory"])
    return build_result(setup, recorded, (), status, message, steps, notes, numbers, measures)


def _measures(setup: SimulationSetup, memory: np.ndarray) -> dict[str, np.ndarray]:
    """Values of the measures of one simulation from its memory (1, size)."""
    results = setup.step_memory.results(memory)
    return {name: values[0] for name, values in results.items()}


def targets_at(setup: SimulationSetup, times: np.ndarray, h: float) -> dict[str, np.ndarray]:
    """Sampled targets of steps of ``h`` (s) from single times; nothing without any."""
    if not setup.target_size:
        return {}
    rows = [setup.sample_targets(np.array([t, t + h]))[..., 0, :] for t in times]
    return {"targets": rows[0] if len(rows) == 1 else np.array(rows)}


class FixedStepper:
    """Steps of fixed length by the step kernel."""

    def __init__(self, setup: SimulationSetup, parameters: Mapping[str, np.ndarray]) -> None:
        self._kernel: Kernel = step_kernel(setup)
        self._parameters = dict(parameters)
        self._setup = setup
        self._zero = np.asarray(0.0)

    def __call__(self, point: SimulationPoint, h: float) -> SimulationPoint:
        """The point ``h`` later."""
        result = self._kernel(
            q=point.q,
            v=point.v,
            z=point.z,
            t=np.asarray(point.t),
            work=point.work,
            status=self._zero,
            dt=np.asarray(h),
            torque=point.torque,
            batch=point.batch,
            memory=point.memory,
            **targets_at(self._setup, np.array([point.t]), h),
            **self._parameters,
        )
        return replace(
            point,
            t=point.t + h,
            q=result["q"],
            v=result["v"],
            z=result["z"],
            work=result["work"],
            memory=result["memory"],
            status=int(result["status"]),
        )


class MeshStepper:
    """Steps of another stepper, with the planes of meshes at the start of each."""

    def __init__(self, stepper: Stepper, queries: MeshQueries) -> None:
        self._stepper, self._queries = stepper, queries
        self._q = np.zeros(0)

    def __call__(self, point: SimulationPoint, h: float) -> SimulationPoint:
        """The point ``h`` later, with its planes."""
        if not np.array_equal(point.q, self._q):
            point = self._with_planes(point)
        return self._with_planes(self._stepper(point, h))

    def _with_planes(self, point: SimulationPoint) -> SimulationPoint:
        if not np.all(np.isfinite(point.q)):
            return point
        self._q = point.q
        planes = self._queries.values(point.q)
        return replace(point, batch=np.concatenate([point.batch[: -len(planes)], planes]))


def _run_steps(
    setup: SimulationSetup,
    start: SimulationPoint,
    grid: np.ndarray,
    every: int,
    parameters: dict[str, np.ndarray],
    options: SimulationOptions,
    dt: float,
    notes: tuple[str, ...],
    queries: MeshQueries | None,
) -> SimulationResult:
    """Steps in Python, then one evaluation of all recorded states for the forces there."""
    stepper: Stepper
    evaluated = setup
    if setup.solves_steps:
        evaluated = replace(setup, integrator="explicit_euler")
        if setup.integrator == "dormand_prince":
            stepper = DormandPrinceStepper(setup, parameters, options.tolerance, dt)
        else:
            stepper = ImplicitMidpointStepper(setup, parameters)
    else:
        stepper = FixedStepper(setup, parameters)
    if queries is not None:
        stepper = MeshStepper(stepper, queries)
    loop = SteppingLoop(setup, stepper, options.events, parameters, setup.solves_steps)
    loop.run(grid, start, every)
    points = loop.points
    kernel = step_kernel(evaluated, EVALUATED_QUANTITIES)
    h = float(grid[1] - grid[0])
    values = kernel(
        q=np.array([p.q for p in points]),
        v=np.array([p.v for p in points]),
        z=np.array([p.z for p in points]),
        t=np.array([p.t for p in points]),
        work=np.array([p.work for p in points]),
        status=0.0,
        dt=h,
        torque=np.array([p.torque for p in points]),
        batch=np.array([p.batch for p in points]),
        memory=np.array([p.memory for p in points]),
        **targets_at(setup, np.array([p.t for p in points]), h),
        **parameters,
    )
    recorded = {name.removesuffix("_now"): array for name, array in values.items()}
    recorded.update(
        {
            name: np.array([getattr(p, name) for p in points])
            for name in ("q", "v", "t", "work", "event_energy", "event_spring_energy")
        }
    )
    return build_result(
        setup,
        recorded,
        tuple(loop.occurrences),
        loop.status,
        loop.message,
        loop.steps,
        notes,
        parameters.get("parameters"),
        _measures(setup, loop.last.memory[None]),
    )
