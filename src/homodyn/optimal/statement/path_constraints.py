"""Constraints of a movement: bounds on functions of one time point, or of the first and the last.

`PathConstraint` is the interface: pass a function of your own, directly or with `require`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import casadi as ca
import numpy as np

from homodyn.catalog import mirror_map
from homodyn.catalog.mirror import mirrored_entries
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.optimal.statement.muscle_drive import MUSCLE_STATES
from homodyn.optimal.statement.time_point import TimePoint
from homodyn.spatial import Array, stack

CONE_SMOOTHING_N = 1e-3
"""Rounds off the tip of a friction cone (N), which has no derivative there."""
FRICTION_FACETS = 16
"""Facets of a friction pyramid: at least 98 % of the friction of the cone in every direction."""

AXES = "xyz"

ConstraintPlacement = Literal["path", "inside", "start", "end"]
Tolerance = float | Callable[[Model], float] | None
BoundValue = float | Sequence[float] | np.ndarray
"""One bound for all entries of a value, or one for each."""
FORCE_TOLERANCE_WEIGHTS = 0.1
"""Tolerance of forces between nodes, as a fraction of the weight."""
POSITION_TOLERANCE = 0.02
"""Tolerance of positions between nodes (m, rad)."""
VELOCITY_TOLERANCE = 0.1
"""Tolerance of velocities between nodes (m/s, rad/s)."""


@record
class PathConstraint(Record):
    """``lower <= value <= upper`` along a phase, strictly inside it, at its start or at its end.

    To add a constraint, write a function of a `TimePoint`: it receives symbols and must not branch
    on their values. ``constraint.at("end")`` changes the placement.
    """

    name: str
    """Name in descriptions, violations and messages."""
    value: Callable[[TimePoint], Array]
    """Function of the time point; returns a scalar or a vector."""
    lower: BoundValue = 0.0
    """Lower bound, one for all entries or one per entry."""
    upper: BoundValue = 0.0
    """Upper bound; equal to ``lower`` for an equation."""
    when: ConstraintPlacement = "path"
    """``"path"``, ``"inside"`` (without the boundaries), ``"start"`` or ``"end"``."""
    labels: tuple[str, ...] = ()
    """A name for each entry of the value, such as coordinates."""
    tolerance: Tolerance = None
    """Accepted violation between the nodes, where the transcription does not enforce the
    constraint; a function of the model where it depends on its weight. None: the constraint is not
    verified between the nodes."""

    def headline(self) -> str:
        """Name and placement."""
        return f"PathConstraint {self.name!r} ({self.when})"

    def at(self, when: ConstraintPlacement) -> PathConstraint:
        """The same constraint at another placement.

        Args:
            when: ``"path"``, ``"inside"``, ``"start"`` or ``"end"``.

        Returns:
            A copy of the constraint.
        """
        return replace(self, when=when)


@record
class BoundaryConstraint(Record):
    """``lower <= value(first, last, duration) <= upper`` between both ends of the movement."""

    name: str
    """Name in descriptions, violations and messages."""
    value: Callable[[TimePoint, TimePoint, Array], Array]
    """Function of the first time point, the last one, and the time between them (s)."""
    lower: BoundValue = 0.0
    """Lower bound, one for all entries or one per entry."""
    upper: BoundValue = 0.0
    """Upper bound; equal to ``lower`` for an equation."""
    labels: tuple[str, ...] | Callable[[Model], tuple[str, ...]] = ()
    """A name for each entry of the value, or a function of the model that returns them."""

    def headline(self) -> str:
        """Name of the constraint."""
        return f"BoundaryConstraint {self.name!r}"


def weight_fraction(fraction: float) -> Callable[[Model], float]:
    """A function that returns this fraction of the weight of a model (N)."""

    def force(model: Model) -> float:
        return fraction * model.mass * float(np.linalg.norm(np.asarray(model.gravity, float)))

    return force


def unilateral(*frames: str, tolerance: float = FORCE_TOLERANCE_WEIGHTS) -> PathConstraint:
    """Compressive contact: the vertical ground force on each contact is not negative.

    Args:
        frames: Names of the contacts.
        tolerance: Accepted tensile force between nodes, as a fraction of the weight.

    Returns:
        The constraint.
    """
    return PathConstraint(
        "unilateral force",
        lambda i: stack(*(i.ground_force(frame)[2] for frame in frames)),
        upper=np.inf,
        labels=frames,
        tolerance=weight_fraction(tolerance),
    )


def friction_cone(
    friction: float, *frames: str, tolerance: float = FORCE_TOLERANCE_WEIGHTS
) -> PathConstraint:
    """Coulomb friction: the tangential force is at most ``friction`` times the normal force.

    Args:
        friction: Coefficient of friction.
        frames: Names of the contacts.
        tolerance: Accepted violation between nodes, as a fraction of the weight.

    Returns:
        The constraint.

    Raises:
        HomodynError: The coefficient is negative or not finite.
    """
    _check_friction(friction)

    def margin(time_point: TimePoint, frame: str) -> Array:
        x, y, z = ca.vertsplit(time_point.ground_force(frame))
        return friction * z - ca.sqrt(x**2 + y**2 + CONE_SMOOTHING_N**2) + CONE_SMOOTHING_N

    return PathConstraint(
        "friction cone",
        lambda i: stack(*(margin(i, frame) for frame in frames)),
        upper=np.inf,
        labels=frames,
        tolerance=weight_fraction(tolerance),
    )


def friction_pyramid(
    friction: float,
    *frames: str,
    facets: int = FRICTION_FACETS,
    tolerance: float = FORCE_TOLERANCE_WEIGHTS,
) -> PathConstraint:
    """Coulomb friction, linear in the force: a pyramid inside the friction cone.

    Its edges lie on the cone, so that no force within it needs more friction. A cone has no
    derivative at its tip, where the force of a foot begins and ends; a pyramid has facets there.

    Args:
        friction: Coefficient of friction.
        frames: Names of the contacts, or bodies with contacts.
        facets: Number of facets; four or more, even. Between two edges a force may have at least
            the share ``cos(pi / facets)`` of the friction of the cone.
        tolerance: Accepted violation between nodes, as a fraction of the weight.

    Returns:
        The constraint.

    Raises:
        HomodynError: The coefficient is negative or not finite, or the number of facets is wrong.
    """
    _check_friction(friction)
    if facets < 4 or facets % 2:
        raise HomodynError(f"a friction pyramid has an even number of 4 or more facets: {facets}")
    angles = 2 * np.pi * (np.arange(facets) + 0.5) / facets
    normals = np.column_stack([np.cos(angles), np.sin(angles)])
    slope = friction * np.cos(np.pi / facets)

    def margins(time_point: TimePoint, frame: str) -> Array:
        force = time_point.ground_force(frame)
        return slope * force[2] - ca.mtimes(ca.DM(normals), ca.vertcat(force[0], force[1]))

    return PathConstraint(
        "friction pyramid",
        lambda i: stack(*(margins(i, frame) for frame in frames)),
        upper=np.inf,
        labels=tuple(f"{frame}, facet {k + 1}" for frame in frames for k in range(facets)),
        tolerance=weight_fraction(tolerance),
    )


def _check_friction(friction: float) -> None:
    if not (np.isfinite(friction) and friction >= 0):
        raise HomodynError(f"friction is a number of 0 or more, got {friction!r}")


def height(*frames: str, lower: float = 0.0, upper: float = np.inf) -> PathConstraint:
    """Heights (m) of the lowest points of contacts, or of the origins of frames.

    Args:
        frames: Names of contacts or frames.
        lower: Lowest height (m).
        upper: Greatest height (m).

    Returns:
        The constraint.
    """
    return PathConstraint(
        "height",
        lambda i: stack(*map(i.height, frames)),
        lower,
        upper,
        labels=frames,
        tolerance=POSITION_TOLERANCE,
    )


def velocity(
    frame: str, axes: str = "xyz", *, lower: float = 0.0, upper: float = 0.0
) -> PathConstraint:
    """World velocity of a frame (m/s) along some axes; zero by default.

    Args:
        frame: Name of a frame, marker or contact.
        axes: Axes of the world, such as ``"xz"``.
        lower: Lower bound (m/s).
        upper: Upper bound (m/s).

    Returns:
        The constraint.
    """
    entries = [AXES.index(axis) for axis in axes]
    return PathConstraint(
        f"velocity of {frame}",
        lambda i: stack(*(i.velocity(frame)[k] for k in entries)),
        lower,
        upper,
        labels=tuple(axes),
        tolerance=VELOCITY_TOLERANCE,
    )


def coordinates(values: Mapping[str, float | tuple[float, float]]) -> PathConstraint:
    """Coordinates (rad, m) at these values, or within these ranges.

    Args:
        values: By coordinate name, a value or a pair of bounds.

    Returns:
        The constraint.
    """
    ranges = [v if isinstance(v, tuple) else (v, v) for v in values.values()]
    names = tuple(values)
    return PathConstraint(
        "coordinates",
        lambda i: stack(*map(i.coordinate, names)),
        np.array([low for low, _ in ranges]),
        np.array([high for _, high in ranges]),
        labels=names,
        tolerance=POSITION_TOLERANCE,
    )


def rest() -> PathConstraint:
    """All velocities are zero.

    Returns:
        The constraint.
    """
    return PathConstraint("rest", lambda i: i.v, tolerance=VELOCITY_TOLERANCE)


def periodic(
    *,
    mirrored: bool = False,
    forward: str | None = None,
    speed: str | float | None = None,
    torques: bool = False,
    tolerance: float = 1e-6,
) -> BoundaryConstraint:
    """The state at the end equals that at the start, or its mirror image (Felis 2015, eq. 5.30).

    Args:
        mirrored: Compare with the mirror image.
        forward: Name of the coordinate (m) along which the movement travels. It is left out of the
            comparison, or grows by ``speed`` times the duration.
        speed: Speed (m/s), or the name of a parameter of the problem.
        torques: Whether torques are periodic too.
        tolerance: Accepted asymmetry of the model (m, kg) in the mirror image.

    Returns:
        The constraint.

    Raises:
        HomodynError: The model has quaternions, or a speed is given without ``forward`` (when the
            problem is transcribed).
    """

    def compared_names(model: Model) -> list[str]:
        return [n for n in model.coordinate_names if n != forward]

    def labels(model: Model) -> tuple[str, ...]:
        if model.nq != model.nv:
            raise HomodynError(
                f"periodic(): {model.name!r} has quaternions, whose entries cannot be compared one "
                "by one; write a BoundaryConstraint for it"
            )
        names = [f"{n} position" for n in compared_names(model)]
        names += [f"{forward} travel"] if speed is not None else []
        names += [f"{n} velocity" for n in model.coordinate_names]
        return (*names, *(f"{n} torque" for n in model.coordinate_names if torques))

    def value(first: TimePoint, last: TimePoint, duration: Array) -> Array:
        model = first.model
        q, v, tau = last.q, last.v, last.tau
        if mirrored:
            image = mirror_map(model, tolerance=tolerance)
            q, v, tau = image.position(q), image.velocity(v), image.velocity(tau)
        entries = [model.coordinate_index(n) for n in compared_names(model)]
        parts = [first.q[entries] - q[entries]]
        if speed is not None:
            if forward is None:
                raise HomodynError(
                    "periodic(): a speed needs forward=, the coordinate that travels"
                )
            rate = first.parameter(speed) if isinstance(speed, str) else speed
            along = model.coordinate_index(forward)
            parts.append(first.q[along] + duration * rate - last.q[along])
        parts.append(first.v - v)
        return stack(*parts, *([first.tau - tau] if torques else []))

    return BoundaryConstraint("periodicity", value, labels=labels)


def periodic_muscles(*, mirrored: bool = False) -> BoundaryConstraint:
    """Activations and tendon forces at the end equal those at the start, or their mirror image.

    Args:
        mirrored: Compare with the muscles of the other side, which are found by their names.

    Returns:
        The constraint.
    """

    def value(first: TimePoint, last: TimePoint, duration: Array) -> Array:
        parts = []
        for quantity in MUSCLE_STATES:
            names = first.muscles.drive.variable_names(first.model, quantity)
            order = mirrored_entries(names) if mirrored else list(range(len(names)))
            begin, end = (getattr(one.muscles.variables, quantity) for one in (first, last))
            parts.append(begin - end[order])
        return ca.vertcat(*parts)

    return BoundaryConstraint("periodicity of muscles", value)


def muscle_equilibrium() -> PathConstraint:
    """At the start, activations equal excitations and tendon forces are at rest.

    Without it a solution may begin with activations or stretched tendons that cost nothing.

    Returns:
        The constraint.
    """

    def value(time_point: TimePoint) -> Array:
        muscles = time_point.muscles
        return ca.vertcat(muscles.activation_rate, muscles.variables.tendon_force_rate)

    return PathConstraint("muscle equilibrium", value, when="start")


def step_length(front: str, back: str, length: str | float) -> PathConstraint:
    """``front`` is ahead of ``back`` by a length along x, at the start.

    Args:
        front: Name of the frame in front.
        back: Name of the frame behind.
        length: Length (m), or the name of a parameter of the problem.

    Returns:
        The constraint.
    """

    def value(time_point: TimePoint) -> Array:
        ahead = time_point.position(front)[0] - time_point.position(back)[0]
        return ahead - (time_point.parameter(length) if isinstance(length, str) else length)

    return PathConstraint("step length", value, when="start", labels=(f"{front} to {back}",))


def require(
    name: str,
    value: Callable[[TimePoint], Array],
    *,
    lower: BoundValue = 0.0,
    upper: BoundValue = 0.0,
    labels: Sequence[str] = (),
    tolerance: Tolerance = None,
) -> PathConstraint:
    """A path constraint from any traced function of the time point.

    Args:
        name: Name in descriptions, violations and messages.
        value: Function of the time point; returns a scalar or a vector.
        lower: Lower bound, one for all entries or one per entry.
        upper: Upper bound; equal to ``lower`` for an equation.
        labels: A name for each entry of the value.
        tolerance: Accepted violation between nodes; None does not verify the constraint there.

    Returns:
        The constraint.
    """
    return PathConstraint(name, value, lower, upper, labels=tuple(labels), tolerance=tolerance)
