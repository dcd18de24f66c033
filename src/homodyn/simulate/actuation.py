"""What drives the joints: given torques, servos, and controllers, within what motors can do.

An actuation is one of these records, several in a tuple, an array of constant torques, or a
function ``f(t, q, v, lane)`` over symbols, which becomes part of the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.simulate.constants import Lane, column
from homodyn.simulate.joint_rows import JointRow
from homodyn.simulate.rows import Row
from homodyn.spatial import Array, stack
from homodyn.symbolic import Kernel, kernel


@dataclass(frozen=True)
class Torques:
    """Constant generalised forces (N m, N): nv numbers, or by coordinate name."""

    values: Any


@dataclass(frozen=True)
class SampledTorques:
    """Torques (N m, N) at times (s): rows of nv numbers, straight lines or held in between.

    Before the first and after the last time the nearest row holds. Steps of fixed length take the
    torque of their start; methods that choose their steps follow the lines.
    """

    time: Any
    torques: Any
    held: bool = False

    def __post_init__(self) -> None:
        time, torques = np.asarray(self.time, float), np.asarray(self.torques, float)
        if time.ndim != 1 or len(time) < 1 or np.any(np.diff(time) <= 0):
            raise ModelError("times of sampled torques must be a rising list of numbers")
        if torques.ndim not in (2, 3) or torques.shape[-2] != len(time):
            raise ModelError(
                f"sampled torques need one row for each of the {len(time)} times, got shape "
                f"{torques.shape}"
            )

    def at(self, times: np.ndarray) -> np.ndarray:
        """Torques at other times, with the lanes first where they differ between lanes."""
        known, torques = np.asarray(self.time, float), np.asarray(self.torques, float)
        if self.held or len(known) == 1:
            index = np.clip(np.searchsorted(known, times + 1e-12, side="right") - 1, 0, None)
            return np.asarray(torques[..., index, :])
        index = np.clip(np.searchsorted(known, times, side="right") - 1, 0, len(known) - 2)
        share = np.clip((times - known[index]) / (known[index + 1] - known[index]), 0, 1)[:, None]
        before, after = torques[..., index, :], torques[..., index + 1, :]
        return np.asarray((1 - share) * before + share * after)


@dataclass(frozen=True)
class PD:
    """Servos towards a pose: torque = kp (target - q) + kd (velocity - v), but for a floating base.

    Gains (N m/rad, N m s/rad) are one number, one each, by coordinate name (others free), or names
    of lane parameters. ``target`` is a pose (nq; None: the neutral one) or a function
    ``f(t, lane)`` over symbols; ``velocity`` is how fast that moves (nv; None: not at all), in the
    same ways. ``stable`` takes position and velocity at the end of the step (Tan et al. 2011),
    stable for any gain; the target goes on with its velocity until then.
    """

    kp: Any
    kd: Any
    target: Any = None
    stable: bool = False
    velocity: Any = None


@dataclass(frozen=True)
class Controller:
    """A Python function ``f(t, q, v)`` that gives nv torques (N m, N) from the measured state.

    It is called every ``period`` (s); what it returns acts ``delay`` (s) later, and until the next
    does. What the first call returns acts at once.
    """

    function: Callable[[float, np.ndarray, np.ndarray], Any]
    period: float
    delay: float = 0.0

    def __post_init__(self) -> None:
        if not self.period > 0 or self.delay < 0:
            raise ModelError(
                f"a controller needs a period > 0 and a delay >= 0 (s), got {self.period} and "
                f"{self.delay}"
            )


@dataclass(frozen=True, eq=False)
class Drive:
    """What all actuations ask for at a state: torques, and servos as rows."""

    torque: Array
    rows: list[JointRow] = field(default_factory=list)


def parts_of(actuation: Any) -> tuple[Any, ...]:
    """The records that an argument stands for."""
    if actuation is None:
        return ()
    if isinstance(actuation, tuple):
        return tuple(part for one in actuation for part in parts_of(one))
    if isinstance(actuation, (Torques, SampledTorques, PD, Controller)) or callable(actuation):
        return (actuation,)
    if isinstance(actuation, (list, np.ndarray, Mapping)):
        return (Torques(actuation),)
    raise ModelError(
        f"an actuation is Torques, SampledTorques, PD, Controller, nv numbers, a function of "
        f"(t, q, v, lane) or a tuple of these; got {actuation!r}"
    )


def drive(
    model: Model,
    parts: Sequence[Any],
    t: Array,
    q: Array,
    v: Array,
    given: Array,
    lane: Lane,
    h: Array | None,
    limited: bool,
) -> Drive:
    """Torques and servo rows of all parts; ``given`` are those that come from outside the kernel.

    With ``limited``, torques stay within ``max_force`` of their coordinate, and their power within
    max_force times max_velocity where both are known.
    """
    bounds = torque_bounds(model, v) if limited else [np.inf] * model.nv
    total: Array = ca.SX.zeros(model.nv) + given
    rows: list[JointRow] = []
    for part in parts:
        if isinstance(part, Torques):
            total = total + stack(*column_of(part.values, model))
        elif isinstance(part, PD):
            torque, servo = _servo(model, part, t, q, v, lane, h, bounds)
            total = total + torque
            rows += servo
        elif callable(part):
            total = total + _asked(part(t, q, v, lane), model)
    if limited:
        total = stack(*[_within(total[k], bounds[k]) for k in range(model.nv)])
    return Drive(total, rows)


def torque_kernel(model: Model, parts: Sequence[Any], lane: Sequence[str], limited: bool) -> Kernel:
    """Torques (N m, N) at a time and state, of ``given`` ones and all parts, as a kernel."""

    def torque(t: Array, q: Array, v: Array, given: Array, numbers: Array) -> Array:
        named = {name: numbers[k] for k, name in enumerate(lane)}
        return drive(model, parts, t, q, v, given, named, None, limited).torque

    return kernel(
        torque,
        {"t": (), "q": model.nq, "v": model.nv, "given": model.nv, "lane": len(lane)},
        outputs={"torque": model.nv},
        name=f"torques of {model.name}",
    )


def column_of(values: Any, model: Model) -> list[float]:
    """Constant torques as nv numbers; they may have any sign."""
    if isinstance(values, Mapping):
        numbers = np.zeros(model.nv)
        for name, value in values.items():
            numbers[model.coordinate_index(name)] = float(value)
    else:
        numbers = np.asarray(values, dtype=float)
    if numbers.shape != (model.nv,):
        raise ModelError(f"torques: {model.nv} numbers are needed, got shape {numbers.shape}")
    bad = [n for n, x in zip(model.coordinate_names, numbers, strict=True) if not np.isfinite(x)]
    if bad:
        raise ModelError(f"constant torques must be finite; that of {', '.join(bad)} is not")
    return [float(x) for x in numbers]


def _asked(torque: Any, model: Model) -> Array:
    """What a function over symbols returned, if it is a torque for each degree of freedom."""
    found = ca.SX(torque)
    if found.shape != (model.nv, 1):
        raise ModelError(
            f"the controller over symbols gives {found.shape[0]} x {found.shape[1]} numbers; "
            f"{model.nv} torques are needed, one for each degree of freedom"
        )
    return found


def torque_bounds(model: Model, v: Array) -> list[Array]:
    """Largest torque of each motor at the present speed (N m, N); infinite where unknown."""
    bounds: list[Array] = []
    for k, (force, speed) in enumerate(zip(model.max_force, model.max_velocity, strict=True)):
        if np.isfinite(force) and np.isfinite(speed) and speed > 0:
            power = force * speed
            bounds.append(ca.fmin(force, power / ca.fmax(ca.fabs(v[k]), speed)))
        else:
            bounds.append(float(force))
    return bounds


def _within(torque: Array, bound: Array) -> Array:
    if isinstance(bound, float) and np.isinf(bound):
        return torque
    # Not fmin and fmax, which would make a bound of what is no number.
    return ca.if_else(torque > bound, bound, ca.if_else(torque < -bound, -bound, torque))


def _servo(
    model: Model,
    pd: PD,
    t: Array,
    q: Array,
    v: Array,
    lane: Lane,
    h: Array | None,
    bounds: list[Array],
) -> tuple[Array, list[JointRow]]:
    """A servo as torques or, when it looks at the end of the step, as rows."""
    if callable(pd.target):
        target = ca.SX(pd.target(t, lane))
    else:
        pose = model.neutral() if pd.target is None else np.asarray(pd.target, dtype=float)
        if pose.shape != (model.nq,) or not np.isfinite(pose).all():
            raise ModelError(
                f"target of PD: {model.nq} finite numbers are needed, got shape {pose.shape}"
            )
        target = ca.SX(pose)
    away = model.difference(q, target)
    rate = _rate(model, pd, t, lane)
    kp = column(pd.kp, model.coordinate_names, lane, "kp")
    kd = column(pd.kd, model.coordinate_names, lane, "kd")
    torque = [ca.SX(0.0)] * model.nv
    rows = []
    for k in model.actuated:
        if _zero(kp[k]) and _zero(kd[k]):
            continue
        if pd.stable and h is not None:
            row = Row.spring(-away[k], kp[k], kd[k], h, -bounds[k], bounds[k], rate[k])
            rows.append(JointRow(f"{model.coordinate_names[k]} motor", k, row, motor=True))
        else:
            torque[k] = kp[k] * away[k] + kd[k] * (rate[k] - v[k])
    return stack(*torque), rows


def _rate(model: Model, pd: PD, t: Array, lane: Lane) -> Array:
    """Velocity of the target of a servo."""
    if callable(pd.velocity):
        return ca.SX(pd.velocity(t, lane))
    given = np.zeros(model.nv) if pd.velocity is None else np.asarray(pd.velocity, dtype=float)
    if given.shape != (model.nv,) or not np.isfinite(given).all():
        raise ModelError(
            f"velocity of PD: {model.nv} finite numbers are needed, got shape {given.shape}"
        )
    return ca.SX(given)


def _zero(number: Array) -> bool:
    return isinstance(number, float) and number == 0.0
