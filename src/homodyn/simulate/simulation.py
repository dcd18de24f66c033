"""Simulations that are advanced step by step, with inputs that change between the steps.

They are for live use, teaching and reinforcement learning. The steps are those of `run` and
`rollout`, taken by the same kernels: equal inputs give equal bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.dynamics.constraints import row_names
from homodyn.errors import ModelError
from homodyn.foundation import unknown_name
from homodyn.foundation.arguments import require_type
from homodyn.model import Model
from homodyn.simulate.actuation import ActuationArgument
from homodyn.simulate.geometry import MeshQueries, mesh_obstacles, scene_geometry
from homodyn.simulate.initial_state import check_state, normalize_quaternions
from homodyn.simulate.kernel_inputs import initial_inputs, kernel_setup
from homodyn.simulate.laws import ContactLaw
from homodyn.simulate.options import SimulationKeywords, SimulationOptions, resolve_options
from homodyn.simulate.result import SimulationStatus
from homodyn.simulate.rows.loop_rows import anchor_at_pose
from homodyn.simulate.run import RECORDED_QUANTITIES, resolve_contact_law
from homodyn.simulate.signals import SignalInput
from homodyn.simulate.signals.signal import SignalFunction
from homodyn.simulate.step_kernel import STATES, step_kernel
from homodyn.symbolic import Kernel, Scan
from homodyn.symbolic.in_place_scan import InPlaceScan
from homodyn.symbolic.trace import trace


class Simulation:
    """A simulation, or a batch of them, that `step` advances; made by `start`.

    Arrays of a batch begin with the axis of its elements. ``q``, ``v`` and the other arrays are
    views of the present state: copy what must outlast the next step.

    Attributes:
        model: The model.
        dt: Step (s).
        q: Positions, (nq,) or (batch, nq).
        v: Velocities, (nv,) or (batch, nv).
        time: Time (s), () or (batch,).
        quantities: Recorded quantities of the last step by name: of a single simulation forces,
            distances, torques and others, of a batch the ``recorded_quantities``.
    """

    def __init__(
        self,
        model: Model,
        scan: InPlaceScan,
        setup: Any,
        dt: float,
        single: bool,
        meshes: MeshQueries | None = None,
    ) -> None:
        self.model, self.dt, self._scan, self._setup = model, dt, scan, setup
        self._single, self._meshes = single, meshes
        arrays = scan.arrays
        self.q, self.v, self.time = (self._view(arrays[name]) for name in ("q", "v", "t"))
        self.quantities = {
            name.removesuffix("_now"): self._view(array) for name, array in scan.records.items()
        }
        self._torque, self._batch = arrays["torque"], arrays["batch"]
        self._status, self._memory = arrays["status"], arrays["memory"]
        self._targets, self._lengths = arrays.get("targets"), arrays["dt"]
        self._places = {name: k for k, name in enumerate(setup.batch_names)}

    def _view(self, array: np.ndarray) -> np.ndarray:
        return array.reshape(array.shape[1:]) if self._single else array

    @property
    def batch_size(self) -> int:
        """Number of simulations."""
        return self._scan.count

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows, in the order of the quantity "constraint_forces"."""
        constraints = self._setup.constraints
        own = row_names(constraints) if constraints else ()
        return (*own, *self._setup.row_names)

    @property
    def status(self) -> SimulationStatus:
        """How the simulation stands; FINISHED while it runs.

        Raises:
            ModelError: This is a batch; see ``statuses``.
        """
        if not self._single:
            raise ModelError("a batch of simulations has `statuses`, one per element")
        return SimulationStatus(int(self._status[0]))

    @property
    def statuses(self) -> np.ndarray:
        """Values of `SimulationStatus`, (batch,); 0 while an element runs."""
        return self._status.astype(int)

    @property
    def running(self) -> np.ndarray:
        """Which elements still advance, (batch,)."""
        return np.asarray(self._status == 0)

    @property
    def measures(self) -> dict[str, np.ndarray]:
        """Values of the measures so far by name, (...) or (batch, ...)."""
        results: dict[str, np.ndarray] = self._setup.step_memory.results(self._memory)
        return {name: x[0] for name, x in results.items()} if self._single else results

    def step(
        self,
        torques: ArrayLike | None = None,
        steps: int = 1,
        *,
        targets: ArrayLike | None = None,
        length: float | None = None,
        **batch_parameters: ArrayLike,
    ) -> None:
        """Take steps of ``dt``.

        Inputs keep their values until they are changed. An element that ended or failed stays as
        it is.

        Args:
            torques: Additional torques (N m, N), (nv,) or (batch, nv), within the limits of the
                motors; None: as before, zero at first.
            steps: Number of steps.
            targets: Sampled targets of all rows in these steps, (size,) or (batch, size), such as
                markers of a live stream; None: those that the rows have at the time of each step,
                a multiple of ``dt``.
            length: Length of these steps (s), such as the distance of frames that arrive
                irregularly; None: ``dt``.
            batch_parameters: New values of batch parameters by name, one or one per element.

        Raises:
            ModelError: A name is unknown, or sizes do not fit.
        """
        if torques is not None:
            try:
                self._torque[...] = torques
            except (TypeError, ValueError):
                raise ModelError(
                    f"torques of {self.model.name!r}: {self.model.nv} numbers are needed"
                    f"{'' if self._single else ', or (batch, nv)'}; got {np.shape(torques)}"
                ) from None
        for name, value in batch_parameters.items():
            if name not in self._places:
                raise ModelError(unknown_name("batch parameter", name, self._places))
            self._batch[:, self._places[name]] = value
        if length is not None and not (length > 0 and np.isfinite(length)):
            raise ModelError(f"length of a step must be a positive number (s), got {length}")
        self._lengths[...] = self.dt if length is None else length
        sampled = self._targets is not None and targets is None
        if self._targets is None:
            if targets is not None:
                raise ModelError("no row of this simulation has sampled targets; leave targets out")
        elif targets is not None:
            self._set_targets(targets)
        if not sampled and self._meshes is None:
            self._scan.step(steps)
            return
        for _ in range(steps):
            if sampled:
                self._sample_targets()
            if self._meshes is not None:
                self._find_planes(self._meshes)
            self._scan.step()

    def _find_planes(self, meshes: MeshQueries) -> None:
        """The tangent planes of meshes at the present poses."""
        for k in np.nonzero(self.running)[0]:
            planes = meshes.values(self._scan.arrays["q"][k])
            self._batch[k, -len(planes) :] = planes

    def _set_targets(self, targets: ArrayLike) -> None:
        """Take targets from the user."""
        size = self._setup.target_size
        given = np.asarray(targets, dtype=float)
        if given.shape not in ((size,), (self.batch_size, size)):
            raise ModelError(
                f"targets: ({size},) or ({self.batch_size}, {size}) numbers are needed, got shape "
                f"{given.shape}"
            )
        assert self._targets is not None
        self._targets[...] = given

    def _sample_targets(self) -> None:
        """Targets at the present time of each element.

        Times are multiples of the step, as in runs: the sum of steps deviates from them by
        rounding, which would choose another sample.
        """
        numbers = np.rint(self._scan.arrays["t"] / self.dt)
        assert self._targets is not None
        for number in np.unique(numbers):
            chosen = numbers == number
            times = np.array([number, number + 1]) * self.dt
            values = self._setup.sample_targets(times)[..., 0, :]
            self._targets[chosen] = values[chosen] if values.ndim > 1 else values

    def reset(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        elements: Sequence[int] | np.ndarray | None = None,
        **batch_parameters: ArrayLike,
    ) -> None:
        """Start again: time, works, status, memories of signals and measures are reset.

        Args:
            q: Positions, (nq,) or one row per restarted element.
            v: Velocities, given in the same way; None for rest.
            elements: Which elements of a batch start again: indices or a mask; None: all.
            batch_parameters: New values of batch parameters of these elements by name.

        Raises:
            ModelError: Sizes or names do not fit, or numbers are not finite.
        """
        arrays, model = self._scan.arrays, self.model
        chosen = np.arange(self.batch_size)
        if elements is not None:
            chosen = chosen[np.asarray(elements)]
        unknown = [name for name in batch_parameters if name not in self._places]
        if unknown:
            raise ModelError(unknown_name("batch parameter", unknown[0], self._places))
        positions = _rows(q, model.nq, len(chosen), "q")
        velocities = np.zeros((len(chosen), model.nv))
        if v is not None:
            velocities = _rows(v, model.nv, len(chosen), "v")
        for name, value in batch_parameters.items():
            self._batch[chosen, self._places[name]] = value
        arrays["q"][chosen] = normalize_quaternions(model, positions)
        arrays["v"][chosen] = velocities
        for name in ("z", "t", "work", "status"):
            arrays[name][chosen] = 0.0
        self._torque[chosen] = 0.0
        if self._memory.size:
            given = arrays["parameters"][chosen] if model.parameters else None
            self._memory[chosen] = self._setup.step_memory.initial(
                arrays["q"][chosen], velocities, self._batch[chosen], given
            )

    def reset_measures(self) -> None:
        """Reset all measures, such as those of one action of a learning agent."""
        layout = self._setup.step_memory
        arrays = self._scan.arrays
        fresh = layout.initial(arrays["q"], arrays["v"], self._batch, arrays.get("parameters"))
        first = layout.measure_start
        self._memory[:, first:] = fresh[..., first:]

    def observer(self, function: SignalFunction) -> Callable[[], np.ndarray]:
        """A function of the present state as native code, such as the sensors of an agent.

        Args:
            function: ``f(t, q, v, batch)`` over symbols: numbers; ``batch`` has batch parameters
                and signals.

        Returns:
            A function without arguments: (size,) or (batch, size).
        """
        setup, arrays = self._setup, self._scan.arrays
        model, dt = self.model, self.dt
        names = [name for name in ("t", "q", "v", "batch", "memory") if arrays[name].size]
        sizes = setup.sizes()

        def observe(*symbols: ca.SX) -> Any:
            given = {name: ca.SX(0, 1) for name in ("batch", "memory")}
            given.update(zip(names, symbols, strict=False))
            numbers = {name: given["batch"][k] for k, name in enumerate(setup.batch_names)}
            at = SignalInput(model, given["t"], ca.SX(dt), given["q"], given["v"], numbers)
            batch = setup.step_memory.values(at, given["memory"])
            return SignalInput(model, at.t, at.h, at.q, at.v, batch).evaluate(
                function, "observation"
            )

        shapes = {name: sizes[name] for name in names}
        known = {}
        if model.parameters:
            names.append("parameters")
            shapes["parameters"] = sizes["parameters"]
            known["parameters"] = model.parameter_symbols
        kernel = Kernel(trace(observe, shapes, None, f"observation of {model.name}", given=known))

        def evaluate() -> np.ndarray:
            values = np.asarray(kernel(*[arrays[name] for name in names]))
            values = values[:, None] if values.ndim == 1 else values
            return values[0] if self._single else values

        return evaluate

    def save(self) -> dict[str, np.ndarray]:
        """A copy of the whole state, which `restore` takes.

        Returns:
            Arrays by name.
        """
        return {name: array.copy() for name, array in self._scan.arrays.items()}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Return to a saved state.

        Args:
            state: What `save` returned.
        """
        for name, array in self._scan.arrays.items():
            array[...] = state[name]

    def __repr__(self) -> str:
        size = "" if self._single else f", {self.batch_size} elements"
        return f"Simulation of {self.model.name!r} at {float(np.max(self.time)):.6g} s{size}"


def start(
    model: Model,
    q0: ArrayLike,
    v0: ArrayLike | None = None,
    dt: float = 1e-3,
    *,
    contact: ContactLaw | str | None = "implicit",
    actuation: ActuationArgument = None,
    options: SimulationOptions | None = None,
    **changes: Unpack[SimulationKeywords],
) -> Simulation:
    """Start a simulation that is advanced by its method ``step``.

    A single simulation has the bits of `run` with the same ``dt``, a batch those of `rollout` with
    the same options. Events end elements or change their state as in a rollout. Native code is
    built at once, or taken from the cache.

    Args:
        model: The model.
        q0: Positions at the start, (nq,), or (batch, nq) for a batch.
        v0: Velocities at the start, in the same way; None for rest.
        dt: Step (s).
        contact: A force law or step law, its name, or None for no contact.
        actuation: Actuation of the joints besides the torques that ``step`` takes.
        options: As for `rollout`.
        changes: Fields of `SimulationOptions` to change, such as ``scene=scene``.

    Returns:
        The simulation, at time 0.

    Raises:
        ModelError: Shapes, parameters or names do not fit, or something cannot be part of a
            kernel: an event-driven law, a Python controller, or sampled torques.
        TypeError: An argument is unknown; the message says where it belongs.
        HomodynError: ``model`` has another type.
    """
    require_type("model", model, Model)
    options = resolve_options("start", options, changes)
    if not (dt > 0 and np.isfinite(dt)):
        raise ModelError(f"dt must be a positive number (s), got {dt}")
    single = np.ndim(q0) == 1
    constraints = options.constraints
    if single:
        constraints = anchor_at_pose(model, check_state(model, q0, "q0"), constraints)
        names: tuple[str, ...] = RECORDED_QUANTITIES
    else:
        names = tuple(name for name in options.recorded_quantities if name != "energy")
    energy = single or "energy" in options.recorded_quantities
    law = resolve_contact_law(contact)
    meshes = None
    geometry = scene_geometry(model, options.scene)
    if law is not None and mesh_obstacles(geometry):
        meshes = MeshQueries(geometry)
        planes = dict.fromkeys(meshes.names, 0.0)
        options = replace(options, batch_parameters={**(options.batch_parameters or {}), **planes})
    setup = kernel_setup(model, law, actuation, options, energy, constraints)
    if setup.sampled_torques:
        raise ModelError("pass torques to step() instead of SampledTorques")
    inputs = initial_inputs(setup, options, q0, v0, None, None)
    inputs["dt"], inputs["torque"] = float(dt), np.zeros(model.nv)
    inputs["targets"] = np.zeros(setup.target_size)
    arrays = [inputs[name] for name in ("q", "v", "batch", "parameters") if name in inputs]
    lengths = {len(array) for array in arrays if np.ndim(array) > 1}
    if len(lengths - {1}) > 1 or (single and lengths):
        raise ModelError(
            f"a single q0 starts one simulation, (batch, nq) a batch; got batch sizes "
            f"{', '.join(map(str, sorted(lengths)))} with q0 of shape {np.shape(q0)}"
        )
    count = max(lengths, default=1)
    scan = Scan(step_kernel(setup, names), STATES, stop="status")
    recorded = [f"{name}_now" for name in names]
    in_place = InPlaceScan(scan, inputs, count, recorded, options.threads)
    return Simulation(model, in_place, setup, float(dt), single, meshes)


def _rows(given: ArrayLike, size: int, count: int, name: str) -> np.ndarray:
    array = np.asarray(given, dtype=float)
    if array.shape not in ((size,), (count, size)):
        raise ModelError(
            f"{name}: ({size},) or ({count}, {size}) numbers are needed, got shape {array.shape}"
        )
    if not np.isfinite(array).all():
        raise ModelError(f"{name} must be finite numbers")
    return np.array(np.broadcast_to(array, (count, size)))
