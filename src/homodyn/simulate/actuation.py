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
from homodyn.foundation import Record, record, unknown_name
from homodyn.foundation.text import count_of
from homodyn.model import Model
from homodyn.motion.clinical import resolve_coordinate, resolve_values
from homodyn.simulate.constants import BatchParameters, constants_by_name
from homodyn.simulate.rows import ImplicitRow, JointRow
from homodyn.spatial import Array, stack
from homodyn.symbolic import Kernel, kernel
from homodyn.symbolic.branch_errors import explain_branches

__all__ = [
    "PD",
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

PoseFunction = Callable[[Any, Any], Any]
"""``f(t, batch)`` over symbols: one number per entry of the pose or velocity."""

Gains = float | str | Sequence[float | str] | Mapping[str, float | str] | np.ndarray
"""One gain for all, one per degree of freedom, by coordinate name, or names of batch parameters and
signals."""
Targets = ArrayLike | Mapping[str, float | str] | str | PoseFunction
"""Numbers, values or names of batch parameters and signals by coordinate, the name of a signal with
all entries, or a function."""


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
class PD(Record, Actuation):
    """Proportional-derivative servos toward a pose: torque = kp (target - q) + kd (velocity - v).

    They act along the actuated coordinates of the model (``model.actuated``), not on a floating
    root.
    """

    kp: Gains
    """Stiffness (N m/rad, N/m). By name of a coordinate, which may be a clinical or an OpenSim
    name, it is zero for others. By names of signals it varies with time and state."""
    kd: Gains
    """Damping (N m s/rad, N s/m), given in the same way."""
    target: Targets | None = None
    """Pose (nq,), values or names of signals by coordinate (others: the neutral pose), the name of
    a signal, or a function ``f(t, batch)`` over symbols; None: the neutral pose."""
    stable: bool = False
    """Whether position and velocity are those at the end of the step (Tan et al. 2011), which is
    stable for any gain; the target moves with its velocity during the step."""
    velocity: Targets | None = None
    """Velocity of the target (nv,), given in the same way; None: zero."""

    def load(self, at: ActuationInput) -> ActuationLoad:
        """Torques, or rows for a stable servo.

        Args:
            at: Time, state, batch parameters and step.

        Returns:
            Torques and rows.

        Raises:
            ModelError: Target, velocity or gains do not fit the model.
        """
        model = at.model
        error = model.difference(at.q, self._target_pose(at))
        rate = self._target_velocity(at)
        kp = _gains(self.kp, at, "kp")
        kd = _gains(self.kd, at, "kd")
        self._check_root(model)
        torque = [ca.SX(0.0)] * model.nv
        rows = []
        for k in model.actuated:
            if _is_zero(kp[k]) and _is_zero(kd[k]):
                continue
            if self.stable and at.h is not None:
                bound = at.torque_bounds[k]
                row = ImplicitRow.spring(-error[k], kp[k], kd[k], at.h, -bound, bound, rate[k])
                rows.append(JointRow(f"{model.coordinate_names[k]} motor", k, row, motor=True))
            else:
                torque[k] = kp[k] * error[k] + kd[k] * (rate[k] - at.v[k])
        return ActuationLoad(stack(*torque), rows)

    def _check_root(self, model: Model) -> None:
        """Refuse gains that are given for coordinates without a motor."""
        for what, gains in (("kp", self.kp), ("kd", self.kd)):
            given: list[int] = []
            if isinstance(gains, Mapping):
                named = [name for name, gain in gains.items() if name != "*" and gain != 0]
                known = [resolve_coordinate(model, name).coordinate for name in named]
                given = [model.coordinate_index(name) for name in known]
            elif isinstance(gains, (list, tuple, np.ndarray)):
                given = [k for k, gain in enumerate(gains) if isinstance(gain, str) or gain != 0]
            wrong = [model.coordinate_names[k] for k in given if k not in model.actuated]
            if wrong:
                raise ModelError(
                    f"{what} of PD is given for {', '.join(wrong)}, which no motor moves: servos "
                    f"act on {', '.join(model.coordinate_names[k] for k in model.actuated[:5])}"
                    f"{', ...' if len(model.actuated) > 5 else ''}; forces between a floating root "
                    "and the world are those of homodyn.simulate.ResidualJoint"
                )

    def _target_pose(self, at: ActuationInput) -> Array:
        model = at.model
        places = {
            name: place
            for name, place in zip(model.coordinate_names, model.position_index, strict=True)
            if place is not None
        }
        return _target_values(self.target, model.neutral(), places, at, "target of PD")

    def _target_velocity(self, at: ActuationInput) -> Array:
        places = {name: k for k, name in enumerate(at.model.coordinate_names)}
        return _target_values(self.velocity, np.zeros(at.model.nv), places, at, "velocity of PD")


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

    Parts with states have these as its last input.
    """
    states = sum(len(part.state_names(model)) for part in parts)

    def torque(t: Array, q: Array, v: Array, external: Array, numbers: Array, *z: Array) -> Array:
        batch = {name: numbers[k] for k, name in enumerate(names)}
        bounds = torque_bounds(model, v, limited)
        at = ActuationInput(model, t, q, v, batch, None, bounds, *z)
        return actuation_load(parts, at, external, limited).torque

    sizes: dict[str, Any] = {"t": (), "q": model.nq, "v": model.nv}
    sizes |= {"external": model.nv, "batch": len(names)}
    return kernel(
        torque,
        sizes | ({"states": states} if states else {}),
        outputs={"torque": model.nv},
        name=f"torques of {model.name}",
    )


def _target_values(
    given: Targets | None,
    default: np.ndarray,
    places: dict[str, int],
    at: ActuationInput,
    what: str,
) -> Array:
    """The entries of a target pose or velocity; ``places`` are those of coordinates by name.

    Raises:
        ModelError: Sizes do not fit, a number is not finite, or a name is unknown.
    """
    if given is None:
        return ca.SX(default)
    if callable(given):
        return ca.SX(given(at.t, at.batch))
    if isinstance(given, Mapping):
        values = [ca.SX(float(x)) for x in default]
        for name, value in given.items():
            try:
                key = resolve_coordinate(at.model, name).coordinate
            except HomodynError as error:
                raise ModelError(f"{what}: {error}") from None
            if key not in places:
                raise ModelError(f"{what}: coordinate {key!r} has no number of its own in the pose")
            values[places[key]] = _named_value(value, at, f"{what} of {name!r}", 1)
        return ca.vertcat(*values)
    if isinstance(given, str):
        return _named_value(given, at, what, len(default))
    numbers = np.asarray(given, dtype=float)
    if numbers.shape != default.shape or not np.isfinite(numbers).all():
        raise ModelError(
            f"{what}: {len(default)} finite numbers are needed, got shape {numbers.shape}"
        )
    return ca.SX(numbers)


def _named_value(value: float | str, at: ActuationInput, what: str, size: int) -> Array:
    """A number, or the batch parameter or signal of that name with ``size`` entries."""
    if isinstance(value, str) and value not in at.batch:
        message = unknown_name("batch parameter or signal", value, at.batch)
        raise ModelError(f"{what}: {message}")
    found = ca.SX(at.batch[value] if isinstance(value, str) else float(value))
    if found.shape != (size, 1):
        raise ModelError(f"{what}: {size} numbers are needed, got {found.shape[0]}")
    return found


def _gains(gains: Gains, at: ActuationInput, what: str) -> list[Array]:
    """One gain per degree of freedom.

    Raises:
        ModelError: A name is unknown, or two names mean one coordinate.
    """
    names = at.model.coordinate_names
    if isinstance(gains, Mapping):
        resolved: dict[str, float | str] = {}
        for name, gain in gains.items():
            try:
                key = name if name == "*" else resolve_coordinate(at.model, name).coordinate
            except HomodynError as error:
                raise ModelError(f"{what}: {error}") from None
            if key in resolved:
                raise ModelError(f"{what}: two names mean the coordinate {key!r}")
            resolved[key] = gain
        gains = resolved
    if isinstance(gains, str) and gains in at.batch and ca.SX(at.batch[gains]).numel() > 1:
        return list(ca.vertsplit(_named_value(gains, at, what, len(names))))
    return constants_by_name(gains, names, at.batch, what)


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


def _is_zero(number: Array) -> bool:
    return isinstance(number, float) and number == 0.0
