"""Supports of a body in a scene: contact patches that push, grasps that push and pull."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.motion.obstacles import UNIT_TOLERANCE

__all__ = [
    "ContactPatch",
    "FrictionPyramid",
    "Grasp",
    "GraspBounds",
    "Support",
    "point_contact",
    "sole_contact",
]

MAX_FLATNESS_RATIO = 1e-6
"""Fraction of its size by which the corners of a patch may deviate from a plane."""


class FrictionPyramid(StrEnum):
    """How a friction cone is approximated by planes."""

    OUTER = "outer"
    """Around the cone: with four sides, up to sqrt(2) mu N along the edges (Qiu 4.20)."""
    INNER = "inner"
    """Inside the cone: never exceeds the friction cone."""


@record
class ContactPatch(Record):
    """A convex contact polygon: unilateral forces at its corners, within friction pyramids.

    The corner forces together give every wrench with the center of pressure in the polygon, no slip
    anywhere and a moment about the normal as large as friction under that center of pressure
    allows, which is smaller near an edge (Caron et al. 2015).

    Raises:
        ModelError: The corners are not in one plane across the normal, or a value is invalid.
    """

    name: str
    corners: np.ndarray
    """(corners, 3), m, world; one for a point, two for an edge."""
    normal: np.ndarray
    """(3,): unit vector from the ground to the body."""
    friction: float
    """Coefficient of Coulomb friction."""
    limit: float = np.inf
    """N: maximum normal force of this support."""
    along: np.ndarray | None = None
    """(3,): an axis of the friction pyramid; projected onto the tangent plane."""
    sides: int = 4
    """Sides of the friction pyramid."""
    pyramid: FrictionPyramid = FrictionPyramid.OUTER
    yaw_limit: float = np.inf
    """N m: where given, |yaw moment| + mu |tilting moment along an axis| about the middle stays
    below it. This condition is sufficient (Qiu 4.15, 4.21) and stricter than friction alone."""
    body: str = ""
    """Body of the model in contact; empty where there is no model."""

    def __post_init__(self) -> None:
        where = f"support {self.name!r}"
        corners = np.atleast_2d(np.array(self.corners, dtype=float))
        if corners.ndim != 2 or corners.shape[1] != 3 or not np.isfinite(corners).all():
            raise ModelError(f"{where}: corners are rows of 3 finite numbers, got {self.corners!r}")
        normal = np.array(self.normal, dtype=float)
        length = float(np.linalg.norm(normal)) if normal.shape == (3,) else 0.0
        if not np.isfinite(length) or length < 1e-12:
            raise ModelError(f"{where}: normal is a direction of 3 numbers, got {self.normal!r}")
        if abs(length - 1) > UNIT_TOLERANCE:
            normal = normal / length
        if not (np.isfinite(self.friction) and self.friction >= 0):
            raise ModelError(f"{where}: friction is a number from 0 up, got {self.friction!r}")
        if not self.limit > 0:
            raise ModelError(f"{where}: limit is a force above 0 N, got {self.limit!r}")
        if not self.yaw_limit > 0:
            raise ModelError(f"{where}: yaw_limit is a moment above 0 N m, got {self.yaw_limit!r}")
        if self.sides < 3:
            raise ModelError(f"{where}: a friction pyramid has 3 sides or more, got {self.sides!r}")
        arms = corners - corners.mean(axis=0)
        size = float(np.abs(arms).max())
        if np.abs(arms @ normal).max() > MAX_FLATNESS_RATIO * max(size, 1e-9):
            raise ModelError(
                f"{where}: its corners are not in one plane across the normal {normal}; give the "
                "normal of the surface, or two supports"
            )
        try:
            object.__setattr__(self, "pyramid", FrictionPyramid(self.pyramid))
        except ValueError:
            kinds = ", ".join(repr(str(kind)) for kind in FrictionPyramid)
            raise ModelError(f"{where}: pyramid is one of {kinds}, got {self.pyramid!r}") from None
        object.__setattr__(self, "corners", corners)
        object.__setattr__(self, "normal", normal)
        if self.along is not None:
            object.__setattr__(self, "along", np.array(self.along, dtype=float))

    @cached_property
    def axes(self) -> np.ndarray:
        """(3, 3): rows s, t and the normal n of the surface, right-handed."""
        n = self.normal
        guess = np.eye(3)[np.abs(n).argmin()] if self.along is None else self.along
        s = guess - (guess @ n) * n
        if np.linalg.norm(s) < 1e-9:
            raise ModelError(f"support {self.name!r}: along is the normal; give a tangent")
        s = s / np.linalg.norm(s)
        return np.array([s, np.cross(n, s), n])

    @property
    def middle(self) -> np.ndarray:
        """(3,), m: mean of the corners."""
        return np.asarray(self.corners.mean(axis=0))

    def headline(self) -> str:
        """Name, number of corners and position."""
        place = ", ".join(f"{x:.4g}" for x in self.middle)
        corners = count_of(len(self.corners), "corner")
        return f"ContactPatch {self.name!r}: {corners} around ({place}) m"


class GraspBounds(StrEnum):
    """How the force and moment of a grasp are bounded."""

    BOX = "box"
    """Force and moment along each axis separately (Qiu 4.22)."""
    BALL = "ball"
    """Norms of force and moment (Qiu 4.16, 4.17), as an inner polyhedral approximation."""


@record
class Grasp(Record):
    """A grasp: force and moment within bounds, in both directions of every axis.

    Raises:
        ModelError: A bound is negative, all bounds are zero, the position is not finite, or the
            orientation is not a rotation matrix.
    """

    name: str
    position: np.ndarray | Sequence[float]
    """(3,), m, world."""
    force: np.ndarray | Sequence[float] | float
    """(3,), N: largest force along each axis; one number for all."""
    moment: np.ndarray | Sequence[float] | float = 0.0
    """(3,), N m: largest moment about each axis; one number for all."""
    within: GraspBounds = GraspBounds.BOX
    """Whether each axis is bounded separately, or the norms of force and moment; a ball with
    unequal bounds is an ellipsoid."""
    orientation: np.ndarray | None = None
    """(3, 3): rotation matrix with the axes of the bounds as columns; None for the world axes."""
    body: str = ""
    """Body of the model that grasps; empty where there is no model."""

    def __post_init__(self) -> None:
        where = f"grasp {self.name!r}"
        for name, unit in (("force", "N"), ("moment", "N m")):
            given = getattr(self, name)
            try:
                bound = np.broadcast_to(np.asarray(given, dtype=float), (3,)).copy()
            except (TypeError, ValueError):
                bound = np.full(3, np.nan)
            if not ((bound >= 0) & np.isfinite(bound)).all():
                raise ModelError(
                    f"{where}: {name} is one or three finite bounds from 0 {unit} up, got {given!r}"
                )
            object.__setattr__(self, name, bound)
        if not np.any(self.force) and not np.any(self.moment):
            raise ModelError(
                f"{where}: force and moment are zero, so that it supports nothing; give one of "
                "them a bound above 0, or leave the grasp out"
            )
        try:
            object.__setattr__(self, "within", GraspBounds(self.within))
        except ValueError:
            kinds = ", ".join(repr(str(kind)) for kind in GraspBounds)
            raise ModelError(f"{where}: within is one of {kinds}, got {self.within!r}") from None
        position = np.array(self.position, dtype=float)
        if position.shape != (3,) or not np.isfinite(position).all():
            raise ModelError(f"{where}: position is 3 finite numbers, got {self.position!r}")
        turn = np.eye(3) if self.orientation is None else np.array(self.orientation, dtype=float)
        if turn.shape != (3, 3) or not np.allclose(turn.T @ turn, np.eye(3), atol=1e-6):
            raise ModelError(f"{where}: orientation is a rotation matrix, got {self.orientation!r}")
        object.__setattr__(self, "position", position)
        object.__setattr__(self, "orientation", turn)

    @property
    def middle(self) -> np.ndarray:
        """(3,), m: position of the grasp."""
        return np.asarray(self.position)

    def headline(self) -> str:
        """Name and position."""
        place = ", ".join(f"{x:.4g}" for x in self.middle)
        return f"Grasp {self.name!r} at ({place}) m"


Support = ContactPatch | Grasp
"""What can hold a body."""


def point_contact(
    name: str,
    position: Sequence[float] | np.ndarray,
    *,
    friction: float,
    normal: Sequence[float] | np.ndarray = (0.0, 0.0, 1.0),
    limit: float = np.inf,
    body: str = "",
) -> ContactPatch:
    """Create a contact at a single point.

    Args:
        name: Name of the support.
        position: Position in the world, (3,), m.
        friction: Coefficient of Coulomb friction.
        normal: Surface normal from the ground to the body, (3,); it is normalized.
        limit: Maximum normal force, N.
        body: Body of the model in contact.

    Returns:
        A contact patch with one corner.

    Raises:
        ModelError: An argument is invalid.
    """
    corners = np.atleast_2d(np.asarray(position, dtype=float))
    return ContactPatch(name, corners, np.asarray(normal), friction, limit, body=body)


def sole_contact(
    name: str,
    position: Sequence[float] | np.ndarray,
    size: Sequence[float],
    *,
    friction: float,
    orientation: np.ndarray | float = 0.0,
    limit: float = np.inf,
    body: str = "",
) -> ContactPatch:
    """Create a rectangular contact: length along its x axis, width along y, normal along z.

    Args:
        name: Name of the support.
        position: Center of the rectangle in the world, (3,), m.
        size: Length and width, m.
        friction: Coefficient of Coulomb friction.
        orientation: Angle about the world Z axis, rad; or rotation matrix (3, 3) with the axes of
            the sole as columns.
        limit: Maximum normal force, N.
        body: Body of the model in contact.

    Returns:
        A contact patch with four corners; ``dataclasses.replace`` changes its other fields.

    Raises:
        ModelError: Length or width is not positive, or another argument is invalid.
    """
    sizes = np.asarray(size, dtype=float)
    if sizes.shape != (2,) or not (sizes > 0).all():
        raise ModelError(f"support {name!r}: size is length and width above 0 m, got {size!r}")
    turn = np.asarray(orientation, dtype=float)
    if turn.ndim == 0:
        c, s = np.cos(turn), np.sin(turn)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    corners = np.asarray(position, dtype=float) + (signs * sizes / 2) @ turn[:, :2].T
    return ContactPatch(name, corners, turn[:, 2], friction, limit, along=turn[:, 0], body=body)
