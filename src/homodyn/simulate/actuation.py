"""Actuation of joints: torques, servos and controllers, within the limits of the motors.

An actuation over symbols derives from `Actuation` and becomes part of the kernel: `Torques`, `PD`,
`SymbolicTorques` and your own. Two others supply numbers while a simulation runs: `SampledTorques`
come from a table, a `Controller` calls a Python function. Arrays, mappings and plain functions are
accepted instead, and a tuple adds several.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import HomodynError, ModelError
from homodyn.foundation import Record, record
from homodyn.foundation.text import count_of
from homodyn.model import Model
from homodyn.motion.clinical import resolve_values
from homodyn.simulate.constants import BatchParameters
from homodyn.simulate.rows import JointRow
from homodyn.spatial import Array, stack
from homodyn.symbolic import Kernel, kernel
from homodyn.symbolic.branch_errors import explain_branches

__all__ = [
    "Actuation",
    "ActuationInput",
    "ActuationLoad",
    "ControlFunction",
    "Controller",
    "SampledTorques",
    "SymbolicTorques",
    "TorqueFunction",
    "Torques",
]


class TorqueFunction(Protocol):
    """A function over symbols that returns torques; it becomes part of the kernel."""

    def __call__(self, t: Any, q: Any, v: Any, batch: Any, /) -> Any:
        """Torques (N m, N), (nv,), at time ``t`` (s), positions (nq,) and velocities (nv,).

        ``batch`` contains the batch parameters by name. The function is traced once, so it must not
        branch on values.
        """


class ControlFunction(Protocol):
    """A Python function, or an object with its own state, that a `Controller` calls."""

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray, /) -> ArrayLike:
        """Torques (N m, N), (nv,), from the measured state at time ``t`` (s)."""


@dataclass(frozen=True, eq=False)
class ActuationInput:
    """The input of an `Actuation`: time and state of a step, over symbols."""

    model: Model
    t: Array
    """Time (s)."""
    q: Array
    """Positions, (nq,)."""
    v: Array
    """Velocities, (nv,)."""
    batch: BatchParameters
    """Batch parameters by name."""
    h: Array | None
    """Length of the step (s) where rows are evaluated at its end; None for forces only."""
    torque_bounds: Sequence[Array]
    """Largest torque of each motor at the present speed (N m, N); infinite where unknown."""
    state: Array = field(default_factory=lambda: ca.SX(0, 1))
    """States of the actuation, (state_size,)."""


@dataclass(frozen=True, eq=False)
class ActuationLoad:
    """The output of an actuation: torques, and servos as rows at the end of the step."""

    torque: Array
    """Generalized forces (N m, N), (nv,)."""
    rows: list[JointRow] = field(default_factory=list)
    """Rows along coordinates, only where the input has a step ``h``."""
    state_rate: Array = field(default_factory=lambda: ca.SX(0, 1))
    """Rate of the states of the actuation (1/s), (state_size,)."""


class Actuation(ABC):
    """An actuation that becomes part of the kernel; derive from it to add your own.

    An actuation with states, such as muscles, states their number and their initial values; the
    integration method advances them with the model.
    """

    def state_names(self, model: Model) -> tuple[str, ...]:
        """Names of the states of the actuation.

        Args:
            model: The model.
        """
        return ()

    def initial_state(
        self, model: Model, q: np.ndarray, v: np.ndarray, parameters: np.ndarray | None
    ) -> np.ndarray:
        """The states of the actuation at the start.

        Args:
            model: The model.
            q: Positions, (..., nq).
            v: Velocities, (..., nv).
            parameters: Values of the parameters of the model.

        Returns:
            (..., states), or (states,) for all.
        """
        return np.zeros(len(self.state_names(model)))

    def break_times(self) -> np.ndarray:
        """Times (s) at which torques or rates jump or bend; event-driven steps end there."""
        return np.zeros(0)

    @abstractmethod
    def load(self, at: ActuationInput) -> ActuationLoad:
        """Torques at a state.

        It is traced once over symbols, so it must not branch on values. Torques beyond the limits
        of the motors are clamped afterwards.

        Args:
            at: Time, state, batch parameters and step.

        Returns:
            Torques and rows.
        """


@record
class Torques(Record, Actuation):
    """Constant generalized forces."""

    values: ArrayLike | Mapping[str, float]
    """N m, N: (nv,), or by coordinate, clinical or OpenSim name; a torque by a clinical name is
    positive in the direction that the name states."""

    def load(self, at: ActuationInput) -> ActuationLoad:
        """The same torques at every state.

        Args:
            at: Time, state, batch parameters and step.

        Returns:
            The torques.
        """
        return ActuationLoad(stack(*constant_torques(self.values, at.model)))


@record
class SymbolicTorques(Record, Actuation):
    """Torques as a function over symbols."""

    function: TorqueFunction
    """``f(t, q, v, batch)``: torques (N m, N), (nv,)."""

    def load(self, at: ActuationInput) -> ActuationLoad:
        """The torques of the function.

        Args:
            at: Time, state, batch parameters and step.

        Returns:
            The torques.

        Raises:
            ModelError: The function does not return nv values.
        """
        with explain_branches("the torque function"):
            torque = ca.SX(self.function(at.t, at.q, at.v, at.batch))
        if torque.shape != (at.model.nv, 1):
            raise ModelError(
                f"the torque function returns {torque.shape[0]} x {torque.shape[1]} values; "
                f"{at.model.nv} torques are needed, one per degree of freedom"
            )
        return ActuationLoad(torque)


@record
class SampledTorques(Record):
    """Torques (N m, N) at sampled times: linear interpolation, or a zero-order hold.

    Before the first and after the last time the nearest sample acts. Steps of fixed length use the
    torque at their start; adaptive methods follow the interpolation.

    Raises:
        ModelError: Times do not increase, or there is not one row per time.
    """

    time: ArrayLike
    """(samples,), s, increasing."""
    torques: ArrayLike
    """(samples, nv), or (batch, samples, nv) where batch elements differ."""
    zero_order_hold: bool = False
    """Whether each sample acts until the next instead of linear interpolation."""

    def __post_init__(self) -> None:
        time, torques = np.array(self.time, float), np.array(self.torques, float)
        if time.ndim != 1 or len(time) < 1 or np.any(np.diff(time) <= 0):
            raise ModelError("times of sampled torques must be increasing numbers")
        if torques.ndim not in (2, 3) or torques.shape[-2] != len(time):
            raise ModelError(
                f"sampled torques need one row for each of the {len(time)} times, got shape "
                f"{torques.shape}"
            )
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "torques", torques)

    def headline(self) -> str:
        """Shape and duration."""
        time = np.asarray(self.time)
        return f"SampledTorques: {count_of(len(time), 'sample')} from {time[0]:g} to {time[-1]:g} s"

    def sample(self, times: np.ndarray) -> np.ndarray:
        """Torques at other times.

        Args:
            times: (n,), s.

        Returns:
            (n, nv), or (batch, n, nv) where batch elements differ.
        """
        known, torques = np.asarray(self.time, float), np.asarray(self.torques, float)
        if self.zero_order_hold or len(known) == 1:
            index = np.clip(np.searchsorted(known, times + 1e-12, side="right") - 1, 0, None)
            return np.asarray(torques[..., index, :])
        index = np.clip(np.searchsorted(known, times, side="right") - 1, 0, len(known) - 2)
        fraction = np.clip((times - known[index]) / (known[index + 1] - known[index]), 0, 1)[
            :, None
        ]
        before, after = torques[..., index, :], torques[..., index + 1, :]
        return np.asarray((1 - fraction) * before + fraction * after)


@record
class Controller(Record):
    """A Python function that is called with the measured state at a fixed rate.

    Its torques act from ``delay`` after the call until those of the next call act (zero-order
    hold); those of the first call act at once.

    Raises:
        ModelError: The period is not positive, or the delay is negative.
    """

    function: ControlFunction
    """``f(t, q, v)``: torques (N m, N), (nv,)."""
    period: float
    """Time between calls (s)."""
    delay: float = 0.0
    """Time from a call until its torques act (s)."""

    def __post_init__(self) -> None:
        if not self.period > 0 or self.delay < 0:
            raise ModelError(
                f"a controller needs a period > 0 and a delay >= 0 (s), got {self.period} and "
                f"{self.delay}"
            )


ActuationPart = Actuation | SampledTorques | Controller
"""One part of an actuation."""

ActuationArgument = (
    ActuationPart | TorqueFunction | ArrayLike | Mapping[str, float] | tuple[Any, ...] | None
)
"""What ``actuation`` accepts: one part, something that converts to one, or a tuple of these."""


def actuation_parts(actuation: ActuationArgument) -> tuple[ActuationPart, ...]:
    """The parts of an ``actuation`` argument."""
    if actuation is None:
        return ()
    if isinstance(actuation, tuple):
        return tuple(part for one in actuation for part in actuation_parts(one))
    if isinstance(actuation, (Actuation, SampledTorques, Controller)):
        return (actuation,)
    if callable(actuation):
        return (SymbolicTorques(actuation),)
    if isinstance(actuation, (list, np.ndarray, Mapping)):
        return (Torques(actuation),)
    raise ModelError(
        f"an actuation is an Actuation such as Torques or PD, SampledTorques, a Controller, nv "
        f"numbers, a function of (t, q, v, batch) or a tuple of these; got {actuation!r}"
    )


def actuation_load(
    parts: Sequence[Actuation], at: ActuationInput, external: Array, limited: bool
) -> ActuationLoad:
    """Torques and servo rows of all parts together.

    ``external`` are torques from outside the kernel. With ``limited``, torques stay within
    ``max_force`` of their coordinate, and their power within max_force times max_velocity where
    both are known.
    """
    total: Array = ca.SX.zeros(at.model.nv) + external
    rows: list[JointRow] = []
    rates: list[Array] = []
    place = 0
    for part in parts:
        size = len(part.state_names(at.model))
        load = part.load(replace(at, state=at.state[place : place + size]))
        place += size
        total = total + load.torque
        rows += load.rows
        if ca.SX(load.state_rate).shape != (size, 1):
            raise ModelError(
                f"{type(part).__name__} has {size} states, and load() returns "
                f"{ca.SX(load.state_rate).shape[0]} rates"
            )
        rates.append(load.state_rate)
    if limited:
        bounds = at.torque_bounds
        total = stack(*[_clamp(total[k], bounds[k]) for k in range(at.model.nv)])
    return ActuationLoad(total, rows, ca.vertcat(ca.SX(0, 1), *rates))


def torque_kernel(
    model: Model, parts: Sequence[Actuation], names: Sequence[str], limited: bool
) -> Kernel:
    """A kernel of the torques (N m, N) at a time and state: external ones plus all parts.

    States of parts are its last input.
    """
    load, sizes = _traced_load(model, parts, names, limited)
    return kernel(
        lambda *given: load(*given).torque,
        sizes,
        outputs={"torque": model.nv},
        name=f"torques of {model.name}",
    )


def load_kernel(
    model: Model, parts: Sequence[Actuation], names: Sequence[str], limited: bool
) -> Kernel:
    """A kernel of the torques, as `torque_kernel`, and of the rates of states of the parts."""
    load, sizes = _traced_load(model, parts, names, limited)

    def outputs(*given: Array) -> dict[str, Array]:
        found = load(*given)
        return {"torque": found.torque, "rates": found.state_rate}

    return kernel(
        outputs,
        sizes,
        outputs={"torque": model.nv, "rates": sizes["states"]},
        name=f"loads of {model.name}",
    )


def _traced_load(
    model: Model, parts: Sequence[Actuation], names: Sequence[str], limited: bool
) -> tuple[Callable[..., ActuationLoad], dict[str, Any]]:
    """The load of all parts as a function over symbols, and the sizes of its inputs."""

    def load(t: Array, q: Array, v: Array, external: Array, batch: Array, z: Array) -> Any:
        named = {name: batch[k] for k, name in enumerate(names)}
        bounds = torque_bounds(model, v, limited)
        at = ActuationInput(model, t, q, v, named, None, bounds, z)
        return actuation_load(parts, at, external, limited)

    states = sum(len(part.state_names(model)) for part in parts)
    sizes = {"t": (), "q": model.nq, "v": model.nv}
    return load, {**sizes, "external": model.nv, "batch": len(names), "states": states}


def constant_torques(values: ArrayLike | Mapping[str, float], model: Model) -> list[float]:
    """Constant torques as nv numbers."""
    if isinstance(values, Mapping):
        numbers = np.zeros(model.nv)
        try:
            resolved = resolve_values(model, values)
        except HomodynError as error:
            raise ModelError(f"torques: {error}") from None
        for name, value in resolved.items():
            numbers[model.coordinate_index(name)] = float(value)
    else:
        numbers = np.asarray(values, dtype=float)
    if numbers.shape != (model.nv,):
        raise ModelError(f"torques: {model.nv} numbers are needed, got shape {numbers.shape}")
    wrong = [n for n, x in zip(model.coordinate_names, numbers, strict=True) if not np.isfinite(x)]
    if wrong:
        raise ModelError(f"constant torques must be finite; that of {', '.join(wrong)} is not")
    return [float(x) for x in numbers]


def torque_bounds(model: Model, v: Array, limited: bool = True) -> list[Array]:
    """Largest torque of each motor at the present speed (N m, N); infinite where unknown."""
    if not limited:
        return [np.inf] * model.nv
    bounds: list[Array] = []
    for k, (force, speed) in enumerate(zip(model.max_force, model.max_velocity, strict=True)):
        if np.isfinite(force) and np.isfinite(speed) and speed > 0:
            power = force * speed
            bounds.append(ca.fmin(force, power / ca.fmax(ca.fabs(v[k]), speed)))
        else:
            bounds.append(float(force))
    return bounds


def _clamp(torque: Array, bound: Array) -> Array:
    if isinstance(bound, float) and np.isinf(bound):
        return torque
    # Not fmin and fmax, which would turn NaN into a bound.
    return ca.if_else(torque > bound, bound, ca.if_else(torque < -bound, -bound, torque))
