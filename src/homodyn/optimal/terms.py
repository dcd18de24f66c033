"""What a movement should be good at: terms of an objective that scale and add.

A term is a function of an `Instant`. Its value, less its target, is squared and weighted (or taken
as it is), then integrated over the phase, taken at its start or end, or taken as a rate of change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import casadi as ca
import numpy as np

from homodyn.dynamics import momentum
from homodyn.errors import HomodynError
from homodyn.optimal.instant import Instant
from homodyn.optimal.samples import Series
from homodyn.spatial import Array, stack

When = Literal["path", "start", "end", "change"]

SMOOTH_POWER = 1.0
"""W: within this of zero, the size of a power is rounded off so that it has a derivative."""


@dataclass(frozen=True, eq=False)
class Term:
    """One part of an objective: ``weight * sum(scale * (value - target)^2)``, or the plain sum."""

    name: str
    value: Callable[[Instant], Array]
    weight: float = 1.0
    squared: bool = True
    target: Series | None = None
    scale: Any = 1.0
    when: When = "path"

    def __rmul__(self, factor: float) -> Term:
        return replace(self, weight=self.weight * float(factor))

    def at(self, when: When) -> Term:
        """The same at the start or end of the phase, over all of it, or of its rate of change."""
        return replace(self, when=when)

    def cost(self, value: Array, target: Array | None = None) -> Array:
        """The weighted number that values stand for."""
        off = value if target is None else value - target
        return self.weight * ca.sum1(self.scale * (off**2 if self.squared else off))

    def roots(self, value: Array, target: Array | None = None) -> Array | None:
        """Numbers whose squares add up to the cost; None where it is no such sum."""
        factor = self.weight * np.asarray(self.scale, dtype=float)
        if not self.squared or (factor < 0).any():
            return None
        off = value if target is None else value - target
        return np.sqrt(factor) * off


def track(
    name: str, value: Callable[[Instant], Array], target: Series, *, scale: Any = 1.0
) -> Term:
    """Stay near recorded values of any traced quantity."""
    return Term(name, value, target=target, scale=scale)


def track_coordinates(
    target: Series, names: Sequence[str] | None = None, *, scale: Any = 1.0
) -> Term:
    """Stay near recorded coordinates (rad, m): those named, or all entries of q."""

    def value(instant: Instant) -> Array:
        return instant.q if names is None else stack(*map(instant.coordinate, names))

    return Term("coordinates", value, target=target, scale=scale)


def track_markers(target: Series, names: Sequence[str]) -> Term:
    """Stay near recorded markers (m); ``target`` has three columns for each name."""
    return Term("markers", lambda i: stack(*map(i.position, names)), target=target)


def track_force(target: Series, *frames: str, scale: Any = 1.0) -> Term:
    """Stay near a measured ground force (N, three columns) on contacts or bodies."""
    name = " ".join(["force", *frames])
    return Term(name, lambda i: i.ground_force(*frames), target=target, scale=scale)


def torque(scale: Mapping[str, float] | Any = 1.0) -> Term:
    """Squared torques; ``scale`` multiplies them by coordinate name, or is one for all."""
    if not isinstance(scale, Mapping):
        return Term("torque", lambda i: i.tau, scale=scale)
    factors = dict(scale)

    def value(instant: Instant) -> Array:
        names = instant.model.coordinate_names
        unknown = set(factors) - set(names)
        if unknown:
            raise HomodynError(
                f"torque term: {instant.model.name!r} has no coordinate {', '.join(unknown)}"
            )
        return np.sqrt([factors.get(name, 0.0) for name in names]) * instant.tau

    return Term("torque", value)


def torque_change() -> Term:
    """Squared rates of torque (N m/s)."""
    return Term("torque change", lambda i: i.tau, when="change")


def power() -> Term:
    """The sizes of the powers (W) of all torques, added up."""

    def value(instant: Instant) -> Array:
        return ca.sqrt((instant.tau * instant.v) ** 2 + SMOOTH_POWER**2) - SMOOTH_POWER

    return Term("power", value, squared=False)


def effort_per_distance(distance: str, scale: Any = 1.0) -> Term:
    """Squared torques over a parameter of the problem that is a distance (Felis 2015, eq. 5.23)."""

    def value(instant: Instant) -> Array:
        effort = ca.sum1(scale * instant.tau**2)
        return effort / (instant.parameter(distance) * instant.tau.shape[0])

    return Term("effort per distance", value, squared=False)


def contact_force() -> Term:
    """Squared contact forces in parts of the weight: settles which of many shares is taken."""
    return Term("contact force", lambda i: i.force / weight_of(i))


def acceleration() -> Term:
    """Squared accelerations of all coordinates."""
    return Term("acceleration", lambda i: i.a)


def angular_momentum() -> Term:
    """Squared angular momentum about the centre of mass (kg m2/s)."""
    return Term("angular momentum", lambda i: momentum(i.model, i.q, i.v)[:3])


def head_stabilisation(frame: str = "Head") -> Term:
    """Squared angular velocity of the head in the world (rad/s)."""
    return Term("head", lambda i: i.angular_velocity(frame))


def time() -> Term:
    """The duration of the phase (s)."""
    return Term("time", lambda i: i.duration, squared=False, when="end")


def weight_of(instant: Instant) -> float:
    """The weight of the model (N)."""
    gravity = float(np.linalg.norm(np.asarray(instant.model.gravity, dtype=float)))
    return instant.model.mass * (gravity or 1.0)
