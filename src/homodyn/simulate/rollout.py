"""Rollouts: thousands of simulations at once, as elements of one batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import ModelError
from homodyn.foundation import Record, count_of, record
from homodyn.foundation.arguments import require_type
from homodyn.model import Model
from homodyn.motion import Motion, MotionSource, motion_from_states
from homodyn.simulate.actuation import ActuationArgument
from homodyn.simulate.initial_state import (
    check_state,
    sampled_torques_on_grid,
    step_length,
    time_grid,
)
from homodyn.simulate.kernel_inputs import initial_inputs, kernel_setup
from homodyn.simulate.laws import ContactLaw
from homodyn.simulate.options import SimulationKeywords, SimulationOptions, resolve_options
from homodyn.simulate.recorder import energy_balance
from homodyn.simulate.result import EnergyBalance, SimulationStatus
from homodyn.simulate.rows.loop_rows import anchor_at_pose
from homodyn.simulate.run import resolve_contact_law
from homodyn.simulate.step_kernel import STATES, step_kernel
from homodyn.symbolic import Scan

ENERGY_QUANTITIES = ("q", "work", "kinetic", "potential")
"""Recorded quantities from which the energy balance is computed."""


@record
class RolloutResult(Record):
    """Results of all simulations of a batch."""

    model: Model
    time: np.ndarray
    """Times of the records (s), (samples,)."""
    q: np.ndarray
    """Last positions, (batch, nq)."""
    v: np.ndarray
    """Last velocities, (batch, nv)."""
    status: np.ndarray
    """Values of `SimulationStatus`, (batch,)."""
    end_time: np.ndarray
    """End time of each simulation (s), (batch,)."""
    records: dict[str, Any]
    """Recorded quantities by name, (batch, samples, ...); energy as an `EnergyBalance`. A
    simulation that ended keeps its last state, one that failed its last finite one."""
    contact_names: tuple[str, ...]
    """Names of the contacts."""
    steps: int
    """Number of steps."""
    measures: dict[str, np.ndarray] = field(default_factory=dict)
    """Values of the measures by name, (batch, ...)."""

    @property
    def batch_size(self) -> int:
        """Number of simulations."""
        return len(self.status)

    @property
    def nbytes(self) -> int:
        """Memory of all arrays (bytes)."""
        arrays = [self.q, self.v, self.status, self.end_time]
        for values in self.records.values():
            arrays += _arrays_of(values)
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
        sentence = SimulationStatus(int(self.status[element])).sentence
        return motion_from_states(
            self.model,
            self.time,
            q,
            v,
            tau=self.records["torques"][element] if "torques" in self.records else None,
            method=f"simulation that {sentence}",
            source=MotionSource.SIMULATED,
        )

    def headline(self) -> str:
        """Model, how the simulations ended, and memory."""
        return (
            f"RolloutResult of {self.model.name!r}: {self.message}, "
            f"{self.nbytes / 1e6:.1f} MB recorded"
        )


class BatchSimulator:
    """A rollout that is prepared once and run repeatedly with different numbers.

    Args:
        model: The model.
        contact: A force law or step law, its name, or None for no contact.
        actuation: Actuation of the joints; Python controllers are not accepted.
        options: As for `rollout`; ``batch_parameters`` defines which parameters exist, and their
            values where a call gives none.
        changes: Fields of `SimulationOptions` to change.

    Raises:
        ModelError: The contact law, the integrator, a controller or an event cannot be part of a
            rollout.
        TypeError: An argument is unknown; the message says where it belongs.
    """

    def __init__(
        self,
        model: Model,
        *,
        contact: ContactLaw | str | None = "implicit",
        actuation: ActuationArgument = None,
        options: SimulationOptions | None = None,
        **changes: Unpack[SimulationKeywords],
    ) -> None:
        self.options = options = resolve_options("BatchSimulator", options, changes)
        law = resolve_contact_law(contact)
        recorded = tuple(options.recorded_quantities)
        self.setup = kernel_setup(
            model, law, actuation, options, "energy" in recorded, options.constraints
        )
        names = [name for name in recorded if name != "energy"]
        if "energy" in recorded:
            names += [name for name in ENERGY_QUANTITIES if name not in names]
        self._names = tuple(names)
        self._scan = Scan(step_kernel(self.setup, self._names), STATES, stop="status")

    def compile(self, batch_size: int | None = None) -> BatchSimulator:
        """Build the native code now instead of at the first call.

        Args:
            batch_size: Size of later batches; 1 builds the code of a single simulation.

        Returns:
            This simulator.
        """
        self._scan.compile(single=batch_size == 1)
        return self

    @property
    def instructions(self) -> int:
        """Instructions of one step on the virtual machine."""
        return self._scan.kernel.instructions

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
            ModelError: Shapes, parameters or the record interval do not fit.
        """
        threads = self.options.threads if threads is None else threads
        grid, spacing = time_grid(duration, dt, self.options.record_interval)
        steps = len(grid) - 1
        inputs = initial_inputs(self.setup, self.options, q0, v0, parameters, batch_parameters)
        inputs["dt"] = step_length(grid, dt)
        torque = sampled_torques_on_grid(self.setup, grid)
        sampled = {} if torque is None else {"torque": torque}
        if self.setup.target_size:
            sampled["targets"] = self.setup.sample_targets(grid)
        if torque is None:
            inputs["torque"] = np.zeros(self.setup.model.nv)
        if not self._names:
            # Nothing is recorded over time, so no step beyond the last state is needed.
            sampled = {name: array[..., :steps, :] for name, array in sampled.items()}
            scan_result = self._scan(steps, inputs, sampled=sampled, threads=threads)
            return self._result(scan_result, {}, np.array([grid[0], grid[-1]]), steps, None)
        if steps % spacing:
            raise ModelError(
                f"{steps} steps are not a multiple of the {spacing} steps of a record interval; "
                "choose an interval that divides the duration"
            )
        scan_result = self._scan(
            steps + 1,
            inputs,
            sampled=sampled,
            record=[f"{name}_now" for name in self._names],
            every=spacing,
            threads=threads,
            peek_last_step=True,
        )
        recorded = {name.removesuffix("_now"): array for name, array in scan_result.records.items()}
        return self._result(scan_result, recorded, grid[::spacing], steps, inputs.get("parameters"))

    def _result(
        self,
        scan_result: Any,
        recorded: dict[str, np.ndarray],
        time: np.ndarray,
        steps: int,
        parameters: np.ndarray | None,
    ) -> RolloutResult:
        status = scan_result.states["status"].astype(int)
        recorded = _fill_after_failure(recorded, status == SimulationStatus.NOT_FINITE.value)
        chosen = self.options.recorded_quantities
        records: dict[str, Any] = {name: recorded[name] for name in chosen if name != "energy"}
        if "signals" in records:
            records["signals"] = self.setup.step_memory.split_signals(recorded["signals"])
        if "energy" in chosen:
            event_energy = np.zeros(recorded["kinetic"].shape)
            records["energy"] = energy_balance(
                self.setup.model, {**recorded, "event_energy": event_energy}, parameters
            )
        states = scan_result.states
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
            self.setup.step_memory.results(states["memory"]),
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
    **changes: Unpack[SimulationKeywords],
) -> RolloutResult:
    """Simulate many initial states, parameters or torques at once, in native code.

    The result of a batch element is bitwise independent of the other elements and of threads.

    Args:
        model: The model.
        q0: Positions at the start, (batch, nq) or (nq,) for all.
        v0: Velocities at the start, (batch, nv) or (nv,) for all; None for rest.
        duration: Time to simulate (s).
        dt: Step (s).
        contact: A force law or step law, its name, or None for no contact.
        actuation: Actuation of the joints; sampled torques may be (batch, samples, nv).
        options: As for `run`. ``recorded_quantities`` and ``record_interval`` define the records
            over time; ``parameters`` and ``batch_parameters`` have one value or one per batch
            element; events end or change a simulation at the end of the step in which they occur.
        changes: Fields of `SimulationOptions` to change, such as ``scene=scene``.

    Returns:
        Last states, status and recorded quantities.

    Raises:
        ModelError: Shapes, parameters or names do not fit, or something cannot be part of a
            rollout: an event-driven law, a Python controller, an event that does not end.
        TypeError: An argument is unknown; the message says where it belongs.
        HomodynError: ``model`` has another type.
    """
    require_type("model", model, Model)
    chosen = resolve_options("rollout", options, changes)
    if np.ndim(q0) == 1:
        pose = check_state(model, q0, "q0")
        constraints = anchor_at_pose(model, pose, chosen.constraints)
        chosen = replace(chosen, constraints=constraints)
    simulator = BatchSimulator(model, contact=contact, actuation=actuation, options=chosen)
    return simulator(q0, v0, duration, dt)


def _arrays_of(values: Any) -> list[np.ndarray]:
    """The arrays of a recorded quantity."""
    if isinstance(values, EnergyBalance):
        return list(vars(values).values())
    return list(values.values()) if isinstance(values, dict) else [values]


def _fill_after_failure(
    recorded: dict[str, np.ndarray], failed: np.ndarray
) -> dict[str, np.ndarray]:
    """The records, in which failed simulations keep their last finite sample, or zero.

    Forces of a step that cannot be taken are not finite.
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
