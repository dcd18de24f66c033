"""Terms of the objective, which are weighted and added.

A term is a function of a `TimePoint`. Its value minus its target is squared and weighted (or only
weighted), then integrated over the phase, evaluated at its start or end, or taken as a rate of
change. `ObjectiveTerm` is the interface: pass a function of your own to add a term.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import casadi as ca
import numpy as np

from homodyn.dynamics import momentum
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.motion.clinical import resolve_coordinate
from homodyn.muscle.metabolic_models import TANH, Bhargava2004, MetabolicModel
from homodyn.optimal.statement.phase_series import PhaseSeries
from homodyn.optimal.statement.time_point import TimePoint
from homodyn.spatial import Array, stack

TermPlacement = Literal["path", "start", "end", "change"]
Scale = float | np.ndarray
"""One factor for all entries of a value, or one for each."""

POWER_SMOOTHING_W = 1.0
"""Within this of zero (W), the absolute value of a power is smoothed to be differentiable."""


@record
class ObjectiveTerm(Record):
    """One part of an objective: ``weight * sum(scale * (value - target)^2)``, or the plain sum.

    To add a term, write a function of a `TimePoint`: it receives symbols and must not branch on
    their values. ``2.0 * term`` changes the weight, ``term.at("end")`` the placement.
    """

    name: str
    """Name in descriptions, results and messages."""
    value: Callable[[TimePoint], Array]
    """Function of the time point; returns a scalar or a vector."""
    weight: float = 1.0
    """Factor of the whole term."""
    squared: bool = True
    """Whether entries are squared before they are added."""
    target: PhaseSeries | None = None
    """Values to stay near to over the phase, one column per entry of the value."""
    scale: Scale = 1.0
    """Factor of each squared entry, or one for all."""
    when: TermPlacement = "path"
    """``"path"`` integrates over the phase (s), ``"start"`` and ``"end"`` evaluate at its
    boundaries, ``"change"`` integrates the rate of change."""

    def headline(self) -> str:
        """Weight, name and placement."""
        return f"ObjectiveTerm {self.weight:g} x {self.name!r} ({self.when})"

    def __rmul__(self, factor: float) -> ObjectiveTerm:
        """The term with its weight multiplied by a number."""
        return replace(self, weight=self.weight * float(factor))

    def at(self, when: TermPlacement) -> ObjectiveTerm:
        """The same term at another placement.

        Args:
            when: ``"path"``, ``"start"``, ``"end"`` or ``"change"``.

        Returns:
            A copy of the term.
        """
        return replace(self, when=when)

    def cost(self, value: Array, target: Array | None = None) -> Array:
        """The weighted cost of a value.

        Args:
            value: What ``value`` returned.
            target: The target there.

        Returns:
            A scalar.
        """
        error = value if target is None else value - target
        return self.weight * ca.sum1(self.scale * (error**2 if self.squared else error))

    def residuals(self, value: Array, target: Array | None = None) -> Array | None:
        """Numbers whose squares add up to the cost.

        Args:
            value: What ``value`` returned.
            target: The target there.

        Returns:
            One number per entry; None where the cost is not a sum of squares.
        """
        factor = self.weight * np.asarray(self.scale, dtype=float)
        if not self.squared or (factor < 0).any():
            return None
        error = value if target is None else value - target
        return np.sqrt(factor) * error


def track(
    name: str, value: Callable[[TimePoint], Array], target: PhaseSeries, *, scale: Scale = 1.0
) -> ObjectiveTerm:
    """Squared deviation of any traced quantity from recorded values.

    Args:
        name: Name of the term.
        value: Function of the time point.
        target: Recorded values over the phase, one column per entry of the value.
        scale: Factor of the squares, one for all or one per entry.

    Returns:
        The term.
    """
    return ObjectiveTerm(name, value, target=target, scale=scale)


def track_coordinates(
    target: PhaseSeries, names: Sequence[str] | None = None, *, scale: Scale = 1.0
) -> ObjectiveTerm:
    """Squared deviation from recorded coordinates (rad, m).

    Args:
        target: Recorded coordinates over the phase.
        names: Names of the coordinates; all entries of q when left out.
        scale: Factor of the squares, one for all or one per entry.

    Returns:
        The term.
    """

    def value(time_point: TimePoint) -> Array:
        return time_point.q if names is None else stack(*map(time_point.coordinate, names))

    return ObjectiveTerm("coordinates", value, target=target, scale=scale)


def track_markers(target: PhaseSeries, names: Sequence[str]) -> ObjectiveTerm:
    """Squared deviation from recorded markers (m).

    Args:
        target: Recorded positions over the phase, three columns per name.
        names: Names of markers, or of other frames.

    Returns:
        The term.
    """
    return ObjectiveTerm("markers", lambda i: stack(*map(i.position, names)), target=target)


def track_force(target: PhaseSeries, *frames: str, scale: Scale = 1.0) -> ObjectiveTerm:
    """Squared deviation from a measured ground force (N).

    Args:
        target: Measured force over the phase, three columns in world axes.
        frames: Contacts, or bodies that carry contacts; all of them when left out.
        scale: Factor of the squares, one for all or one per entry.

    Returns:
        The term.
    """
    name = " ".join(["force", *frames])
    return ObjectiveTerm(name, lambda i: i.ground_force(*frames), target=target, scale=scale)


def torque(scale: Mapping[str, float] | Scale = 1.0) -> ObjectiveTerm:
    """Squared torques (N m, N).

    Args:
        scale: Factors of the squares by coordinate, clinical or OpenSim name, or one factor for
            all.

    Returns:
        The term.

    Raises:
        HomodynError: A coordinate is unknown (when the problem is transcribed).
    """
    if not isinstance(scale, Mapping):
        return ObjectiveTerm("torque", lambda i: i.tau, scale=scale)
    factors = dict(scale)

    def value(time_point: TimePoint) -> Array:
        model = time_point.model
        try:
            own = {resolve_coordinate(model, name).coordinate: f for name, f in factors.items()}
        except HomodynError as error:
            raise HomodynError(f"torque term: {error}") from None
        return np.sqrt([own.get(name, 0.0) for name in model.coordinate_names]) * time_point.tau

    return ObjectiveTerm("torque", value)


def torque_change() -> ObjectiveTerm:
    """Squared rates of torque (N m/s).

    Returns:
        The term.
    """
    return ObjectiveTerm("torque change", lambda i: i.tau, when="change")


def power() -> ObjectiveTerm:
    """Sum of the absolute powers (W) of all torques, smoothed near zero.

    Returns:
        The term.
    """

    def value(time_point: TimePoint) -> Array:
        product = time_point.tau * time_point.v
        return ca.sqrt(product**2 + POWER_SMOOTHING_W**2) - POWER_SMOOTHING_W

    return ObjectiveTerm("power", value, squared=False)


def effort_per_distance(distance: str, scale: Scale = 1.0) -> ObjectiveTerm:
    """Squared torques divided by a distance (Felis 2015, eq. 5.23).

    Args:
        distance: Name of the parameter of the problem that is the distance (m).
        scale: Factor of the squares, one for all or one per coordinate.

    Returns:
        The term.
    """

    def value(time_point: TimePoint) -> Array:
        effort = ca.sum1(scale * time_point.tau**2)
        return effort / (time_point.parameter(distance) * time_point.tau.shape[0])

    return ObjectiveTerm("effort per distance", value, squared=False)


def activation(power: float = 2.0, weights: Mapping[str, float] | None = None) -> ObjectiveTerm:
    """Sum of the activations of all muscles to a power.

    Args:
        power: Power of each activation, 1 or more.
        weights: Factors by muscle, one for all others.

    Returns:
        The term.

    Raises:
        HomodynError: The power is below one, or (when the problem is transcribed) a muscle is
            unknown.
    """
    return _muscle_effort("activation", lambda i: i.muscles.activation, power, weights)


def excitation(power: float = 2.0, weights: Mapping[str, float] | None = None) -> ObjectiveTerm:
    """Sum of the excitations of all muscles to a power.

    Args:
        power: Power of each excitation, 1 or more.
        weights: Factors by muscle, one for all others.

    Returns:
        The term.

    Raises:
        HomodynError: The power is below one, or (when the problem is transcribed) a muscle is
            unknown.
    """
    return _muscle_effort("excitation", lambda i: i.muscles.excitation, power, weights)


def _muscle_effort(
    name: str,
    levels: Callable[[TimePoint], Array],
    power: float,
    weights: Mapping[str, float] | None,
) -> ObjectiveTerm:
    if not power >= 1:
        raise HomodynError(f"{name} term: the power is {power:g}; 1 or more is accepted")

    def value(time_point: TimePoint) -> Array:
        names = [muscle.name for muscle in time_point.model.muscles]
        for muscle in weights or {}:
            if muscle not in names:
                raise HomodynError(f"{name} term: {unknown_name('muscle', muscle, names)}")
        factors = np.array([(weights or {}).get(one, 1.0) for one in names])
        if power == 2:
            return np.sqrt(factors) * levels(time_point)
        return ca.dot(factors, levels(time_point) ** power)

    return ObjectiveTerm(name, value, squared=power == 2)


def metabolic_power(cost: MetabolicModel | None = None) -> ObjectiveTerm:
    """Metabolic power of all muscles over the mass of the body (W/kg), without that at rest.

    Its integral is the metabolic energy of the phase (J/kg).

    Args:
        cost: `homodyn.muscle.Bhargava2004` or ``Umberger2010`` with ``smoothing="tanh"``, whose
            derivatives are continuous, or a model of your own; the former by default.

    Returns:
        The term.
    """
    chosen = Bhargava2004(smoothing=TANH) if cost is None else cost

    def value(time_point: TimePoint) -> Array:
        return ca.sum1(time_point.muscles.metabolic_rates(chosen)) / time_point.model.mass

    return ObjectiveTerm("metabolic power", value, squared=False)


def track_activations(
    target: PhaseSeries, muscles: Sequence[str], *, scale: Scale = 1.0
) -> ObjectiveTerm:
    """Squared deviation from measured activations.

    Args:
        target: Measured activations over the phase, 0 to 1, one column per muscle.
        muscles: Names of the muscles.
        scale: Factor of the squares, one for all or one per muscle.

    Returns:
        The term.

    Raises:
        HomodynError: A muscle is unknown (when the problem is transcribed).
    """

    def value(time_point: TimePoint) -> Array:
        names = [muscle.name for muscle in time_point.model.muscles]
        for muscle in muscles:
            if muscle not in names:
                raise HomodynError(f"activations: {unknown_name('muscle', muscle, names)}")
        return time_point.muscles.activation[[names.index(muscle) for muscle in muscles]]

    return ObjectiveTerm("activations", value, target=target, scale=scale)


def contact_force() -> ObjectiveTerm:
    """Squared contact forces as fractions of the weight: makes redundant forces unique.

    Returns:
        The term.
    """
    return ObjectiveTerm("contact force", lambda i: i.force / model_weight(i))


def acceleration() -> ObjectiveTerm:
    """Squared accelerations of all coordinates.

    Returns:
        The term.
    """
    return ObjectiveTerm("acceleration", lambda i: i.a)


def angular_momentum() -> ObjectiveTerm:
    """Squared angular momentum about the center of mass (kg m2/s).

    Returns:
        The term.
    """
    return ObjectiveTerm("angular momentum", lambda i: momentum(i.model, i.q, i.v)[:3])


def head_stabilization(frame: str = "Head") -> ObjectiveTerm:
    """Squared angular velocity of the head in the world (rad/s).

    Args:
        frame: Name of the head.

    Returns:
        The term.
    """
    return ObjectiveTerm("head", lambda i: i.angular_velocity(frame))


def time() -> ObjectiveTerm:
    """Duration of the phase (s).

    Returns:
        The term.
    """
    return ObjectiveTerm("time", lambda i: i.duration, squared=False, when="end")


def model_weight(time_point: TimePoint) -> float:
    """Weight of the model (N)."""
    gravity = float(np.linalg.norm(np.asarray(time_point.model.gravity, dtype=float)))
    return time_point.model.mass * (gravity or 1.0)
