"""What holds bodies to the world or to each other, as records: contacts, rolling, closed loops.

Every constraint is a list of scalar rows. A row forbids one motion of a frame as seen from another
(the world, unless told): the velocity of a point along a direction, the turning rate about a
direction, or a sum of both. Directions are fixed in the other frame, the constraint subspace T of
Kieboom 2014, eq. 2.76-2.80. Constraints add up: ``heel + toes`` is the set of both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from homodyn.errors import ModelError
from homodyn.model import WORLD

Vector = tuple[float, float, float]

ORIGIN: Vector = (0.0, 0.0, 0.0)
X: Vector = (1.0, 0.0, 0.0)
Y: Vector = (0.0, 1.0, 0.0)
Z: Vector = (0.0, 0.0, 1.0)
AXES = {"x": X, "y": Y, "z": Z}
ALIGNED = (X, Y, Z)


@dataclass(frozen=True)
class Stabilization:
    """Baumgarte's remedy for drift: rows obey ``g'' + damping g' + stiffness g = 0``, not g'' = 0.

    ``stiffness`` in 1/s2 and ``damping`` in 1/s act on the errors themselves, so they do not depend
    on masses. The error of a row then behaves like an oscillator of natural frequency
    sqrt(stiffness) (rad/s) and damping ratio damping / (2 sqrt(stiffness)).
    """

    stiffness: float
    damping: float

    @staticmethod
    def oscillator(frequency: float, ratio: float = 1.0) -> Stabilization:
        """Gains from the natural frequency (rad/s) and damping ratio (1: fastest without swing)."""
        return Stabilization(frequency**2, 2 * ratio * frequency)


@dataclass(frozen=True)
class Row:
    """One scalar constraint: ``slide . v + turn . w = 0`` for the motion of ``frame`` in ``other``.

    v is the velocity of ``point`` (m, axes of ``frame``) and w the angular velocity, both relative
    to ``other`` and in its axes. ``turn`` is in metres where it stands beside a ``slide``; it is
    multiplied by ``radius``: a number (m), or the name of a spherical contact of the model.

    ``measure`` tells what the error at the level of positions is: "place" (of the point, along
    ``slide``, from ``anchor``), "axis" (an axis, tilted away from ``axis``), "attitude" (any turn
    away from ``attitude``), or "none" for rows that exist only for velocities.
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
    attitude: tuple[Vector, Vector, Vector] = ALIGNED
    centripetal: bool = False
    held: bool = False
    stabilization: Stabilization | None = None

    @property
    def content(self) -> Row:
        """The row without its name: rows of equal content are one."""
        return replace(self, name="")


class Constraint:
    """Anything that has ``rows`` and can be joined with others by ``+``."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """The scalar constraints, in order."""
        raise NotImplementedError

    def __add__(self, other: Constraint) -> ConstraintSet:
        return ConstraintSet((self, other))

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class ConstraintSet(Constraint):
    """Constraints that act together, as in double support; what occurs twice counts once.

    Sets are equal, and hash equally, when their rows are equal in content, names and order.
    """

    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        flat: dict[Constraint, None] = {}
        for constraint in self.constraints:
            inner = constraint.constraints if isinstance(constraint, ConstraintSet) else (constraint,)
            flat.update(dict.fromkeys(inner))
        object.__setattr__(self, "constraints", tuple(flat))

    @cached_property
    def rows(self) -> tuple[Row, ...]:  # type: ignore[override]
        """All rows in order, without those that an earlier one equals."""
        unique: dict[Row, Row] = {}
        for constraint in self.constraints:
            for row in constraint.rows:
                unique.setdefault(row.content, row)
        return tuple(unique.values())

    def stabilized(self, stabilization: Stabilization | None) -> ConstraintSet:
        """The same set with this stabilisation on all constraints; None takes it away."""
        changed = [replace(c, stabilization=stabilization) for c in self.constraints]  # type: ignore
        return ConstraintSet(tuple(changed))

    @cached_property
    def _hash(self) -> int:
        return hash(self.rows)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstraintSet) and self.rows == other.rows


@dataclass(frozen=True)
class PointContact(Constraint):
    """A point of a frame that cannot move along some directions of the world.

    ``directions`` are letters out of "xyz" or unit vectors; ``anchor`` (m, world) is where the
    point is held, needed only for stabilisation.
    """

    frame: str
    point: Any = ORIGIN
    directions: Any = "xyz"
    anchor: Any = None
    name: str = ""
    stabilization: Stabilization | None = None

    def __post_init__(self) -> None:
        _settle(self, "point", "anchor")
        if not isinstance(self.directions, str):
            chosen = tuple(unit(d, f"direction of {self.frame!r}") for d in self.directions)
            object.__setattr__(self, "directions", chosen)
        elif not self.directions or set(self.directions) - set(AXES):
            raise ModelError(
                f"contact of {self.frame!r}: directions are letters out of 'xyz' or unit vectors, "
                f"got {self.directions!r}"
            )

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row for each direction."""
        label = self.name or self.frame
        return _place_rows(self, label, WORLD, named_directions(self.directions), self.anchor)


@dataclass(frozen=True)
class RollingSphere(Constraint):
    """A sphere fixed to a frame that rolls on a plane of the world without slipping: 3 rows.

    Two rows for the velocity of the lowest point, one for the height of the centre (Felis 2015,
    section 4.7). With the lever rho = -radius normal fixed in the world, the first two read

        (a_C + alpha x rho) . tangent = 0.

    ``exact=False`` takes the lowest point for one fixed in the body, as point contacts do. That
    adds omega x (omega x rho), which differs by -radius (omega . normal) omega_tangential as soon
    as the sphere also spins about the normal.

    ``radius`` (m) None takes it from the spherical contact of the model that ``frame`` names.
    ``ground`` (m) is the height of the plane along the normal.
    """

    frame: str
    center: Any = ORIGIN
    radius: float | None = None
    normal: Any = Z
    exact: bool = True
    ground: float = 0.0
    name: str = ""
    stabilization: Stabilization | None = None

    def __post_init__(self) -> None:
        _settle(self, "center")
        object.__setattr__(self, "normal", unit(self.normal, f"normal of {self.frame!r}"))

    @property
    def rows(self) -> tuple[Row, ...]:
        """Two tangential rows and the height of the centre."""
        label = self.name or self.frame
        n = np.array(self.normal)
        radius = self.frame if self.radius is None else float(self.radius)
        common = {
            "frame": self.frame,
            "point": self.center,
            "radius": radius,
            "stabilization": self.stabilization,
        }
        tangents = named_directions("xy" if self.normal == Z else tangential(n))
        rolling = [
            Row(
                name=f"{label} rolling {letter}",
                slide=tangent,
                turn=_vector(np.cross(tangent, n)),
                measure="none",
                centripetal=not self.exact,
                **common,
            )
            for letter, tangent in tangents
        ]
        height = Row(
            name=f"{label} height",
            slide=self.normal,
            measure="height",
            anchor=_vector(self.ground * n),
            held=True,
            **common,
        )
        return (*rolling, height)


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
        _settle(self, "point", "anchor")

    @property
    def rows(self) -> tuple[Row, ...]:
        """The place of the point along each axis of the other frame."""
        label = self.name or pair_name(self.frame, self.other)
        return _place_rows(self, label, self.other, named_directions("xyz"), self.anchor)


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
    attitude: Any = ALIGNED
    name: str = ""
    stabilization: Stabilization | None = None

    def __post_init__(self) -> None:
        _settle(self, "point", "anchor", "attitude")
        object.__setattr__(self, "axis", unit(self.axis, f"axis of {self.frame!r}"))

    @property
    def rows(self) -> tuple[Row, ...]:
        """The place of the point, and the two turns that tilt the axis."""
        label = self.name or pair_name(self.frame, self.other)
        places = _place_rows(self, label, self.other, named_directions("xyz"), self.anchor)
        return (*places, *_tilt_rows(self, label, self.other, self.axis))


@dataclass(frozen=True)
class Weld(Constraint):
    """A frame held rigidly in another: 6 rows.

    ``attitude`` is the rotation matrix of ``frame`` in ``other`` that is held.
    """

    frame: str
    other: str = WORLD
    point: Any = ORIGIN
    anchor: Any = None
    attitude: Any = ALIGNED
    name: str = ""
    stabilization: Stabilization | None = None

    def __post_init__(self) -> None:
        _settle(self, "point", "anchor", "attitude")

    @property
    def rows(self) -> tuple[Row, ...]:
        """The place of the point and the turns about all axes of the other frame."""
        label = self.name or pair_name(self.frame, self.other)
        places = _place_rows(self, label, self.other, named_directions("xyz"), self.anchor)
        turns = [
            Row(f"{label} turn {letter}", turn=axis, measure="attitude", **_common(self, self.other))
            for letter, axis in AXES.items()
        ]
        return (*places, *turns)


@dataclass(frozen=True)
class SlidingSole(Constraint):
    """A flat sole that may slide and turn on a plane but not leave or tilt: 3 rows."""

    frame: str
    point: Any = ORIGIN
    normal: Any = Z
    anchor: Any = None
    attitude: Any = ALIGNED
    name: str = ""
    stabilization: Stabilization | None = None

    def __post_init__(self) -> None:
        _settle(self, "point", "anchor", "attitude")
        object.__setattr__(self, "normal", unit(self.normal, f"normal of {self.frame!r}"))

    @property
    def rows(self) -> tuple[Row, ...]:
        """The height of the point, and the two turns that tilt the sole."""
        label = self.name or self.frame
        height = _place_rows(self, label, WORLD, [("height", self.normal)], self.anchor)
        return (*height, *_tilt_rows(self, label, WORLD, self.normal))


def flat_contact(frame: str, point: Any = ORIGIN, **fields: Any) -> ConstraintSet:
    """A flat sole at rest on the ground: all 6 motions of the frame held."""
    return ConstraintSet((Weld(frame, WORLD, point, **fields),))


def edge_contact(
    first: PointContact, second: PointContact, directions: Any = "xz"
) -> ConstraintSet:
    """A body that can only turn about the line through two of its points: 5 rows.

    The forefoot of Felis 2015, section 4.7: the first point in all directions, the second in two,
    which must not be perpendicular to a common vector along the line (so "xz" for a line in y).
    """
    return replace(first, directions="xyz") + replace(second, directions=directions)


def flat_foot(
    heel: RollingSphere, medial: PointContact, lateral: PointContact
) -> ConstraintSet:
    """The flat foot of Felis 2015, section 4.7: the heel's 3 rows, lateral y and z, medial z."""
    heel_set = heel + replace(lateral, directions="yz")
    return heel_set + replace(medial, directions="z")


def row_names(constraints: Constraint) -> tuple[str, ...]:
    """Names of the rows, in the order of forces and Jacobian rows."""
    return tuple(row.name for row in constraints.rows)


def unit(direction: Any, what: str) -> Vector:
    """A direction as three floats; refuses anything but unit vectors."""
    values = np.asarray(AXES.get(direction, direction) if isinstance(direction, str) else direction)
    if values.shape != (3,) or not abs(np.linalg.norm(values) - 1) < 1e-9:
        raise ModelError(f"{what} must be a unit vector of 3 numbers or one of x, y, z: {direction}")
    return _vector(values)


def named_directions(directions: Any) -> list[tuple[str, Vector]]:
    """Directions with a letter or number each."""
    if isinstance(directions, str):
        return [(letter, AXES[letter]) for letter in directions]
    known = {axis: letter for letter, axis in AXES.items()}
    return [(known.get(d, str(k + 1)), d) for k, d in enumerate(directions)]


def tangential(normal: np.ndarray) -> tuple[Vector, Vector]:
    """Two unit vectors that make a right-handed frame with a unit normal."""
    seed = np.eye(3)[np.argmin(np.abs(normal))]
    first = np.cross(seed, normal)
    first = first / np.linalg.norm(first)
    return _vector(first), _vector(np.cross(normal, first))


def pair_name(frame: str, other: str) -> str:
    """How a constraint between two frames is called."""
    return frame if other == WORLD else f"{frame}-{other}"


def _place_rows(
    constraint: Any, label: str, other: str, directions: Iterable[tuple[str, Vector]], anchor: Any
) -> tuple[Row, ...]:
    common = _common(constraint, other)
    return tuple(
        Row(f"{label} {letter}", slide=direction, anchor=anchor or ORIGIN, **common)
        for letter, direction in directions
    )


def _tilt_rows(constraint: Any, label: str, other: str, axis: Vector) -> tuple[Row, ...]:
    common = _common(constraint, other)
    known = [(letter, d) for letter, d in AXES.items() if d != axis]
    chosen = known if len(known) == 2 else named_directions(tangential(np.array(axis)))
    return tuple(
        Row(f"{label} tilt {letter}", turn=turn, measure="axis", axis=axis, **common)
        for letter, turn in chosen
    )


def _common(constraint: Any, other: str) -> dict[str, Any]:
    return {
        "frame": constraint.frame,
        "other": other,
        "point": constraint.point,
        "attitude": getattr(constraint, "attitude", ALIGNED),
        "held": constraint.anchor is not None or other != WORLD,
        "stabilization": constraint.stabilization,
    }


def _settle(record: Any, *names: str) -> None:
    """Numbers as tuples of floats, so that records hash by content."""
    for name in names:
        value = getattr(record, name)
        if value is None:
            continue
        shape = (3, 3) if name == "attitude" else (3,)
        array = np.asarray(value, dtype=float)
        if array.shape != shape or not np.isfinite(array).all():
            raise ModelError(
                f"{name} of {type(record).__name__} on {record.frame!r} must be finite numbers of "
                f"shape {shape}, got {value!r}"
            )
        settled = _vector(array) if shape == (3,) else tuple(_vector(row) for row in array)
        object.__setattr__(record, name, settled)


def _vector(values: Any) -> Vector:
    x, y, z = (float(value) + 0.0 for value in values)
    return x, y, z
