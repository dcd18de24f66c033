"""Contacts with the world: points, rolling spheres, soles, edges, and feet composed of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from homodyn.dynamics.constraints import (
    AXES,
    IDENTITY_ATTITUDE,
    ORIGIN,
    Constraint,
    ConstraintRow,
    ConstraintSet,
    Directions,
    MatrixInput,
    Stabilization,
    VectorInput,
    Z,
    named_directions,
    normalize_fields,
    position_rows,
    tangent_vectors,
    tilt_rows,
    unit_vector,
    vector,
)
from homodyn.dynamics.loops import Weld
from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.model import WORLD

__all__ = [
    "PointContact",
    "RollingSphere",
    "SlidingSole",
    "edge_contact",
    "flat_contact",
    "flat_foot",
]


@record(eq=True)
class PointContact(Constraint):
    """A point of a frame that cannot move along some directions of the world.

    Args:
        frame: Name of a body, frame, marker or contact.
        point: The point, m, axes of the frame.
        directions: Letters out of "xyz", or unit vectors.
        anchor: Where the point is fixed, m, world; needed only for stabilization.
        name: Prefix of the names of the rows; the frame by default.
        stabilization: Baumgarte stabilization of the rows.

    Raises:
        ModelError: Directions are neither letters nor unit vectors, or numbers are not finite.
    """

    frame: str
    point: VectorInput = ORIGIN
    directions: Directions = "xyz"
    anchor: VectorInput | None = None
    name: str = ""
    stabilization: Stabilization | None = None

    def __post_init__(self) -> None:
        normalize_fields(self, "point", "anchor")
        if not isinstance(self.directions, str):
            chosen = tuple(unit_vector(d, f"direction of {self.frame!r}") for d in self.directions)
            object.__setattr__(self, "directions", chosen)
        elif not self.directions or set(self.directions) - set(AXES):
            raise ModelError(
                f"contact of {self.frame!r}: directions are letters out of 'xyz' or unit vectors, "
                f"got {self.directions!r}"
            )

    @property
    def rows(self) -> tuple[ConstraintRow, ...]:
        """One row per direction."""
        label = self.name or self.frame
        return position_rows(self, label, WORLD, named_directions(self.directions), self.anchor)


@record(eq=True)
class RollingSphere(Constraint):
    """A sphere fixed to a frame that rolls on a plane of the world without slip: 3 rows.

    Two rows for the velocity of the lowest point, one for the height of the center (Felis 2015,
    section 4.7). With the lever rho = -radius normal fixed in the world, the first two read

        (a_C + alpha x rho) . tangent = 0.

    Args:
        frame: Name of a body, frame, marker or contact.
        center: Center of the sphere, m, axes of the frame.
        radius: m; that of the spherical contact that ``frame`` names by default.
        normal: Normal of the plane: a unit vector, or "x", "y" or "z".
        exact: False treats the lowest point as fixed in the body, as point contacts do. That adds
            omega x (omega x rho), which differs by -radius (omega . normal) omega_tangential as
            soon as the sphere also spins about the normal.
        ground: Height of the plane along the normal, m.
        name: Prefix of the names of the rows; the frame by default.
        stabilization: Baumgarte stabilization of the rows.

    Raises:
        ModelError: The normal is not a unit vector, or numbers are not finite.
    """

    frame: str
    center: VectorInput = ORIGIN
    radius: float | None = None
    normal: VectorInput | str = Z
    exact: bool = True
    ground: float = 0.0
    name: str = ""
    stabilization: Stabilization | None = None

    def __post_init__(self) -> None:
        normalize_fields(self, "center")
        object.__setattr__(self, "normal", unit_vector(self.normal, f"normal of {self.frame!r}"))

    @property
    def rows(self) -> tuple[ConstraintRow, ...]:
        """Two tangential rows and the height of the center."""
        label = self.name or self.frame
        n = np.array(self.normal)
        normal: Any = self.normal
        radius = self.frame if self.radius is None else float(self.radius)
        common: dict[str, Any] = {
            "frame": self.frame,
            "point": self.center,
            "radius": radius,
            "stabilization": self.stabilization,
        }
        tangents = named_directions("xy" if self.normal == Z else tangent_vectors(n))
        rolling = [
            ConstraintRow(
                name=f"{label} rolling {letter}",
                slide=tangent,
                turn=vector(np.cross(tangent, n)),
                measure="none",
                centripetal=not self.exact,
                **common,
            )
            for letter, tangent in tangents
        ]
        height = ConstraintRow(
            name=f"{label} height",
            slide=normal,
            measure="height",
            anchor=vector(self.ground * n),
            has_anchor=True,
            **common,
        )
        return (*rolling, height)


@record(eq=True)
class SlidingSole(Constraint):
    """A flat sole that may slide and rotate on a plane but neither lift off nor tilt: 3 rows.

    Args:
        frame: Name of a body, frame, marker or contact.
        point: The point whose height is fixed, m, axes of the frame.
        normal: Normal of the plane: a unit vector, or "x", "y" or "z".
        anchor: A point of the plane, m, world; needed only for stabilization.
        attitude: Rotation matrix of the frame in the world when the sole is flat.
        name: Prefix of the names of the rows; the frame by default.
        stabilization: Baumgarte stabilization of the rows.

    Raises:
        ModelError: The normal is not a unit vector, or numbers are not finite.
    """

    frame: str
    point: VectorInput = ORIGIN
    normal: VectorInput | str = Z
    anchor: VectorInput | None = None
    attitude: MatrixInput = IDENTITY_ATTITUDE
    name: str = ""
    stabilization: Stabilization | None = None

    def __post_init__(self) -> None:
        normalize_fields(self, "point", "anchor", "attitude")
        object.__setattr__(self, "normal", unit_vector(self.normal, f"normal of {self.frame!r}"))

    @property
    def rows(self) -> tuple[ConstraintRow, ...]:
        """The height of the point, and the two rotations that tilt the sole."""
        label = self.name or self.frame
        normal: Any = self.normal
        height = position_rows(self, label, WORLD, [("height", normal)], self.anchor)
        return (*height, *tilt_rows(self, label, WORLD, normal))


def flat_contact(frame: str, point: VectorInput = ORIGIN, **fields: Any) -> ConstraintSet:
    """A flat sole at rest on the ground: all 6 motions of the frame are fixed.

    Args:
        frame: Name of a body, frame, marker or contact.
        point: The point that is fixed, m, axes of the frame.
        fields: More fields of `Weld`.

    Returns:
        A set of 6 rows.
    """
    return ConstraintSet((Weld(frame, WORLD, point, **fields),))


def edge_contact(
    first: PointContact, second: PointContact, directions: Directions = "xz"
) -> ConstraintSet:
    """A body that can only rotate about the line through two of its points: 5 rows.

    The forefoot of Felis 2015, section 4.7.

    Args:
        first: The point that is fixed in all directions.
        second: The point that is fixed in two directions.
        directions: These two, neither of them along the line (so "xz" for a line along y).

    Returns:
        A set of 5 rows.
    """
    return replace(first, directions="xyz") + replace(second, directions=directions)


def flat_foot(heel: RollingSphere, medial: PointContact, lateral: PointContact) -> ConstraintSet:
    """The flat foot of Felis 2015, section 4.7: 6 rows.

    Args:
        heel: The sphere of the heel: 3 rows.
        medial: Medial point of the forefoot: z.
        lateral: Lateral point of the forefoot: y and z.

    Returns:
        A set of 6 rows.
    """
    heel_set = heel + replace(lateral, directions="yz")
    return heel_set + replace(medial, directions="z")
