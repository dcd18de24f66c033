"""Builds the result of a run from its records, with the energy balance."""

from __future__ import annotations

import numpy as np

from homodyn.dynamics.constraints import row_names
from homodyn.model import Model
from homodyn.simulate.diagnostics import energy_creation, limit_notes, residual_notes
from homodyn.simulate.ground_clearance import sunk_body_notes
from homodyn.simulate.motion_system import WORK_NAMES
from homodyn.simulate.result import (
    EnergyBalance,
    EventOccurrence,
    SimulationResult,
    SimulationStatus,
)
from homodyn.simulate.rows.joint_rows import spring_energies
from homodyn.simulate.setup import SimulationSetup


def build_result(
    setup: SimulationSetup,
    recorded: dict[str, np.ndarray],
    events: tuple[EventOccurrence, ...],
    status: SimulationStatus,
    message: str,
    steps: int,
    notes: tuple[str, ...],
    parameters: np.ndarray | None = None,
    measures: dict[str, np.ndarray] | None = None,
) -> SimulationResult:
    """The result of a run from its records, for values of the parameters of the model."""
    recorded = _finite_prefix(recorded)
    complete = status in (SimulationStatus.FINISHED, SimulationStatus.ENDED)
    unstable = energy_creation(setup, recorded, steps) if complete else None
    if unstable is not None:
        last, message = unstable
        status = SimulationStatus.UNSTABLE
        recorded = {name: array[: last + 1] for name, array in recorded.items()}
        events = tuple(event for event in events if event.time <= recorded["t"][-1])
    residuals = recorded.get("residual", np.zeros(len(recorded["t"])))
    notes = (
        *notes,
        *sunk_body_notes(setup, recorded, parameters),
        *limit_notes(setup, recorded),
        *residual_notes(setup, {**recorded, "residual": residuals}),
    )
    return SimulationResult(
        setup.model,
        recorded["t"],
        recorded["q"],
        recorded["v"],
        recorded["torques"],
        recorded["forces"],
        setup.geometry.names if setup.law is not None else (),
        recorded["distances"],
        energy_balance(setup.model, recorded, parameters),
        events,
        status,
        message,
        steps,
        float(np.max(residuals, initial=0.0)),
        residuals,
        notes,
        setup.geometry,
        recorded["constraint_forces"],
        (*(() if setup.constraints is None else row_names(setup.constraints)), *setup.row_names),
        measures or {},
        setup.step_memory.split_signals(recorded.get("signals")),
        {
            name: np.asarray(recorded["actuator_states"][:, k])
            for k, name in enumerate(setup.actuator_states)
        },
    )


def _finite_prefix(recorded: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The records before the first sample that is not finite.

    That is where a run failed: forces of a step that cannot be taken are unknown. A run that failed
    in its first step keeps its initial state, with zero forces. The memory of a measure may be
    infinite: a maximum is, before its window.
    """
    rows = len(recorded["t"])
    known = [array for name, array in recorded.items() if name != "memory"]
    finite = np.all([np.isfinite(a.reshape(rows, -1)).all(axis=1) for a in known], axis=0)
    if finite.all():
        return recorded
    last = int(np.argmin(finite))
    if last == 0:
        return {
            name: np.nan_to_num(array[:1], nan=0.0, posinf=0.0, neginf=0.0)
            for name, array in recorded.items()
        }
    return {name: array[:last] for name, array in recorded.items()}


def energy_balance(
    model: Model, recorded: dict[str, np.ndarray], parameters: np.ndarray | None = None
) -> EnergyBalance:
    """Energy balance of recorded states; time is the last axis, batch elements may come first."""
    kinetic, potential, work = recorded["kinetic"], recorded["potential"], recorded["work"]
    actuators, contacts, joints = work[..., 0], work[..., 1], work[..., 2]
    springs = spring_energies(model, recorded["q"], parameters)
    springs = springs - recorded.get("event_spring_energy", 0.0)
    springs = springs - work[..., WORK_NAMES.index("event springs")]
    dissipated = -(joints + springs - springs[..., :1])
    change = kinetic + potential - (kinetic + potential)[..., :1]
    external = work[..., WORK_NAMES.index("external")]
    added = recorded["event_energy"] + work[..., WORK_NAMES.index("events")]
    error = change - actuators - contacts + dissipated - added - external
    return EnergyBalance(
        kinetic, potential, actuators, contacts, dissipated, added, error, external
    )
