"""Fibers of muscles over a simulated movement."""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.muscle.fiber_history import FiberHistory, hill_law
from homodyn.muscle.forces import is_rigid, model_of
from homodyn.muscle.models.muscle_model import FiberState
from homodyn.muscle.paths import lengthening_speeds, lengths
from homodyn.simulate.actuation import ActuationInput
from homodyn.simulate.muscle_actuation import MuscleActuation, MuscleUnit, has_activation
from homodyn.simulate.muscle_excitations import traced_excitations
from homodyn.simulate.result import SimulationResult
from homodyn.spatial import Array


def fiber_history_of(
    result: SimulationResult,
    actuation: MuscleActuation,
    batch_parameters: dict[str, float] | None = None,
) -> FiberHistory:
    """States and forces of the fibers of all muscles in a simulation.

    Args:
        result: What `homodyn.simulate.run` returned.
        actuation: The actuation that drove it.
        batch_parameters: Those of the simulation, if excitations depend on them.

    Returns:
        Lengths, speeds, forces, and with them power, work and metabolic power.

    Raises:
        ModelError: The simulation had no such actuation.
    """
    model, time = result.model, result.time
    names = actuation.state_names(model)
    if not model.muscles or any(name not in result.actuator_states for name in names):
        raise ModelError("the simulation had no such muscle actuation")
    excitations = _excitations(result, actuation, batch_parameters or {})
    paths = lengths(model, result.q, actuation.wrapping)
    rates = lengthening_speeds(model, result.q, result.v, actuation.wrapping)
    columns = np.zeros((6, len(time), len(model.muscles)))
    laws = model_of(model, actuation.muscle_model)
    for k, (muscle, any_law) in enumerate(zip(model.muscles, laws, strict=True)):
        law = hill_law(muscle, any_law)
        levels = excitations[:, k]
        if has_activation(muscle):
            levels = result.actuator_states[f"{muscle.name} activation"]
        x = ca.SX.sym("x", 4)
        unit = MuscleUnit(muscle, law, x[0], x[1], x[2])
        if is_rigid(muscle, actuation.tendon):
            along = x[1] - muscle.tendon_slack_length
            fiber = FiberState.of(muscle, along, x[2])
            own = np.zeros(len(time))
        else:
            own = result.actuator_states[f"{muscle.name} fiber length"]
            speed = unit.compliant(x[3], None)[1]
            fiber = FiberState(x[3] / muscle.optimal_fiber_length, speed / unit.fastest, ca.SX(1.0))
        force = law.fiber_force(muscle, x[0], fiber)
        scale = muscle.max_isometric_force
        outputs = ca.vertcat(
            fiber.norm_length,
            fiber.norm_speed,
            scale * force.active,
            scale * (force.passive + force.damping),
            law.active_force_length(muscle, fiber.norm_length),
        )
        evaluate = ca.Function("fibers", [x], [outputs]).map(len(time))
        table = np.array([levels, paths[:, k], rates[:, k], own])
        columns[0, :, k], columns[1:, :, k] = levels, np.asarray(evaluate(table))
    muscles = tuple(muscle.name for muscle in model.muscles)
    return FiberHistory(model, time, muscles, excitations, *columns)


def _excitations(
    result: SimulationResult, actuation: MuscleActuation, batch: dict[str, float]
) -> np.ndarray:
    """(samples, muscles), from the recorded signals."""
    model, frames = result.model, len(result.time)
    tables = {name: values.reshape(frames, -1) for name, values in result.signals.items()}
    symbols: dict[str, Array] = {n: ca.SX.sym(n, v.shape[1]) for n, v in tables.items()}
    t, q, v = ca.SX.sym("t"), ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    given = {**{name: ca.SX(float(x)) for name, x in batch.items()}, **symbols}
    at = ActuationInput(model, t, q, v, given, None, [np.inf] * model.nv)
    values = ca.vertcat(*traced_excitations(actuation.excitations, at))
    evaluate = ca.Function("excitations", [t, q, v, *symbols.values()], [values]).map(frames)
    columns = [result.time[None], result.q.T, result.v.T, *(x.T for x in tables.values())]
    return np.asarray(evaluate(*columns)).T
