"""Thousands of simulations at once: elements of one batch, each with its own numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import ModelError
from homodyn.foundation import Record, count_of, record, unknown_name
from homodyn.model import Model
from homodyn.motion import Motion, MotionSource
from homodyn.simulate.actuation import ActuationArgument, actuation_parts
from homodyn.simulate.contact_geometry import ContactGeometry
from homodyn.simulate.contact_law import ContactLaw, EventDrivenLaw
from homodyn.simulate.initial_state import (
    normalize_quaternions,
    sampled_torques_on_grid,
    time_grid,
)
from homodyn.simulate.options import (
    DEFAULT_OPTIONS,
    SimulationOptions,
    reject_unknown_arguments,
)
from homodyn.simulate.recorder import energy_balance
from homodyn.simulate.result import EnergyBalance, SimulationStatus, velocity_differences
from homodyn.simulate.run import resolve_contact_law
from homodyn.simulate.setup import SimulationSetup
from homodyn.simulate.step_kernel import STATES, step_kernel
from homodyn.symbolic import Scan

ENERGY_QUANTITIES = ("q", "work", "kinetic", "potential")
"""What the energy balance is computed from."""


@record
class RolloutResult(Record):
    """Results of all simulations of a batch; batch elements come first, then times."""

    model: Model
    time: np.ndarray
    """Times of the records (s), (samples,)."""
    q: np.ndarray
    """Last positions, (batch, nq)."""
    v: np.ndarray
    """Last velocities, (batch, nv)."""
    status: np.ndarray
    """Value of a `SimulationStatus` each, (batch,)."""
    end_time: np.ndarray
    """When each simulation stopped (s), (batch,)."""
    records: dict[str, Any]
    """Recorded quantities by name, (batch, samples, ...); energy as an `EnergyBalance`. A
    simulation that ended keeps its last state, one that failed its last finite one."""
    contact_names: tuple[str, ...]
    steps: int

    @property
    def batch_size(self) -> int:
        """Number of simulations."""
        return len(self.status)

    @property
    def nbytes(self) -> int:
        """Memory of all arrays (bytes)."""
        arrays = [self.q, self.v, self.status, self.end_time]
        for values in self.records.values():
            arrays += list(vars(values).values()) if isinstance(values, EnergyBalance) else [values]
        return sum(array.nbytes for array in arrays)

    @cached_property
    def message(self) -> str:
        """How the simulations ended, in one sentence."""
        parts = [
            f"{int(np.sum(self.status == status.value))} {status.sentence}"
            for status in SimulationStatus
            if np.any(self.status == status.value)
        ]
        return f"of {count_of(self.batch_size, 'simulation')} {', '.join(parts)}"

    def motion(self, element: int) -> Motion:
        """The movement of one batch element.

        Args:
            element: Index of the element.

        Returns:
            Its recorded movement; accelerations are differences of the velocities.

        Raises:
            ModelError: ``"q"`` and ``"v"`` were not recorded.
        """
        missing = [name for name in ("q", "v") if name not in self.records]
        if missing:
            raise ModelError(
                f"the rollout did not record {' and '.join(missing)}; name them in "
                "SimulationOptions(recorded_quantities=...)"
            )
        q, v = self.records["q"][element], self.records["v"][element]
        none = np.zeros((0, 0))
        sentence = SimulationStatus(int(self.status[element])).sentence
        return Motion(
            self.model,
            self.time,
            q,
            v,
            velocity_differences(self.time, v),
            method=f"simulation that {sentence}",
            tau=self.records["torques"][element] if "torques" in self.records else none,
            source=MotionSource.SIMULATED,
        )

    def headline(self) -> str:
        """Model, how the simulations ended, and memory."""
        return (
            f"RolloutResult of {self.model.name!r}: {self.message}, "
            f"{self.nbytes / 1e6:.1f} MB recorded"
        )


class BatchSimulator:
    """A rollout that is prepared once and run for other numbers again and again.

    Args:
        model: What moves.
        contact: A force law or step law, its name, or None for no contact.
        actuation: What drives the joints; Python controllers are not accepted.
        options: As for `rollout`; the keys of ``batch_parameters`` name those that exist, and their
            values are used where a call gives none.

    Raises:
        ModelError: The contact law, the integrator, a controller or an event cannot be part of a
            rollout.
    """

    def __init__(
        self,
        model: Model,
        *,
        contact: ContactLaw | str | None = "implicit",
        actuation: ActuationArgument = None,
        options: SimulationOptions | None = None,
        **unknown: Never,
    ) -> None:
        reject_unknown_arguments("BatchSimulator", unknown)
        self.options = options = options or DEFAULT_OPTIONS
        law = resolve_contact_law(contact)
        if isinstance(law, EventDrivenLaw):
            raise ModelError(
                f"contact law {law.name!r} goes from event to event, at other times in each "
                "simulation, while a batch takes its steps together; for rigid contacts in a "
                "rollout use 'time_stepping', for this law one run after the other"
            )
        recorded = tuple(options.recorded_quantities)
        self.setup = SimulationSetup(
            model, options.scene or ContactGeometry(model), law, actuation_parts(actuation),
            options.integrator, options.joint_limits, options.torque_limits,
            tuple(options.batch_parameters or {}), "energy" in recorded, tuple(options.events),
            options.constraints,
        )  # fmt: skip
        if self.setup.solves_steps:
            raise ModelError(f"rollouts take steps of fixed length, not {options.integrator_name}")
        if self.setup.controllers:
            raise ModelError(
                "a Python controller cannot be called inside a rollout; give a function of "
                "(t, q, v, batch) over symbols, which becomes part of its kernel"
            )
        acting = [event.name for event in options.events if event.action != "end"]
        if acting:
            raise ModelError(
                f"in a rollout events end their simulation; {', '.join(acting)} "
                f"{'asks' if len(acting) == 1 else 'ask'} for something else"
            )
        names = [name for name in recorded if name != "energy"]
        if "energy" in recorded:
            names += [name for name in ENERGY_QUANTITIES if name not in names]
        self._names = tuple(names)
        self._iteration = Scan(step_kernel(self.setup, self._names), STATES, stop="status")

    def compile(self, batch_size: int | None = None) -> BatchSimulator:
        """Build the native code now instead of at the first call.

        Args:
            batch_size: Size of the batches to come; 1 builds the code of a single simulation.

        Returns:
            This simulator.
        """
        self._iteration.compile(single=batch_size == 1)
        return self

    @property
    def instructions(self) -> int:
        """Instructions of one step on the virtual machine."""
        return self._iteration.kernel.instructions

    def __call__(
        self,
        q0: ArrayLike,
        v0: ArrayLike | None = None,
        duration: float = 1.0,
        dt: float = 1e-3,
        *,
        parameters: ArrayLike | Mapping[str, ArrayLike] | None = None,
        batch_parameters: Mapping[str, ArrayLike] | None = None,
        threads: int | None = None,
    ) -> RolloutResult:
        """Run the batch.

        Args:
            q0: Positions at the start, (batch, nq) or (nq,) for all.
            v0: Velocities at the start, (batch, nv) or (nv,) for all; None for rest.
            duration: Time to simulate (s).
            dt: Step (s).
            parameters: Values of the parameters of the model; None: those of the options.
            batch_parameters: Values of all batch parameters; None: those of the options.
            threads: Threads to use; None: those of the options.

        Returns:
            Last states, status and recorded quantities.

        Raises:
            ModelError: Shapes, parameters or the interval of records do not fit.
        """
        model, setup = self.setup.model, self.setup
        parameters = self.options.parameters if parameters is None else parameters
        threads = self.options.threads if threads is None else threads
        batch = dict(self.options.batch_parameters or {})
        if batch_parameters is not None:
            batch = dict(batch_parameters)
        if set(batch) != set(setup.batch_names):
            raise ModelError(
                f"the batch parameters are {', '.join(setup.batch_names) or 'none'}; values were "
                f"given for {', '.join(batch) or 'none'}"
            )
        grid, spacing = time_grid(duration, dt, self.options.record_interval)
        steps = len(grid) - 1
        inputs: dict[str, Any] = {
            "q": _batch_states(q0, model.nq, "q0", model),
            "v": np.zeros(model.nv) if v0 is None else _batch_states(v0, model.nv, "v0", model),
            "z": np.zeros(setup.memory),
            "t": 0.0,
            "work": np.zeros(3),
            "status": 0.0,
            "dt": float(grid[-1]) / steps,
            "batch": _stack_parameters(batch, setup.batch_names),
        }
        if model.parameters:
            inputs["parameters"] = _model_parameters(model, parameters)
        elif parameters is not None:
            raise ModelError(f"model {model.name!r} has no parameters to give values to")
        invalid = _invalid_elements(inputs)
        if invalid is not None:
            failed = float(SimulationStatus.NOT_FINITE.value)
            inputs["status"] = np.where(invalid, failed, 0.0)
        torque = sampled_torques_on_grid(setup, grid)
        sampled = {} if torque is None else {"torque": torque}
        if torque is None:
            inputs["torque"] = np.zeros(model.nv)
        if not self._names:
            # Nothing is recorded over time, so no step beyond the last state is needed.
            sampled = {name: array[..., :steps, :] for name, array in sampled.items()}
            course = self._iteration(steps, inputs, sampled=sampled, threads=threads)
            return self._result(course, {}, np.array([grid[0], grid[-1]]), steps, None)
        if steps % spacing:
            raise ModelError(
                f"{steps} steps cannot be recorded every {spacing} of them with the last one; "
                "choose an interval that divides the duration"
            )
        course = self._iteration(
            steps + 1,
            inputs,
            sampled=sampled,
            record=[f"{name}_now" for name in self._names],
            every=spacing,
            threads=threads,
            peek_last_step=True,
        )
        recorded = {name.removesuffix("_now"): array for name, array in course.records.items()}
        return self._result(course, recorded, grid[::spacing], steps, inputs.get("parameters"))

    def _result(
        self,
        course: Any,
        recorded: dict[str, np.ndarray],
        time: np.ndarray,
        steps: int,
        parameters: np.ndarray | None,
    ) -> RolloutResult:
        status = course.states["status"].astype(int)
        recorded = _fill_after_failure(recorded, status == SimulationStatus.NOT_FINITE.value)
        chosen = self.options.recorded_quantities
        records: dict[str, Any] = {name: recorded[name] for name in chosen if name != "energy"}
        if "energy" in chosen:
            none = np.zeros(recorded["kinetic"].shape)
            records["energy"] = energy_balance(
                self.setup.model, {**recorded, "event_energy": none}, parameters
            )
        states = course.states
        return RolloutResult(
            self.setup.model,
            time,
            states["q"],
            states["v"],
            status,
            np.minimum(states["t"], time[-1]),
            records,
            self.setup.geometry.names if self.setup.law is not None else (),
            steps,
        )


def rollout(
    model: Model,
    q0: ArrayLike,
    v0: ArrayLike | None = None,
    duration: float = 1.0,
    dt: float = 1e-3,
    *,
    contact: ContactLaw | str | None = "implicit",
    actuation: ActuationArgument = None,
    options: SimulationOptions | None = None,
    **unknown: Never,
) -> RolloutResult:
    """Simulate many initial states, parameters or torques at once, in native code.

    The result of a batch element depends neither on the other elements nor on threads, to the bit.

    Args:
        model: What moves.
        q0: Positions at the start, (batch, nq) or (nq,) for all.
        v0: Velocities at the start, (batch, nv) or (nv,) for all; None for rest.
        duration: Time to simulate (s).
        dt: Step (s).
        contact: A force law or step law, its name, or None for no contact.
        actuation: What drives the joints; sampled torques may be (batch, samples, nv).
        options: As for `run`. ``recorded_quantities`` and ``record_interval`` say what is recorded
            over time; ``parameters`` and ``batch_parameters`` hold one value or one per batch
            element; events end their simulation with the step in which they occur.
        unknown: Not accepted; a ``TypeError`` says where such an argument belongs.

    Returns:
        Last states, status and recorded quantities.

    Raises:
        ModelError: Shapes, parameters or names do not fit, or something cannot be part of a
            rollout: an event-driven law, a Python controller, an event that does not end.
    """
    reject_unknown_arguments("rollout", unknown)
    simulator = BatchSimulator(model, contact=contact, actuation=actuation, options=options)
    return simulator(q0, v0, duration, dt)


def _batch_states(given: ArrayLike, size: int, name: str, model: Model) -> np.ndarray:
    array = np.asarray(given, dtype=float)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise ModelError(
            f"{name} of model {model.name!r} needs (batch, {size}) numbers, got shape {array.shape}"
        )
    return normalize_quaternions(model, array) if name == "q0" else array


def _invalid_elements(inputs: Mapping[str, Any]) -> np.ndarray | None:
    """Which batch elements begin with something that is not finite; None where none does."""
    wrong = [~np.isfinite(np.asarray(array)).reshape(np.shape(array)) for array in inputs.values()]
    marks = [np.any(mark, axis=-1) if mark.ndim else mark for mark in wrong]
    return np.any(np.broadcast_arrays(*marks), axis=0) if any(map(np.any, marks)) else None


def _fill_after_failure(
    recorded: dict[str, np.ndarray], failed: np.ndarray
) -> dict[str, np.ndarray]:
    """The records, where failed simulations keep their last finite sample, or zero.

    What would act in a step that cannot be taken is not finite.
    """
    if not failed.any():
        return recorded
    filled = {}
    for name, array in recorded.items():
        array = array.copy()
        for element in np.flatnonzero(failed):
            rows = array[element].reshape(array.shape[1], -1)
            finite = np.isfinite(rows).all(axis=1)
            last = np.maximum.accumulate(np.where(finite, np.arange(len(rows)), -1))
            rows[:] = np.where(last[:, None] < 0, 0.0, rows[np.maximum(last, 0)])
        filled[name] = array
    return filled


def _stack_parameters(values: Mapping[str, ArrayLike], names: Sequence[str]) -> np.ndarray:
    """Named values, one or one per batch element each, side by side."""
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
            what = unknown_name("parameter", name, model.parameter_names)
            raise ModelError(f"model {model.name!r} has {what}")
    defaults = dict(zip(model.parameter_names, model.parameter_values, strict=True))
    return _stack_parameters({**defaults, **parameters}, model.parameter_names)
