"""Joints that close kinematic loops: between two frames, or between a frame and the world."""

from __future__ import annotations

from typing import Any

from homodyn.dynamics.constraints import (
    AXES,
    IDENTITY_ATTITUDE,
    ORIGIN,
    Constraint,
    ConstraintRow,
    Directions,
    MatrixInput,
    Stabilization,
    VectorInput,
    Y,
    common_fields,
    named_directions,
    normalize_fields,
    pair_name,
    position_rows,
    tilt_rows,
    unit_vector,
)
from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.model import WORLD


@record(eq=True)
class Pin(Constraint):
    """A ball joint that closes a loop: a point of a frame fixed in another frame, 3 rows.

    With ``directions="xz"`` it is a planar pin of 2 rows: loops that move in a plane anyway need no
    third one, which would be redundant.

    Args:
        frame: Name of a body, frame, marker or contact.
        other: The frame it is fixed in; the world by default.
        point: The point, m, axes of ``frame``.
        anchor: Where the point is fixed, m, axes of ``other``: by default its origin, or the
            present place of the point when that is the world.
        name: Prefix of the names of the rows.
        stabilization: Baumgarte stabilization of the rows.
        directions: Directions along which the point is fixed, in the axes of ``other``: letters out
            of "xyz", or unit vectors.

    Raises:
        ModelError: Numbers are not finite, or directions are no unit vectors.
    """

    frame: str
    other: str = WORLD
    point: VectorInput = ORIGIN
    anchor: VectorInput | None = None
    name: str = ""
    stabilization: Stabilization | None = None
    directions: Directions = "xyz"

    def __post_init__(self) -> None:
        normalize_fields(self, "point", "anchor")
        if isinstance(self.directions, str):
            if not self.directions or set(self.directions) - set("xyz"):
                raise ModelError(
                    f"directions of Pin on {self.frame!r} are letters out of 'xyz', or unit "
                    f"vectors; got {self.directions!r}"
                )
        else:
            vectors = tuple(unit_vector(one, "a direction of Pin") for one in self.directions)
            object.__setattr__(self, "directions", vectors)

    @property
    def rows(self) -> tuple[ConstraintRow, ...]:
        """The position of the point along each direction, in axes of the other frame."""
        label = self.name or pair_name(self.frame, self.other)
        directions = named_directions(self.directions)
        return position_rows(self, label, self.other, directions, self.anchor)


@record(eq=True)
class Hinge(Constraint):
    """A hinge that closes a loop: 5 rows, T = S^perp.

    Args:
        frame: Name of a body, frame, marker or contact.
        other: The frame it is fixed in; the world by default.
        axis: Axis of the hinge, fixed in ``other``: a unit vector, or "x", "y" or "z".
        point: A point on the axis, m, axes of ``frame``.
        anchor: Where the point is fixed, m, axes of ``other``.
        attitude: Rotation matrix of ``frame`` in ``other`` (columns: axes of ``frame``) at some
            closed pose; it defines the axis in ``frame``.
        name: Prefix of the names of the rows.
        stabilization: Baumgarte stabilization of the rows.

    Raises:
        ModelError: The axis is not a unit vector, or numbers are not finite.
    """

    frame: str
    other: str = WORLD
    axis: VectorInput | str = Y
    point: VectorInput = ORIGIN
    anchor: VectorInput | None = None
    attitude: MatrixInput = IDENTITY_ATTITUDE
    name: str = ""
    stabilization: Stabilization | None = None

    def __post_init__(self) -> None:
        normalize_fields(self, "point", "anchor", "attitude")
        object.__setattr__(self, "axis", unit_vector(self.axis, f"axis of {self.frame!r}"))

    @property
    def rows(self) -> tuple[ConstraintRow, ...]:
        """The position of the point, and the two rotations that tilt the axis."""
        label = self.name or pair_name(self.frame, self.other)
        places = position_rows(self, label, self.other, named_directions("xyz"), self.anchor)
        axis: Any = self.axis
        return (*places, *tilt_rows(self, label, self.other, axis))


@record(eq=True)
class Weld(Constraint):
    """A frame fixed rigidly in another: 6 rows.

    Args:
        frame: Name of a body, frame, marker or contact.
        other: The frame it is fixed in; the world by default.
        point: The point that is fixed, m, axes of ``frame``.
        anchor: Where the point is fixed, m, axes of ``other``.
        attitude: Rotation matrix of ``frame`` in ``other`` that is fixed.
        name: Prefix of the names of the rows.
        stabilization: Baumgarte stabilization of the rows.

    Raises:
        ModelError: Numbers are not finite.
    """

    frame: str
    other: str = WORLD
    point: VectorInput = ORIGIN
    anchor: VectorInput | None = None
    attitude: MatrixInput = IDENTITY_ATTITUDE
    name: str = ""
    stabilization: Stabilization | None = None

    def __post_init__(self) -> None:
        normalize_fields(self, "point", "anchor", "attitude")

    @property
    def rows(self) -> tuple[ConstraintRow, ...]:
        """The position of the point and the rotations about all axes of the other frame."""
        label = self.name or pair_name(self.frame, self.other)
        places = position_rows(self, label, self.other, named_directions("xyz"), self.anchor)
        turns = [
            ConstraintRow(
                f"{label} turn {letter}",
                turn=axis,
                measure="attitude",
                **common_fields(self, self.other),
            )
            for letter, axis in AXES.items()
        ]
        return (*places, *turns)
