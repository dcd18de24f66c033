"""Obstacles of a scene: fixed solids with a pose, full sizes (m) and an optional friction.

Boxes, cylinders, capsules and rings lie centered in their own axes; the axis of a cylinder, capsule
or ring is its z axis. ``orientation`` turns these axes into the world, as
`homodyn.dynamics.orientation` does for bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.motion.mesh_file import MAX_MESH_BYTES, TriangleMesh, read_mesh
from homodyn.spatial import quaternion_rotation

Vector: TypeAlias = np.ndarray | Sequence[float]
"""Three numbers."""
Matrix: TypeAlias = np.ndarray | Sequence[Sequence[float]]
"""Rows of numbers."""

MAX_FIELD_NODES = 4096
"""Maximum number of nodes of a height field: a kernel reads all of them for every contact."""
UNIT_TOLERANCE = 4 * np.finfo(float).eps
"""Deviation of a length from 1 that is rounding: normalizing again would change the last digit."""


@record
class Obstacle(Record):
    """Base of all obstacles.

    Raises:
        ModelError: The friction is negative or not finite.
    """

    kind: ClassVar[str] = ""
    """Kind of obstacle in scene files."""

    name: str = field(default="", kw_only=True)
    """Name; unique in a scene. Empty for an obstacle that nothing refers to."""
    friction: float | None = field(default=None, kw_only=True)
    """Coefficient of Coulomb friction; None: that of the contact law."""
    surface_velocity: Vector = field(default=(0.0, 0.0, 0.0), kw_only=True)
    """Velocity of the surface (m/s, world), (3,), such as that of the belt of a treadmill: the
    obstacle stays in place. Only its part along the surface counts."""

    def __post_init__(self) -> None:
        if self.friction is not None and not (np.isfinite(self.friction) and self.friction >= 0):
            raise ModelError(
                f"{self.title}: friction is a finite number from 0 up, got {self.friction!r}"
            )
        self._set("surface_velocity", _vector(self, "surface_velocity", self.surface_velocity))

    @property
    def title(self) -> str:
        """Kind and name, for messages."""
        kind = self.kind.replace("_", " ")
        return f"{kind} {self.name!r}" if self.name else f"a {kind}"

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


@record
class PlaneObstacle(Obstacle):
    """A half space: ``normal . x < height`` is solid.

    Raises:
        ModelError: The normal is zero, or a number is not finite.
    """

    kind: ClassVar[str] = "plane"

    normal: Vector = (0.0, 0.0, 1.0)
    """Outward normal (world), (3,); it is normalized."""
    height: float = 0.0
    """Distance of the surface from the origin along the normal (m)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        normal = _vector(self, "normal", self.normal)
        length = float(np.linalg.norm(normal))
        if length == 0:
            raise ModelError(f"{self.title}: the normal is zero; give the direction out of it")
        if not np.isfinite(self.height):
            raise ModelError(f"{self.title}: height is a finite number, got {self.height!r}")
        self._set("normal", normal if abs(length - 1) <= UNIT_TOLERANCE else normal / length)
        self._set("height", float(self.height))

    def headline(self) -> str:
        """Normal and height."""
        return f"PlaneObstacle{_name_suffix(self)}: {self.height:g} m along {_numbers(self.normal)}"


@record
class PosedObstacle(Obstacle):
    """Base of the obstacles that have a position and an orientation.

    Raises:
        ModelError: The position is not three finite numbers, or the orientation is not a rotation.
    """

    position: Vector = field(default=(0.0, 0.0, 0.0), kw_only=True)
    """Center (m, world), (3,)."""
    orientation: Vector | Matrix = field(default_factory=lambda: np.eye(3), kw_only=True)
    """Rotation matrix (3, 3) with the axes of the obstacle as columns, or unit quaternion (w, x, y,
    z); stored as matrix."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("position", _vector(self, "position", self.position))
        self._set("orientation", _rotation(self, self.orientation))

    def to_world(self, points: np.ndarray) -> np.ndarray:
        """Transform points from the axes of the obstacle to the world.

        Args:
            points: (..., 3), m.

        Returns:
            (..., 3), m, world.
        """
        turn = np.asarray(self.orientation)
        return np.asarray(points @ turn.T + np.asarray(self.position))


@record
class BoxObstacle(PosedObstacle):
    """A solid box.

    Raises:
        ModelError: A size is not positive, or the pose is invalid.
    """

    kind: ClassVar[str] = "box"

    size: Vector
    """Edge lengths along the axes of the box (m), (3,): full sizes, not half extents."""

    def __post_init__(self) -> None:
        super().__post_init__()
        size = _vector(self, "size", self.size)
        if size.min() <= 0:
            raise ModelError(f"{self.title}: size is three lengths above 0 m, got {size.tolist()}")
        self._set("size", size)

    @property
    def corners(self) -> np.ndarray:
        """(8, 3), m, world."""
        signs = np.array(list(product((-0.5, 0.5), repeat=3)))
        return self.to_world(signs * self.size)

    def headline(self) -> str:
        """Size and position."""
        size = " x ".join(f"{length:g}" for length in np.asarray(self.size))
        return f"BoxObstacle{_name_suffix(self)}: {size} m at {_numbers(self.position)}"


@record
class SphereObstacle(PosedObstacle):
    """A solid sphere.

    Raises:
        ModelError: The radius is not positive, or the pose is invalid.
    """

    kind: ClassVar[str] = "sphere"

    radius: float
    """m."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_positive(self, "radius")

    def headline(self) -> str:
        """Radius and position."""
        place = _numbers(self.position)
        return f"SphereObstacle{_name_suffix(self)}: radius {self.radius:g} m at {place}"


@record
class CylinderObstacle(PosedObstacle):
    """A solid cylinder along its z axis.

    Raises:
        ModelError: A size is not positive, or the pose is invalid.
    """

    kind: ClassVar[str] = "cylinder"

    radius: float
    """m."""
    length: float
    """Distance between the two flat ends (m)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_positive(self, "radius", "length")

    def headline(self) -> str:
        """Sizes and position."""
        return f"CylinderObstacle{_name_suffix(self)}: {_round_sizes(self)}"


@record
class CapsuleObstacle(PosedObstacle):
    """A segment along its z axis, swept by a sphere.

    Raises:
        ModelError: A size is not positive, or the pose is invalid.
    """

    kind: ClassVar[str] = "capsule"

    radius: float
    """m."""
    length: float
    """Length of the segment (m), without the two round ends."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_positive(self, "radius", "length")

    @property
    def ends(self) -> np.ndarray:
        """(2, 3), m, world: the ends of the segment."""
        return self.to_world(np.array([[0, 0, -0.5], [0, 0, 0.5]]) * self.length)

    def headline(self) -> str:
        """Sizes and position."""
        return f"CapsuleObstacle{_name_suffix(self)}: {_round_sizes(self)}"


@record
class RingObstacle(PosedObstacle):
    """A torus around its z axis, such as a steering wheel.

    Raises:
        ModelError: A size is not positive, the tube is thicker than the ring, or the pose is
            invalid.
    """

    kind: ClassVar[str] = "ring"

    radius: float
    """Radius of the center line (m)."""
    tube_radius: float
    """Radius of the tube (m)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_positive(self, "radius", "tube_radius")
        if self.tube_radius > self.radius:
            raise ModelError(
                f"{self.title}: tube_radius {self.tube_radius:g} m is larger than radius "
                f"{self.radius:g} m; such a ring has no hole"
            )

    def headline(self) -> str:
        """Sizes and position."""
        return (
            f"RingObstacle{_name_suffix(self)}: radius {self.radius:g} m, "
            f"tube {self.tube_radius:g} m at {_numbers(self.position)}"
        )


@record
class MeshObstacle(PosedObstacle):
    """A closed surface of triangles, from arrays or from an STL or OBJ file.

    A file is read when the triangles are first used.

    Raises:
        ModelError: There are neither triangles nor a file or both, faces name vertices that do not
            exist, the scale is not positive, or the pose is invalid.
    """

    kind: ClassVar[str] = "mesh"

    file: str = ""
    """Path of an STL or OBJ file; empty where vertices and faces are given."""
    vertices: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    """(vertices, 3), in the axes of the obstacle and before scaling."""
    faces: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), dtype=int))
    """(triangles, 3): indices of vertices, counterclockwise seen from outside."""
    scale: float = 1.0
    """Length of one unit of the vertices (m)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_positive(self, "scale")
        self._set("file", str(self.file))
        if bool(self.file) == bool(len(self.faces)):
            raise ModelError(f"{self.title}: give either a file or vertices and faces")
        checked = TriangleMesh.from_lists(self.vertices, self.faces, self.title)
        self._set("vertices", checked.vertices)
        self._set("faces", checked.faces)

    @cached_property
    def mesh(self) -> TriangleMesh:
        """The triangles (m, axes of the obstacle), read from the file where there is one.

        Raises:
            FormatError: The file cannot be read.
        """
        if not self.file:
            return TriangleMesh(self.scale * self.vertices, self.faces)
        read = read_mesh(Path(self.file), MAX_MESH_BYTES)
        return TriangleMesh(self.scale * read.vertices, read.faces)

    def headline(self) -> str:
        """File or number of triangles, and position."""
        source = self.file or count_of(len(self.faces), "triangle")
        return f"MeshObstacle{_name_suffix(self)}: {source} at {_numbers(self.position)}"


@record
class HeightField(Obstacle):
    """Ground whose height along z is given on a regular grid and smooth between its nodes.

    ``heights[i, j]`` is the height at x = origin[0] + i spacing[0], y = origin[1] + j spacing[1].
    Between the nodes the surface is the cubic convolution of Keys 1981 (a = -1/2): it passes
    through all nodes, has continuous slopes and is exact for planes. Beyond the edges the ground
    continues horizontally.

    Raises:
        ModelError: The grid is smaller than 2 x 2, has too many nodes or heights that are not
            finite, or a spacing is not positive.
    """

    kind: ClassVar[str] = "height_field"

    heights: Matrix
    """(nodes along x, nodes along y), m."""
    spacing: Sequence[float] = (1.0, 1.0)
    """Distance of the nodes along x and y (m)."""
    origin: Sequence[float] = (0.0, 0.0)
    """Position (x, y) of the first node (m)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        heights = np.array(self.heights, dtype=float)
        if heights.ndim != 2 or min(heights.shape) < 2 or not np.all(np.isfinite(heights)):
            raise ModelError(
                f"{self.title}: heights are a grid of at least 2 x 2 finite numbers, got shape "
                f"{heights.shape}"
            )
        if heights.size > MAX_FIELD_NODES:
            raise ModelError(
                f"{self.title}: {heights.size} nodes are more than the {MAX_FIELD_NODES} that a "
                "kernel can read for every contact; crop the field or make it coarser"
            )
        self._set("heights", heights)
        for name in ("spacing", "origin"):
            pair = np.array(getattr(self, name), dtype=float)
            if pair.shape != (2,) or not np.all(np.isfinite(pair)):
                raise ModelError(f"{self.title}: {name} is two finite numbers, got {pair.tolist()}")
            self._set(name, (float(pair[0]), float(pair[1])))
        if min(self.spacing) <= 0:
            raise ModelError(f"{self.title}: spacing is positive (m), got {self.spacing}")

    @property
    def nodes(self) -> list[tuple[float, float, float]]:
        """The points of the grid (m)."""
        (x0, y0), (dx, dy) = self.origin, self.spacing
        return [
            (x0 + i * dx, y0 + j * dy, float(height))
            for i, row in enumerate(np.asarray(self.heights))
            for j, height in enumerate(row)
        ]

    def headline(self) -> str:
        """Number of nodes and spacing."""
        count = " x ".join(map(str, np.shape(self.heights)))
        spacing = " x ".join(f"{length:g}" for length in self.spacing)
        return f"HeightField{_name_suffix(self)}: {count} nodes, every {spacing} m"


OBSTACLE_KINDS: dict[str, type[Obstacle]] = {
    each.kind: each
    for each in (
        PlaneObstacle,
        BoxObstacle,
        SphereObstacle,
        CylinderObstacle,
        CapsuleObstacle,
        RingObstacle,
        MeshObstacle,
        HeightField,
    )
}
"""Classes of obstacles by the name of their kind in scene files."""


def _name_suffix(obstacle: Obstacle) -> str:
    return f" {obstacle.name!r}" if obstacle.name else ""


def _numbers(values: Vector) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in np.asarray(values)) + ")"


def _round_sizes(obstacle: CylinderObstacle | CapsuleObstacle) -> str:
    return (
        f"radius {obstacle.radius:g} m, length {obstacle.length:g} m at "
        f"{_numbers(obstacle.position)}"
    )


def _vector(obstacle: Obstacle, what: str, value: Any) -> np.ndarray:
    """Three finite numbers, as an array of its own."""
    try:
        numbers = np.array(value, dtype=float)
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if numbers.shape != (3,) or not np.all(np.isfinite(numbers)):
        raise ModelError(f"{obstacle.title}: {what} is three finite numbers, got {value!r}")
    return numbers


def _rotation(obstacle: Obstacle, value: Any) -> np.ndarray:
    """A rotation matrix from one, or from a unit quaternion."""
    numbers = np.array(value, dtype=float)
    if numbers.shape == (4,) and abs(np.linalg.norm(numbers) - 1) < 1e-6:
        return np.asarray(quaternion_rotation(numbers / np.linalg.norm(numbers))).T
    proper = numbers.shape == (3, 3) and np.allclose(numbers.T @ numbers, np.eye(3), atol=1e-9)
    if not (proper and np.linalg.det(numbers) > 0):
        raise ModelError(
            f"{obstacle.title}: orientation is a rotation matrix (3, 3) or a unit quaternion "
            f"(w, x, y, z), got {value!r}"
        )
    return numbers


def _require_positive(obstacle: Obstacle, *names: str) -> None:
    for name in names:
        value = getattr(obstacle, name)
        if isinstance(value, bool) or not (np.isfinite(value) and value > 0):
            raise ModelError(f"{obstacle.title}: {name} is a length above 0 m, got {value!r}")
        object.__setattr__(obstacle, name, float(value))
