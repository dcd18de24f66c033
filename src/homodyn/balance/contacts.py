"""Supports: soles, patches and points that push, grasps that push and pull.

Each support is a set of wrenches it can give, told by generators: a contact force is a sum of
``weight * generator`` with weights that are not negative. A generator of a contact is an edge of a
friction pyramid at a corner and has a normal force of 1 N; those of a grasp are its axes, both
ways, or directions all around.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from homodyn.errors import ModelError


class FrictionPyramid(StrEnum):
    """How a friction cone is approximated by planes."""

    OUTER = "outer"
    """Around the cone: with four sides, up to sqrt(2) mu N along the edges (Qiu 4.20)."""
    INNER = "inner"
    """Inside the cone: never exceeds the friction cone."""


@dataclass(frozen=True, eq=False)
class ContactPatch:
    """A convex contact polygon: unilateral forces at its corners, within friction pyramids.

    The corner forces together give every wrench with the centre of pressure in the polygon, no slip
    anywhere and a moment about the normal as large as friction under that centre of pressure
    allows, which is smaller near an edge (Caron et al. 2015).
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
    """N m: if given, |yaw| + mu |tilting moment along an axis| about the middle stays below it, a
    condition that is sufficient (Qiu 4.15, 4.21), beyond what friction alone allows."""
    body: str = ""
    """Body of the model in contact; empty where there is no model."""

    def __post_init__(self) -> None:
        where = f"support {self.name!r}"
        corners = np.atleast_2d(np.asarray(self.corners, dtype=float))
        if corners.ndim != 2 or corners.shape[1] != 3 or not np.isfinite(corners).all():
            raise ModelError(f"{where}: corners are rows of 3 finite numbers, got {self.corners!r}")
        normal = np.asarray(self.normal, dtype=float)
        length = float(np.linalg.norm(normal)) if normal.shape == (3,) else 0.0
        if not np.isfinite(length) or length < 1e-12:
            raise ModelError(f"{where}: normal is a direction of 3 numbers, got {self.normal!r}")
        normal = normal / length
        if not (np.isfinite(self.friction) and self.friction >= 0):
            raise ModelError(f"{where}: friction is a number from 0 up, got {self.friction!r}")
        if not self.limit > 0:
            raise ModelError(f"{where}: limit is a force above 0 N, got {self.limit!r}")
        if not self.yaw_limit > 0:
            raise ModelError(f"{where}: yaw_limit is a moment above 0 N m, got {self.yaw_limit!r}")
        if self.sides < 3:
            raise ModelError(f"{where}: a friction pyramid has 3 sides or more, got {self.sides!r}")
        size = float(np.abs(corners - corners.mean(axis=0)).max())
        if np.abs((corners - corners.mean(axis=0)) @ normal).max() > 1e-6 * max(size, 1e-9):
            raise ModelError(
                f"{where}: its corners are not in one plane across the normal {normal}; give the "
                "normal of the surface, or two supports"
            )
        try:
            object.__setattr__(self, "pyramid", FrictionPyramid(self.pyramid))
        except ValueError:
            kinds = ", ".join(repr(str(k)) for k in FrictionPyramid)
            raise ModelError(f"{where}: pyramid is one of {kinds}, got {self.pyramid!r}") from None
        object.__setattr__(self, "corners", corners)
        object.__setattr__(self, "normal", normal)

    @cached_property
    def axes(self) -> np.ndarray:
        """(3, 3): rows s, t and the normal n of the surface, right-handed."""
        n = self.normal
        guess = np.eye(3)[np.abs(n).argmin()] if self.along is None else np.asarray(self.along)
        s = guess - (guess @ n) * n
        if np.linalg.norm(s) < 1e-9:
            raise ModelError(f"support {self.name!r}: along is the normal; give a tangent")
        s = s / np.linalg.norm(s)
        return np.array([s, np.cross(n, s), n])

    @property
    def middle(self) -> np.ndarray:
        """(3,), m: mean of the corners."""
        return np.asarray(self.corners.mean(axis=0))

    @cached_property
    def edges(self) -> np.ndarray:
        """(sides, 3): edges of the friction pyramid, each with a normal component of one."""
        # Without friction all edges are the normal.
        count = self.sides if self.friction else 1
        turn = np.pi / self.sides + 2 * np.pi * np.arange(count) / self.sides
        reach = self.friction
        if self.pyramid is FrictionPyramid.OUTER:
            reach = self.friction / np.cos(np.pi / self.sides)
        flat = reach * np.c_[np.cos(turn), np.sin(turn)]
        return np.c_[flat, np.ones(count)] @ self.axes

    @property
    def points(self) -> np.ndarray:
        """(generators, 3), m: where each generator acts."""
        return np.repeat(self.corners, len(self.edges), axis=0)

    @property
    def forces(self) -> np.ndarray:
        """(generators, 3), N."""
        return np.tile(self.edges, (len(self.corners), 1))

    @property
    def moments(self) -> np.ndarray:
        """(generators, 3), N m: couples; zero for a contact."""
        return np.zeros_like(self.forces)


class GraspBounds(StrEnum):
    """How the force and moment of a grasp are bounded."""

    BOX = "box"
    """Force and moment along each axis separately (Qiu 4.22)."""
    BALL = "ball"
    """Norms of force and moment (Qiu 4.16, 4.17), as an inner polyhedral approximation."""


def _ball_directions() -> np.ndarray:
    """(32, 3): corners of an icosahedron and of the dodecahedron around its faces, unit vectors.

    Their hull has 60 sides and holds a ball of 0.92 of its size.
    """
    golden = (1 + np.sqrt(5)) / 2
    signs = np.array([[a, b] for a in (1, -1) for b in (1, -1)], dtype=float)
    zero = np.zeros((4, 1))
    edges = np.c_[zero, signs * [1, golden]], np.c_[zero, signs * [golden, 1 / golden]]
    cube = np.array([[a, b, c] for a in (1, -1) for b in (1, -1) for c in (1, -1)], dtype=float)
    every = np.vstack([*(np.roll(each, k, axis=1) for each in edges for k in range(3)), cube])
    return np.asarray(every / np.linalg.norm(every, axis=1)[:, None])


@dataclass(frozen=True, eq=False)
class Grasp:
    """A grasp: force and moment within bounds, in both directions of every axis."""

    name: str
    position: np.ndarray
    """(3,), m, world."""
    force: np.ndarray
    """(3,), N: largest force along each axis; one number for all."""
    moment: np.ndarray | float = 0.0
    """(3,), N m: largest moment about each axis."""
    within: GraspBounds = GraspBounds.BOX
    """Whether each axis is bounded separately, or the norms of force and moment; a ball with
    unequal bounds is an ellipsoid."""
    rotation: np.ndarray | None = None
    """(3, 3): axes of the bounds as columns; None for the world axes."""
    body: str = ""

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
        try:
            object.__setattr__(self, "within", GraspBounds(self.within))
        except ValueError:
            kinds = ", ".join(repr(str(k)) for k in GraspBounds)
            raise ModelError(f"{where}: within is one of {kinds}, got {self.within!r}") from None
        position = np.asarray(self.position, dtype=float)
        if position.shape != (3,) or not np.isfinite(position).all():
            raise ModelError(f"{where}: position is 3 finite numbers, got {self.position!r}")
        turn = np.eye(3) if self.rotation is None else np.asarray(self.rotation, dtype=float)
        if turn.shape != (3, 3) or not np.allclose(turn.T @ turn, np.eye(3), atol=1e-6):
            raise ModelError(f"{where}: rotation is a rotation matrix, got {self.rotation!r}")
        object.__setattr__(self, "position", position)
        object.__setattr__(self, "rotation", turn)

    @property
    def middle(self) -> np.ndarray:
        """(3,), m: position of the grasp."""
        return self.position

    @cached_property
    def _parts(self) -> tuple[tuple[np.ndarray, float], ...]:
        """Generators (count, 6) with the largest sum (N or N m) of their weights, one part each."""
        turn = np.asarray(self.rotation).T
        none = np.zeros((3, 3))
        found = []
        for bound, axes in (
            (self.force, np.c_[none, turn]),
            (np.asarray(self.moment), np.c_[turn, none]),
        ):
            if not bound.any():
                continue
            if self.within is GraspBounds.BALL:
                found.append((_ball_directions() * (bound / bound.max()) @ axes, bound.max()))
            else:
                found += [(np.stack([a, -a]), b) for a, b in zip(axes, bound, strict=True) if b]
        return tuple((made, float(limit)) for made, limit in found)

    @cached_property
    def budgets(self) -> tuple[tuple[np.ndarray, float], ...]:
        """Generator indices of each part, and the largest sum of their weights (N or N m)."""
        ends = np.cumsum([len(made) for made, _ in self._parts])
        return tuple(
            (np.arange(end - len(made), end), limit)
            for end, (made, limit) in zip(ends, self._parts, strict=True)
        )

    @cached_property
    def _wrenches(self) -> np.ndarray:
        """(generators, 6): moment and force."""
        return np.concatenate([np.zeros((0, 6)), *(made for made, _ in self._parts)])

    @property
    def points(self) -> np.ndarray:
        """(generators, 3), m."""
        return np.tile(self.position, (len(self._wrenches), 1))

    @property
    def forces(self) -> np.ndarray:
        """(generators, 3), N."""
        return self._wrenches[:, 3:]

    @property
    def moments(self) -> np.ndarray:
        """(generators, 3), N m."""
        return self._wrenches[:, :3]


Support = ContactPatch | Grasp


def point_contact(
    name: str,
    position: Sequence[float] | np.ndarray,
    *,
    normal: Sequence[float] | np.ndarray = (0.0, 0.0, 1.0),
    friction: float,
    **more: object,
) -> ContactPatch:
    """Create a contact at a single point.

    Args:
        name: Name of the support.
        position: Position in the world, (3,), m.
        normal: Surface normal from the ground to the body, (3,); normalised.
        friction: Coefficient of Coulomb friction.
        **more: Further fields of `ContactPatch`, such as ``limit`` (N), ``sides`` or ``body``.

    Returns:
        A contact patch with one corner.

    Raises:
        ModelError: An argument is invalid.
    """
    return ContactPatch(name, np.atleast_2d(position), np.asarray(normal), friction, **more)  # type: ignore[arg-type]


def sole_contact(
    name: str,
    position: Sequence[float] | np.ndarray,
    *,
    length: float,
    width: float,
    friction: float,
    rotation: np.ndarray | None = None,
    yaw: float = 0.0,
    offset: float = 0.0,
    **more: object,
) -> ContactPatch:
    """Create a rectangular contact: length along its x axis, width along y, normal along z.

    Args:
        name: Name of the support.
        position: Reference point of the sole in the world, (3,), m.
        length: Length along x, m.
        width: Width along y, m.
        friction: Coefficient of Coulomb friction.
        rotation: Rotation matrix (3, 3) with the axes of the sole as columns; None rotates by
            ``yaw`` about the world Z axis.
        yaw: Angle about the world Z axis, rad; ignored when ``rotation`` is given.
        offset: Distance (m) from ``position`` to the centre of the rectangle, along x.
        **more: Further fields of `ContactPatch`, such as ``limit`` (N), ``sides`` or ``body``.

    Returns:
        A contact patch with four corners.

    Raises:
        ModelError: Length or width is not positive, or another argument is invalid.
    """
    if not (length > 0 and width > 0):
        raise ModelError(
            f"support {name!r}: length and width are above 0 m, got {length!r}, {width!r}"
        )
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]) if rotation is None else rotation
    signs = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    flat = signs * (length / 2, width / 2) + (offset, 0.0)
    corners = np.asarray(position, dtype=float) + flat @ np.asarray(turn)[:, :2].T
    return ContactPatch(name, corners, turn[:, 2], friction, along=turn[:, 0], **more)  # type: ignore[arg-type]
