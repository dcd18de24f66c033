"""Joints that close loops: between two frames of the tree, or from a frame to the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from homodyn.dynamics.constraints import (
    AXES,
    IDENTITY_ATTITUDE,
    ORIGIN,
    Constraint,
    ConstraintRow,
    Stabilization,
    Y,
    common_fields,
    named_directions,
    normalize_fields,
    pair_name,
    position_rows,
    tilt_rows,
    unit_vector,
)
from homodyn.model import WORLD


@dataclass(frozen=True)
class Pin(Constraint):
    """A point of a frame held at a point of another: a ball joint that closes a loop, 3 rows.

    ``anchor`` (m, axes of ``other``) is the place where ``point`` is held: by default the origin of
    ``other``, or, when that is the world, wherever the point is.
    """

    frame: str
    other: str = WORLD
    point: Any = ORIGIN
    anchor: Any = None
    name: str = ""
    stabilization: Stabilization | None = None

    def __post_init__(self) -> None:
        normalize_fields(self, "point", "anchor")

    @property
    def rows(self) -> tuple[ConstraintRow, ...]:
        """The place of the point along each axis of the other frame."""
        label = self.name or pair_name(self.frame, self.other)
        return position_rows(self, label, self.other, named_directions("xyz"), self.anchor)


@dataclass(frozen=True)
class Hinge(Constraint):
    """A loop closed by a hinge about ``axis`` (fixed in ``other``): 5 rows, T = S^perp.

    ``attitude`` is the rotation matrix of ``frame`` in ``other`` (columns: axes of ``frame``) at
    some closed pose, so that the axis in ``frame`` is known; by default both axes share their
    coordinates.
    """

    frame: str
    other: str = WORLD
    axis: Any = Y
    point: Any = ORIGIN
    anchor: Any = None
    attitude: Any = IDENTITY_ATTITUDE
    name: str = ""
    stabilization: Stabilization | None = None

    def __post_init__(self) -> None:
        normalize_fields(self, "point", "anchor", "attitude")
        object.__setattr__(self, "axis", unit_vector(self.axis, f"axis of {self.frame!r}"))

    @property
    def rows(self) -> tuple[ConstraintRow, ...]:
        """The place of the point, and the two turns that tilt the axis."""
        label = self.name or pair_name(self.frame, self.other)
        places = position_rows(self, label, self.other, named_directions("xyz"), self.anchor)
        return (*places, *tilt_rows(self, label, self.other, self.axis))


@dataclass(frozen=True)
class Weld(Constraint):
    """A frame held rigidly in another: 6 rows.

    ``attitude`` is the rotation matrix of ``frame`` in ``other`` that is held.
    """

    frame: str
    other: str = WORLD
    point: Any = ORIGIN
    anchor: Any = None
    attitude: Any = IDENTITY_ATTITUDE
    name: str = ""
    stabilization: Stabilization | None = None

    def __post_init__(self) -> None:
        normalize_fields(self, "point", "anchor", "attitude")

    @property
    def rows(self) -> tuple[ConstraintRow, ...]:
        """The place of the point and the turns about all axes of the other frame."""
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
