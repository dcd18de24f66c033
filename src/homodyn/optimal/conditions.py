"""What a movement must obey: bounds on functions of one instant, and links between two."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import casadi as ca
import numpy as np

from homodyn.catalog import mirror_map
from homodyn.errors import HomodynError
from homodyn.model import Model
from homodyn.optimal.instant import Instant
from homodyn.spatial import Array, stack

SLIPPING = 1e-3
"""N: rounds off the tip of a friction cone, which has no derivative there."""

AXES = "xyz"

Place = Literal["path", "inside", "start", "end"]
Slack = float | Callable[[Model], float] | None
PULL = 0.1
"""Part of the weight by which forces may be missed between nodes, unless told otherwise."""
AWAY = 0.02
"""m, rad: the same for places."""
QUICK = 0.1
"""m/s, rad/s: the same for velocities."""


@dataclass(frozen=True, eq=False)
class Condition:
    """``lower <= value <= upper`` along a phase, strictly inside it, at its start or at its end."""

    name: str
    value: Callable[[Instant], Array]
    lower: Any = 0.0
    upper: Any = 0.0
    when: Place = "path"
    labels: tuple[str, ...] = ()
    """A name for each entry of the value, such as coordinates."""
    slack: Slack = None
    """By how much it may be missed between nodes, which must not happen at them; a function of the
    model where that depends on its weight. Without it nobody looks there."""

    def at(self, when: Place) -> Condition:
        """The same at the start or end of the phase, inside it, or along all of it."""
        return replace(self, when=when)


@dataclass(frozen=True, eq=False)
class Link:
    """``lower <= value(first, last) <= upper``: first instant of the movement and its last.

    ``labels`` may be a function of the model.
    """

    name: str
    value: Callable[[Instant, Instant, Array], Array]
    """Of the first instant, the last, and the time between them (s)."""
    lower: Any = 0.0
    upper: Any = 0.0
    labels: tuple[str, ...] | Callable[[Model], tuple[str, ...]] = field(default=())


def parts_of_weight(part: float) -> Callable[[Model], float]:
    """That part of the weight of a model (N)."""
    return lambda model: part * model.mass * float(np.linalg.norm(np.asarray(model.gravity, float)))


def unilateral(*frames: str, pull: float = PULL) -> Condition:
    """The ground pushes up and never pulls, on each of the contacts.

    Between nodes it may pull by at most ``pull`` of the weight.
    """
    return Condition(
        "unilateral force",
        lambda i: stack(*(i.ground_force(frame)[2] for frame in frames)),
        upper=np.inf,
        labels=frames,
        slack=parts_of_weight(pull),
    )


def friction_cone(friction: float, *frames: str, pull: float = PULL) -> Condition:
    """The force along the ground is at most ``friction`` times the one upwards, on each contact.

    Between nodes it may be ``pull`` of the weight more.
    """
    if not (np.isfinite(friction) and friction >= 0):
        raise HomodynError(f"friction is a number of 0 or more, got {friction!r}")

    def room(instant: Instant, frame: str) -> Array:
        x, y, z = ca.vertsplit(instant.ground_force(frame))
        return friction * z - ca.sqrt(x**2 + y**2 + SLIPPING**2) + SLIPPING

    return Condition(
        "friction cone",
        lambda i: stack(*(room(i, frame) for frame in frames)),
        upper=np.inf,
        labels=frames,
        slack=parts_of_weight(pull),
    )


def height(*frames: str, lower: float = 0.0, upper: float = np.inf) -> Condition:
    """Lowest points of contacts, or origins of frames, within these heights (m)."""
    return Condition(
        "height", lambda i: stack(*map(i.height, frames)), lower, upper, labels=frames, slack=AWAY
    )


def velocity(frame: str, axes: str = "xyz", *, lower: float = 0.0, upper: float = 0.0) -> Condition:
    """World velocity of a frame (m/s) along some axes; at rest unless told otherwise."""
    places = [AXES.index(axis) for axis in axes]
    return Condition(
        f"velocity of {frame}",
        lambda i: stack(*(i.velocity(frame)[k] for k in places)),
        lower,
        upper,
        labels=tuple(axes),
        slack=QUICK,
    )


def coordinates(values: Mapping[str, float | tuple[float, float]]) -> Condition:
    """Coordinates (rad, m) at these values, or within these ranges."""
    ranges = [v if isinstance(v, tuple) else (v, v) for v in values.values()]
    names = tuple(values)
    return Condition(
        "coordinates",
        lambda i: stack(*map(i.coordinate, names)),
        np.array([low for low, _ in ranges]),
        np.array([high for _, high in ranges]),
        labels=names,
        slack=AWAY,
    )


def rest() -> Condition:
    """No coordinate moves."""
    return Condition("rest", lambda i: i.v, slack=QUICK)


def periodic(
    *,
    mirrored: bool = False,
    forward: str | None = None,
    speed: str | float | None = None,
    torques: bool = False,
    tolerance: float = 1e-6,
) -> Link:
    """The end is the start again, or its mirror image (Felis 2015, eq. 5.30 to 5.34).

    ``forward`` names the coordinate (m) along which the movement travels: it is left out of the
    comparison, or grows by ``speed`` (m/s, or a parameter of the problem) times the duration.
    """

    def compared(model: Model) -> list[str]:
        return [n for n in model.coordinate_names if n != forward]

    def labels(model: Model) -> tuple[str, ...]:
        if model.nq != model.nv:
            raise HomodynError(
                f"periodic(): {model.name!r} has quaternions, whose entries are compared one by "
                "one only in models without them; write a Link of your own"
            )
        names = [f"{n} position" for n in compared(model)]
        names += [f"{forward} travel"] if speed is not None else []
        names += [f"{n} velocity" for n in model.coordinate_names]
        return (*names, *(f"{n} torque" for n in model.coordinate_names if torques))

    def value(first: Instant, last: Instant, between: Array) -> Array:
        model = first.model
        q, v, tau = last.q, last.v, last.tau
        if mirrored:
            image = mirror_map(model, tolerance=tolerance)
            q, v, tau = image.position(q), image.velocity(v), image.velocity(tau)
        kept = [model.coordinate_index(n) for n in compared(model)]
        parts = [first.q[kept] - q[kept]]
        if speed is not None:
            if forward is None:
                raise HomodynError("periodic(): a speed needs the coordinate that goes forward")
            rate = first.parameter(speed) if isinstance(speed, str) else speed
            along = model.coordinate_index(forward)
            parts.append(first.q[along] + between * rate - last.q[along])
        parts.append(first.v - v)
        return stack(*parts, *([first.tau - tau] if torques else []))

    return Link("periodicity", value, labels=labels)


def step_length(front: str, back: str, length: str | float) -> Condition:
    """``front`` is ahead of ``back`` by a length (m), or a parameter, at the start."""

    def value(instant: Instant) -> Array:
        ahead = instant.position(front)[0] - instant.position(back)[0]
        return ahead - (instant.parameter(length) if isinstance(length, str) else length)

    return Condition("step length", value, when="start", labels=(f"{front} to {back}",))


def require(
    name: str,
    value: Callable[[Instant], Array],
    *,
    lower: Any = 0.0,
    upper: Any = 0.0,
    labels: Sequence[str] = (),
    slack: Slack = None,
) -> Condition:
    """Any traced function of the instant, kept within bounds.

    ``slack`` tells by how much it may be missed between nodes; without it nobody looks there.
    """
    return Condition(name, value, lower, upper, labels=tuple(labels), slack=slack)
