"""The setup and the first inputs of step kernels that run for whole batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from homodyn.dynamics.constraints import Constraint
from homodyn.errors import ModelError
from homodyn.foundation import unknown_name
from homodyn.model import Model
from homodyn.simulate.actuation import ActuationArgument, actuation_parts
from homodyn.simulate.geometry import scene_geometry
from homodyn.simulate.initial_state import normalize_quaternions
from homodyn.simulate.laws import ContactLaw, EventDrivenLaw
from homodyn.simulate.motion_system import WORK_SIZE
from homodyn.simulate.options import SimulationOptions
from homodyn.simulate.result import SimulationStatus
from homodyn.simulate.setup import SimulationSetup
from homodyn.simulate.step_memory import named_signals


def kernel_setup(
    model: Model,
    law: ContactLaw | None,
    actuation: ActuationArgument,
    options: SimulationOptions,
    energy: bool,
    constraints: Constraint | None,
) -> SimulationSetup:
    """The setup of a simulation whose steps all run inside kernels.

    Raises:
        ModelError: The contact law, the integrator, a controller or an event cannot be part of a
            kernel.
    """
    if isinstance(law, EventDrivenLaw):
        raise ModelError(
            f"contact law {law.name!r} advances from event to event, at different times in "
            "each simulation, while a rollout has common steps; use 'time_stepping' for rigid "
            "contacts in a rollout, or single runs with this law"
        )
    setup = SimulationSetup(
        model,
        scene_geometry(model, options.scene),
        law,
        actuation_parts(actuation),
        options.integrator,
        options.joint_limits,
        options.torque_limits,
        tuple(options.batch_parameters or {}),
        energy,
        tuple(options.events),
        constraints,
        signals=named_signals(options.signals),
        measures=dict(options.measures or {}),
        external_forces=tuple(options.external_forces),
        rows=tuple(options.rows),
    )
    if setup.solves_steps:
        raise ModelError(f"rollouts need steps of fixed length, not {options.integrator_name}")
    if setup.controllers:
        raise ModelError(
            "a Python controller cannot be called inside a rollout; use a function of "
            "(t, q, v, batch) over symbols, which becomes part of its kernel"
        )
    return setup


def initial_inputs(
    setup: SimulationSetup,
    options: SimulationOptions,
    q0: ArrayLike,
    v0: ArrayLike | None,
    parameters: ArrayLike | Mapping[str, ArrayLike] | None,
    batch_parameters: Mapping[str, ArrayLike] | None,
) -> dict[str, Any]:
    """Inputs of the first step, without its length and the sampled torques.

    Raises:
        ModelError: Shapes, names or parameters do not fit.
    """
    model = setup.model
    parameters = options.parameters if parameters is None else parameters
    batch = dict((options.batch_parameters if batch_parameters is None else batch_parameters) or {})
    if set(batch) != set(setup.batch_names):
        raise ModelError(
            f"the batch parameters are {', '.join(setup.batch_names) or 'none'}; got values "
            f"for {', '.join(batch) or 'none'}"
        )
    inputs: dict[str, Any] = {
        "q": _batch_states(q0, model.nq, "q0", model),
        "v": np.zeros(model.nv) if v0 is None else _batch_states(v0, model.nv, "v0", model),
        "t": 0.0,
        "work": np.zeros(WORK_SIZE),
        "status": 0.0,
        "batch": _stack_parameters(batch, setup.batch_names),
    }
    if model.parameters:
        inputs["parameters"] = _model_parameters(model, parameters)
    elif parameters is not None:
        raise ModelError(f"model {model.name!r} has no parameters; leave parameters out")
    inputs["z"] = setup.initial_memory(inputs["q"], inputs["v"], inputs.get("parameters"))
    invalid = _invalid_elements(inputs)
    if invalid is not None:
        failed = float(SimulationStatus.NOT_FINITE.value)
        inputs["status"] = np.where(invalid, failed, 0.0)
    inputs["memory"] = setup.step_memory.initial(
        inputs["q"], inputs["v"], inputs["batch"], inputs.get("parameters")
    )
    return inputs


def _batch_states(given: ArrayLike, size: int, name: str, model: Model) -> np.ndarray:
    array = np.asarray(given, dtype=float)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise ModelError(
            f"{name} of model {model.name!r} needs (batch, {size}) numbers, got shape {array.shape}"
        )
    return normalize_quaternions(model, array) if name == "q0" else array


def _invalid_elements(inputs: Mapping[str, Any]) -> np.ndarray | None:
    """Which batch elements have inputs that are not finite; None where all inputs are finite."""
    invalid = [
        ~np.isfinite(np.asarray(array)).reshape(np.shape(array)) for array in inputs.values()
    ]
    marks = [np.any(mark, axis=-1) if mark.ndim else mark for mark in invalid]
    return np.any(np.broadcast_arrays(*marks), axis=0) if any(map(np.any, marks)) else None


def _stack_parameters(values: Mapping[str, ArrayLike], names: Sequence[str]) -> np.ndarray:
    """Values by name, one or one per batch element each, as columns."""
    if not names:
        return np.zeros(0)
    columns = np.broadcast_arrays(*[np.asarray(values[name], dtype=float) for name in names])
    return np.stack(columns, axis=-1)


def _model_parameters(
    model: Model, parameters: ArrayLike | Mapping[str, ArrayLike] | None
) -> np.ndarray:
    if not isinstance(parameters, Mapping):
        return np.asarray(model.parameter_values if parameters is None else parameters, float)
    for name in parameters:
        if name not in model.parameter_names:
            message = unknown_name("parameter", name, model.parameter_names)
            raise ModelError(f"model {model.name!r} has {message}")
    defaults = dict(zip(model.parameter_names, model.parameter_values, strict=True))
    return _stack_parameters({**defaults, **parameters}, model.parameter_names)
