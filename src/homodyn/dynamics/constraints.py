"""Constraints between frames, or between a frame and the world: contacts, rolling, closed loops.

Every constraint is a list of scalar rows. A row forbids one motion of a frame relative to another
(the world by default): the velocity of a point along a direction, the angular velocity about a
direction, or a sum of both. Directions are fixed in the other frame, the constraint subspace T of
Kieboom 2014, eq. 2.76-2.80. Constraints add up: ``heel + toes`` is the set of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.model import WORLD

__all__ = [
    "Constraint",
    "ConstraintRow",
    "ConstraintSet",
    "Stabilization",
    "row_names",
]

Vector = tuple[float, float, float]
VectorInput: TypeAlias = Sequence[float] | np.ndarray
"""Three numbers; constraints convert them to a tuple."""
MatrixInput: TypeAlias = Sequence[Sequence[float]] | np.ndarray
"""A 3 x 3 rotation matrix; constraints convert it to nested tuples."""
Directions: TypeAlias = str | Sequence[VectorInput]
"""Letters out of "xyz", or unit vectors."""

ORIGIN: Vector = (0.0, 0.0, 0.0)
X: Vector = (1.0, 0.0, 0.0)
Y: Vector = (0.0, 1.0, 0.0)
Z: Vector = (0.0, 0.0, 1.0)
AXES = {"x": X, "y": Y, "z": Z}
IDENTITY_ATTITUDE = (X, Y, Z)


@record(eq=True)
class Stabilization(Record):
    """Baumgarte stabilization: rows obey ``g'' + damping g' + stiffness g = 0`` instead of g'' = 0.

    Both gains act on the errors themselves, so they do not depend on masses. The error of a row
    behaves like an oscillator of natural frequency sqrt(stiffness) (rad/s) and damping ratio
    damping / (2 sqrt(stiffness)).
    """

    stiffness: float
    """1/s2."""
    damping: float
    """1/s."""

    @staticmethod
    def oscillator(frequency: float, ratio: float = 1.0) -> Stabilization:
        """Gains of an oscillator.

        Args:
            frequency: Natural frequency, rad/s.
            ratio: Damping ratio; 1 is critical damping.

        Returns:
            The stabilization.
        """
        return Stabilization(frequency**2, 2 * ratio * frequency)


@dataclass(frozen=True)
class ConstraintRow:
    """One scalar constraint: ``slide . v + turn . w = 0`` for the motion of ``frame`` in ``other``.

    v is the velocity of ``point`` (m, axes of ``frame``) and w the angular velocity, both relative
    to ``other`` and in its axes. Next to a ``slide``, ``turn`` is in meters; it is multiplied by
    ``radius``: a number (m), or the name of a spherical contact of the model.

    ``measure`` is the kind of position error: "place" (of the point, along ``slide``, from
    ``anchor``), "height" (the same above the ``radius`` of a sphere), "axis" (tilt away from
    ``axis``), "attitude" (rotation away from ``attitude``), or "none" for rows that exist only for
    velocities. ``has_anchor`` says that ``anchor`` and ``attitude`` are not just defaults; only
    then can the row be stabilized. ``centripetal`` rows treat the rolling contact point as fixed in
    the body.
    """

    name: str
    frame: str
    other: str = WORLD
    point: Vector = ORIGIN
    slide: Vector = ORIGIN
    turn: Vector = ORIGIN
    radius: float | str = 1.0
    measure: str = "place"
    anchor: Vector = ORIGIN
    axis: Vector = Z
    attitude: tuple[Vector, Vector, Vector] = IDENTITY_ATTITUDE
    centripetal: bool = False
    has_anchor: bool = False
    stabilization: Stabilization | None = None

    @property
    def content(self) -> ConstraintRow:
        """The row without its name; rows of equal content are merged."""
        return replace(self, name="")


class Constraint(Record):
    """Base of all constraints: scalar rows that add up with ``+``.

    Subclasses are records that are compared by value, ``@record(eq=True)``, and define ``rows``.
    They must be hashable: constraints select kernels.
    """

    @property
    def rows(self) -> tuple[ConstraintRow, ...]:
        """The scalar constraints, in order."""
        raise NotImplementedError

    def __add__(self, other: Constraint) -> ConstraintSet:
        return ConstraintSet((self, other))

    def __len__(self) -> int:
        return len(self.rows)


@record
class ConstraintSet(Constraint):
    """Constraints that act together, as in double support; equal rows count once.

    Sets are equal, and hash equally, when their rows are equal in content, names and order.

    Args:
        constraints: The constraints; sets among them are flattened.
    """

    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        flat: dict[Constraint, None] = {}
        for constraint in self.constraints:
            inner = (
                constraint.constraints if isinstance(constraint, ConstraintSet) else (constraint,)
            )
            flat.update(dict.fromkeys(inner))
        object.__setattr__(self, "constraints", tuple(flat))

    @cached_property
    def rows(self) -> tuple[ConstraintRow, ...]:
        """All rows in order, without repetitions."""
        unique: dict[ConstraintRow, ConstraintRow] = {}
        for constraint in self.constraints:
            for row in constraint.rows:
                unique.setdefault(row.content, row)
        return tuple(unique.values())

    def with_stabilization(self, stabilization: Stabilization | None) -> ConstraintSet:
        """The same set with one stabilization for all constraints.

        Args:
            stabilization: The gains; None removes stabilization.

        Returns:
            A new set.
        """
        parts: tuple[Any, ...] = self.constraints
        changed = [replace(part, stabilization=stabilization) for part in parts]
        return ConstraintSet(tuple(changed))

    @cached_property
    def _hash(self) -> int:
        return hash(self.rows)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstraintSet) and self.rows == other.rows

    def __repr__(self) -> str:
        kinds = ", ".join(type(constraint).__name__ for constraint in self.constraints[:6])
        more = ", ..." if len(self.constraints) > 6 else ""
        return (
            f"ConstraintSet: {count_of(len(self.rows), 'row')} of {kinds or 'no constraint'}{more}"
        )


def row_names(constraints: Constraint) -> tuple[str, ...]:
    """Names of the rows.

    Args:
        constraints: One constraint or a set of them.

    Returns:
        One name per row, in the order of constraint forces and Jacobian rows.
    """
    return tuple(row.name for row in constraints.rows)


def unit_vector(direction: Any, what: str) -> Vector:
    """A direction as three floats; only unit vectors are accepted."""
    values = np.asarray(AXES.get(direction, direction) if isinstance(direction, str) else direction)
    if values.shape != (3,) or not abs(np.linalg.norm(values) - 1) < 1e-9:
        raise ModelError(
            f"{what} must be a unit vector of 3 numbers or one of x, y, z: {direction}"
        )
    return vector(values)


def named_directions(directions: Any) -> list[tuple[str, Vector]]:
    """Directions with a letter or number each."""
    if isinstance(directions, str):
        return [(letter, AXES[letter]) for letter in directions]
    known = {axis: letter for letter, axis in AXES.items()}
    return [(known.get(d, str(k + 1)), d) for k, d in enumerate(directions)]


def tangent_vectors(normal: np.ndarray) -> tuple[Vector, Vector]:
    """Two unit vectors that make a right-handed frame with a unit normal."""
    seed = np.eye(3)[np.argmin(np.abs(normal))]
    first = np.cross(seed, normal)
    first = first / np.linalg.norm(first)
    return vector(first), vector(np.cross(normal, first))


def pair_name(frame: str, other: str) -> str:
    """Default name of a constraint between two frames."""
    return frame if other == WORLD else f"{frame}-{other}"


def position_rows(
    constraint: Any, label: str, other: str, directions: Iterable[tuple[str, Vector]], anchor: Any
) -> tuple[ConstraintRow, ...]:
    """Rows that fix a point along directions of the other frame."""
    common = common_fields(constraint, other)
    return tuple(
        ConstraintRow(f"{label} {letter}", slide=direction, anchor=anchor or ORIGIN, **common)
        for letter, direction in directions
    )


def tilt_rows(constraint: Any, label: str, other: str, axis: Vector) -> tuple[ConstraintRow, ...]:
    """Rows that forbid the two rotations that would tilt an axis of the other frame."""
    common = common_fields(constraint, other)
    known = [(letter, d) for letter, d in AXES.items() if d != axis]
    chosen = known if len(known) == 2 else named_directions(tangent_vectors(np.array(axis)))
    return tuple(
        ConstraintRow(f"{label} tilt {letter}", turn=turn, measure="axis", axis=axis, **common)
        for letter, turn in chosen
    )


def common_fields(constraint: Any, other: str) -> dict[str, Any]:
    """Fields that all rows of a constraint share."""
    return {
        "frame": constraint.frame,
        "other": other,
        "point": constraint.point,
        "attitude": getattr(constraint, "attitude", IDENTITY_ATTITUDE),
        "has_anchor": constraint.anchor is not None or other != WORLD,
        "stabilization": constraint.stabilization,
    }


def normalize_fields(constraint: Any, *names: str) -> None:
    """Convert array fields to tuples of floats, so that constraints hash by content."""
    for name in names:
        value = getattr(constraint, name)
        if value is None:
            continue
        shape = (3, 3) if name == "attitude" else (3,)
        array = np.asarray(value, dtype=float)
        if array.shape != shape or not np.isfinite(array).all():
            raise ModelError(
                f"{name} of {type(constraint).__name__} on {constraint.frame!r} must be finite "
                f"numbers of shape {shape}, got {value!r}"
            )
        normalized = vector(array) if shape == (3,) else tuple(vector(row) for row in array)
        object.__setattr__(constraint, name, normalized)


def vector(values: Any) -> Vector:
    """Three floats without negative zeros."""
    x, y, z = (float(value) + 0.0 for value in values)
    return x, y, z
