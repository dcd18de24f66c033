"""What is attached to bodies besides mass: frames, markers, contact shapes, capsules, meshes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from homodyn.errors import ModelError
from homodyn.model.parameters import MATRIX, PLACEMENT, SCALAR, VECTOR, ModelRecord, coerce_fields
from homodyn.spatial import Array, Transform


@dataclass(frozen=True, eq=False)
class Frame(ModelRecord):
    """A named frame fixed in a body."""

    name: str
    body: str
    placement: Transform = field(default_factory=Transform.identity)

    def __post_init__(self) -> None:
        coerce_fields(self, placement=PLACEMENT)


@dataclass(frozen=True, eq=False)
class Marker(ModelRecord):
    """A named point fixed in a body, as seen by a camera system (m)."""

    name: str
    body: str
    position: Array = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        coerce_fields(self, position=VECTOR)


CONTACT_KINDS = ("point", "sphere", "line", "capsule", "box")


@dataclass(frozen=True, eq=False)
class ContactShape(ModelRecord):
    """Where a body may touch something: a point, sphere, line, capsule or box.

    ``position`` (m) is the centre, ``radius`` (m) that of a sphere or capsule, ``size`` (m) the
    half extents of a box or, along its first axis, of a line or capsule; ``rotation`` turns body
    into shape coordinates.
    """

    name: str
    body: str
    kind: str = "point"
    position: Array = field(default_factory=lambda: np.zeros(3))
    radius: Array = 0.0
    size: Array = field(default_factory=lambda: np.zeros(3))
    rotation: Array = field(default_factory=lambda: np.eye(3))

    def __post_init__(self) -> None:
        coerce_fields(self, position=VECTOR, radius=SCALAR, size=VECTOR, rotation=MATRIX)


@dataclass(frozen=True, eq=False)
class ContactSet(ModelRecord):
    """Named contacts that act together, such as a foot flat on the ground.

    ``points[k]``, the name of a contact, marker, frame or body, cannot move along ``normals[k]``, a
    unit vector of the world; a point may occur with several normals.
    """

    name: str
    points: tuple[str, ...]
    normals: np.ndarray

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


@dataclass(frozen=True, eq=False)
class Capsule(ModelRecord):
    """A segment from ``start`` to ``end`` (m) swept by ``radius`` (m), to collide and to draw."""

    name: str
    body: str
    start: Array
    end: Array
    radius: Array

    def __post_init__(self) -> None:
        coerce_fields(self, start=VECTOR, end=VECTOR, radius=SCALAR)


@dataclass(frozen=True, eq=False)
class Mesh(ModelRecord):
    """A file of triangles drawn with a body; the file itself is not read."""

    body: str
    file: str
    placement: Transform = field(default_factory=Transform.identity)
    scale: Array = field(default_factory=lambda: np.ones(3))

    def __post_init__(self) -> None:
        coerce_fields(self, placement=PLACEMENT, scale=VECTOR)
