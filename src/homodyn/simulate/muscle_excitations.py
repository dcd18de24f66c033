"""Excitations of muscles in simulations: numbers, samples, functions and servos of lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import ModelError
from homodyn.foundation import Record, record, unknown_name
from homodyn.foundation.text import count_of
from homodyn.model import Model
from homodyn.muscle.geometry.tangent_rule import GEODESIC
from homodyn.muscle.path_geometry import traced_geometry
from homodyn.muscle.path_polynomials import PathPolynomials
from homodyn.simulate.actuation import ActuationInput
from homodyn.spatial import Array
from homodyn.symbolic.branch_errors import explain_branches

ExcitationFunction = Callable[[Any, Any, Any, Any], Any]
"""``f(t, q, v, batch)`` over symbols: one excitation, or one per muscle."""


@record
class SampledExcitations(Record):
    """Excitations at sampled times with linear interpolation.

    Before the first and after the last time the nearest sample acts.

    Raises:
        ModelError: Times do not increase, there is not one row per time, or an excitation is not a
            number from 0 to 1.
    """

    time: ArrayLike
    """(samples,), s, increasing."""
    values: ArrayLike
    """(samples, muscles), 0 to 1."""

    def __post_init__(self) -> None:
        time, values = np.array(self.time, float), np.array(self.values, float)
        if time.ndim != 1 or len(time) < 2 or not (np.diff(time) > 0).all():
            raise ModelError("sampled excitations need two or more times, increasing")
        if values.ndim != 2 or len(values) != len(time):
            raise ModelError(
                f"sampled excitations need one row for each of the {len(time)} times, got shape "
                f"{values.shape}"
            )
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "values", values)

    def headline(self) -> str:
        """Shape and duration."""
        time = np.asarray(self.time)
        return (
            f"SampledExcitations: {count_of(len(time), 'sample')} from {time[0]:g} to "
            f"{time[-1]:g} s"
        )

    def at_time(self, t: Array) -> Array:
        """Excitations at a time over symbols.

        Args:
            t: Time, s.

        Returns:
            (muscles,).
        """
        time, values = np.asarray(self.time), np.asarray(self.values)
        total: Array = ca.SX(values[0])
        for k in range(len(time) - 1):
            passed = ca.fmin(ca.fmax(t, time[k]), time[k + 1]) - time[k]
            total = total + passed * ca.SX((values[k + 1] - values[k]) / (time[k + 1] - time[k]))
        return total


@record
class LengthServo(Record):
    """Proportional-derivative servos that hold the lengths of muscles by their excitations.

    The excitation of a muscle is ``base + kp * (length - target) / optimal fiber length + kd *
    speed / largest contraction speed``, from 0 to 1: muscles only pull.
    """

    target: ArrayLike
    """Lengths of the paths, (muscles,), m."""
    kp: float
    """Excitation per optimal fiber length of error."""
    kd: float = 0.0
    """Excitation per largest contraction speed of lengthening."""
    base: float = 0.0
    """Excitation at the target."""
    wrapping: str = GEODESIC
    """``"opensim"`` or ``"geodesic"``; see `homodyn.muscle.lengths`."""
    paths: PathPolynomials | None = None
    """Fitted lengths of `homodyn.muscle.fit_polynomials` instead of the paths."""

    def excitations(self, at: ActuationInput) -> Array:
        """Excitations at a state over symbols.

        Args:
            at: Time and state.

        Returns:
            (muscles,), not limited.

        Raises:
            ModelError: There is not one target per muscle.
        """
        muscles = at.model.muscles
        target = np.asarray(self.target, dtype=float)
        if target.shape != (len(muscles),) or not np.isfinite(target).all():
            raise ModelError(
                f"targets of LengthServo: {len(muscles)} finite lengths are needed, one per "
                f"muscle, got shape {target.shape}"
            )
        optimal = ca.vertcat(*[one.optimal_fiber_length for one in muscles])
        fastest = ca.vertcat(
            *[one.max_contraction_velocity * one.optimal_fiber_length for one in muscles]
        )
        geometry = traced_geometry(at.model, at.q, self.wrapping, self.paths)
        stretch: Array = ca.vertcat(*geometry.lengths) - target
        speed: Array = ca.vertcat(*geometry.speeds(at.v))
        return self.base + self.kp * stretch / optimal + self.kd * speed / fastest


OneExcitation = float | str | ExcitationFunction
"""A number, the name of a batch parameter or signal, or a function over symbols."""

Excitations = (
    ArrayLike
    | Mapping[str, OneExcitation]
    | str
    | ExcitationFunction
    | SampledExcitations
    | LengthServo
)
"""One number for all, one per muscle, some by the name of their muscle (others: 0), the name of a
batch parameter or signal, a function over symbols, samples, or servos."""


def check_excitations(given: Excitations, model: Model) -> None:
    """Refuse numbers that are no excitations.

    Args:
        given: The excitations.
        model: The model.

    Raises:
        ModelError: A number is not finite or outside 0 to 1, or names or sizes do not fit; the
            message names the muscle and, for samples, the time.
    """
    names = [muscle.name for muscle in model.muscles]
    if isinstance(given, SampledExcitations):
        values = np.asarray(given.values)
        if values.shape[1] != len(names):
            raise ModelError(
                f"sampled excitations have {values.shape[1]} columns; model {model.name!r} has "
                f"{len(names)} muscles"
            )
        for row, k in np.argwhere(~((values >= 0) & (values <= 1))):
            moment = f" at {np.asarray(given.time)[row]:g} s (sample {row})"
            raise ModelError(_sentence(names[k], float(values[row, k]), moment))
        return
    if isinstance(given, Mapping):
        for name, value in given.items():
            if name not in names:
                raise ModelError(f"excitations: {unknown_name('muscle', name, names)}")
            if not callable(value) and not isinstance(value, str):
                check_levels([name], [float(value)], "excitation")
        return
    if isinstance(given, (str, LengthServo)) or callable(given):
        return
    check_levels(names, np.asarray(given, dtype=float), "excitation")


def check_levels(names: Sequence[str], given: ArrayLike, what: str) -> np.ndarray:
    """One level per muscle, from one number or one per muscle.

    Args:
        names: Names of the muscles.
        given: A number or one per muscle.
        what: What they are, for messages.

    Raises:
        ModelError: A number is not finite or outside 0 to 1, or sizes do not fit.
    """
    levels = np.asarray(given, dtype=float)
    if levels.shape not in ((), (len(names),)):
        raise ModelError(
            f"{what}s: one number, or one for each of the {len(names)} muscles, is needed; got "
            f"shape {levels.shape}"
        )
    levels = np.broadcast_to(levels, (len(names),))
    for name, level in zip(names, levels, strict=True):
        if not 0 <= level <= 1:
            raise ModelError(_sentence(name, float(level), "", what))
    return levels


def _sentence(name: str, level: float, moment: str, what: str = "excitation") -> str:
    return f"the {what} of muscle {name!r}{moment} is {level:g}; numbers from 0 to 1 are accepted"


def traced_excitations(given: Excitations, at: ActuationInput) -> list[Array]:
    """Excitations of all muscles over symbols, limited to 0 to 1; numbers that are not stay so.

    Args:
        given: The excitations.
        at: Time and state.

    Raises:
        ModelError: A name is unknown, or the number of values does not fit.
    """
    count = len(at.model.muscles)
    if isinstance(given, SampledExcitations):
        values = given.at_time(at.t)
    elif isinstance(given, LengthServo):
        values = given.excitations(at)
    elif isinstance(given, Mapping):
        found = [given.get(muscle.name, 0.0) for muscle in at.model.muscles]
        values = ca.vertcat(*[_single(one, at) for one in found])
    elif isinstance(given, str) or callable(given):
        values = _single(given, at)
        values = ca.repmat(values, count, 1) if values.numel() == 1 else values
    else:
        values = ca.SX(np.broadcast_to(np.asarray(given, dtype=float), (count,)))
    if values.shape != (count, 1):
        raise ModelError(
            f"excitations: {count} values are needed, one per muscle; got {values.shape[0]}"
        )
    # Not fmin and fmax, which would turn NaN into a bound.
    return [ca.if_else(e > 1, 1.0, ca.if_else(e < 0, 0.0, e)) for e in ca.vertsplit(values)]


def _single(given: OneExcitation, at: ActuationInput) -> Array:
    if callable(given):
        with explain_branches("the excitation function"):
            return ca.densify(ca.SX(given(at.t, at.q, at.v, at.batch)))
    if isinstance(given, str):
        if given not in at.batch:
            message = unknown_name("batch parameter or signal", given, at.batch)
            raise ModelError(f"excitations: {message}")
        return ca.SX(at.batch[given])
    return ca.SX(float(given))
