"""Proportional-derivative servos, explicit or solved at the end of the step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import HomodynError, ModelError
from homodyn.foundation import Record, record, unknown_name
from homodyn.model import Model
from homodyn.motion.clinical import resolve_coordinate
from homodyn.simulate.actuation import Actuation, ActuationInput, ActuationLoad
from homodyn.simulate.constants import constants_by_name
from homodyn.simulate.rows import ImplicitRow, JointRow
from homodyn.spatial import Array, stack

PoseFunction = Callable[[Any, Any], Any]
"""``f(t, batch)`` over symbols: one number per entry of the pose or velocity."""

Gains = float | str | Sequence[float | str] | Mapping[str, float | str] | np.ndarray
"""One gain for all, one per degree of freedom, by coordinate name, or names of batch parameters and
signals."""
Targets = ArrayLike | Mapping[str, float | str] | str | PoseFunction
"""Numbers, values or names of batch parameters and signals by coordinate, the name of a signal with
all entries, or a function."""


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


def _is_zero(number: Array) -> bool:
    return isinstance(number, float) and number == 0.0
