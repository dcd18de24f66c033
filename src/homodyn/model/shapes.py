"""What is attached to bodies: frames, markers, contact shapes, capsules and meshes."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.model.parameters import MATRIX, PLACEMENT, SCALAR, VECTOR, ModelRecord, coerce_fields
from homodyn.spatial import Array, Transform


@record
class Frame(ModelRecord):
    """A named frame fixed in a body."""

    name: str
    body: str
    placement: Transform = field(default_factory=Transform.identity)

    def __post_init__(self) -> None:
        coerce_fields(self, placement=PLACEMENT)


@record
class Marker(ModelRecord):
    """A named point fixed in a body (m) that cameras track."""

    name: str
    body: str
    position: Array = field(default_factory=lambda: np.zeros(3))
    fixed: bool | None = None
    """Whether the author of the model vouches for the position, as OpenSim's ``fixed`` flag says;
    None if nothing is stated. False marks a placeholder that is to be placed by scaling."""

    def __post_init__(self) -> None:
        coerce_fields(self, position=VECTOR)


CONTACT_KINDS = ("point", "sphere", "line", "capsule", "box")


@record
class ContactShape(ModelRecord):
    """Where a body may touch something: a point, sphere, line, capsule or box."""

    name: str
    body: str
    kind: str = "point"
    position: Array = field(default_factory=lambda: np.zeros(3))
    """Center, (3,), m, in the body frame."""
    radius: Array = 0.0
    """Radius of a sphere or capsule, m."""
    size: Array = field(default_factory=lambda: np.zeros(3))
    """Edge lengths of a box, (3,), m, as of obstacles; for a line or capsule the first is the
    length of its axis, without the caps."""
    rotation: Array = field(default_factory=lambda: np.eye(3))
    """Coordinate rotation from the body to the shape, (3, 3)."""

    def __post_init__(self) -> None:
        coerce_fields(self, position=VECTOR, radius=SCALAR, size=VECTOR, rotation=MATRIX)

    @property
    def half_size(self) -> Array:
        """Distances (3,), m, from the center to the faces of a box or the ends of an axis."""
        return self.size / 2


@record
class ContactSet(ModelRecord):
    """Contacts that act together, such as a foot flat on the ground.

    ``points[k]`` cannot move along ``normals[k]``. A point may occur with several normals.
    """

    name: str
    points: tuple[str, ...]
    """Names of contacts, markers, frames or bodies."""
    normals: np.ndarray
    """Unit vectors in world axes, (points, 3)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", tuple(self.points))
        try:
            normals = np.array(self.normals, dtype=float).reshape(len(self.points), 3) + 0.0
        except (TypeError, ValueError):
            raise ModelError(
                f"contact set {self.name!r}: normals must be 3 numbers for each of its "
                f"{len(self.points)} points, got {self.normals!r}"
            ) from None
        normals.flags.writeable = False
        object.__setattr__(self, "normals", normals)


@record
class Capsule(ModelRecord):
    """A capsule between two points (m) of a body, for collision checks and drawings."""

    name: str
    body: str
    start: Array
    end: Array
    radius: Array

    def __post_init__(self) -> None:
        coerce_fields(self, start=VECTOR, end=VECTOR, radius=SCALAR)


@record
class Mesh(ModelRecord):
    """A mesh file to draw with a body; `homodyn.model.formats.read_surface` reads it."""

    body: str
    file: str
    placement: Transform = field(default_factory=Transform.identity)
    scale: Array = field(default_factory=lambda: np.ones(3))
    folder: str = field(default="", compare=False)
    """Folder of the file that the model was read from; not part of the model."""

    def __post_init__(self) -> None:
        coerce_fields(self, placement=PLACEMENT, scale=VECTOR)
