"""Triangle meshes from STL files (binary or text) and OBJ files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from homodyn.errors import FormatError, ModelError
from homodyn.foundation.files import read_bytes
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of

MAX_MESH_BYTES = 256 * 2**20
"""Size above which a mesh file is refused."""
MESH_FORMATS = (".stl", ".obj")

_STL_HEADER_BYTES = 84
_STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("unused", "<u2")])


@record
class TriangleMesh(Record):
    """Vertices and triangles of a surface."""

    vertices: np.ndarray
    """(vertices, 3)."""
    faces: np.ndarray
    """(triangles, 3): indices of vertices, counterclockwise seen from outside."""

    @staticmethod
    def from_lists(vertices: object, faces: object, title: str) -> TriangleMesh:
        """A mesh from arrays or lists.

        Args:
            vertices: (vertices, 3).
            faces: (triangles, 3), indices of vertices.
            title: What messages call the mesh.

        Returns:
            The mesh, with arrays of its own.

        Raises:
            ModelError: A shape is wrong, a vertex is not finite, or a face names a vertex that does
                not exist.
        """
        points, corners = np.array(vertices, dtype=float), np.array(faces)
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            raise ModelError(f"{title}: vertices are rows of 3 finite numbers, got {points.shape}")
        if corners.ndim != 2 or corners.shape[1] != 3 or corners.dtype.kind not in "iu":
            raise ModelError(
                f"{title}: faces are rows of 3 vertex numbers, got {corners.shape} {corners.dtype}"
            )
        if len(corners) and not 0 <= corners.min() <= corners.max() < len(points):
            raise ModelError(
                f"{title}: faces name vertices from 0 to {len(points) - 1}, got "
                f"{corners.min()} to {corners.max()}"
            )
        return TriangleMesh(points, corners.astype(int))

    def headline(self) -> str:
        """Number of vertices and triangles."""
        vertices = count_of(len(self.vertices), "vertex", "vertices")
        return f"TriangleMesh: {vertices}, {count_of(len(self.faces), 'triangle')}"


@guarded_reader("mesh")
def read_mesh(path: Path, max_bytes: int = MAX_MESH_BYTES) -> TriangleMesh:
    """Read a mesh file.

    Args:
        path: An ``.stl`` or ``.obj`` file.
        max_bytes: Size above which it is refused.

    Returns:
        Its triangles, in the unit of the file. Polygons of OBJ files are split into triangles;
        vertices that STL files repeat are merged.

    Raises:
        FormatError: The file cannot be read, is of another format, or is damaged.
    """
    suffix = path.suffix.lower()
    if suffix not in MESH_FORMATS:
        raise FormatError(f"a mesh is one of {', '.join(MESH_FORMATS)}, got {suffix!r}", str(path))
    content = read_bytes(path, max_bytes, "mesh")
    vertices, faces = (
        _read_obj(content, str(path)) if suffix == ".obj" else _read_stl(content, str(path))
    )
    if not len(faces):
        raise FormatError("it contains no triangle", str(path))
    try:
        return TriangleMesh.from_lists(vertices, faces, "the mesh")
    except ModelError as error:
        raise FormatError(str(error), str(path)) from None


def _read_stl(content: bytes, path: str) -> tuple[np.ndarray, np.ndarray]:
    """Merged vertices and faces of an STL file."""
    count = int.from_bytes(content[80:_STL_HEADER_BYTES], "little")
    if len(content) == _STL_HEADER_BYTES + count * _STL_TRIANGLE.itemsize:
        triangles = np.frombuffer(content, _STL_TRIANGLE, count, _STL_HEADER_BYTES)
        corners = triangles["corners"].astype(float).reshape(-1, 3)
    elif content.lstrip().startswith(b"solid"):
        corners = _read_stl_text(content, path)
    else:
        raise FormatError(
            f"this is not an STL file: {count} triangles need "
            f"{_STL_HEADER_BYTES + count * _STL_TRIANGLE.itemsize} bytes, got {len(content)}",
            path,
        )
    vertices, faces = np.unique(corners, axis=0, return_inverse=True)
    return vertices, faces.reshape(-1, 3)


def _read_stl_text(content: bytes, path: str) -> np.ndarray:
    """(3 triangles, 3): corners of the triangles of a text STL file."""
    corners = []
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        words = line.split()
        if words[:1] == ["vertex"]:
            corners.append(_floats(words[1:], 3, path, number))
    if len(corners) % 3:
        raise FormatError(f"{len(corners)} vertices do not make triangles", path)
    return np.array(corners).reshape(-1, 3)


def _read_obj(content: bytes, path: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of an OBJ file; polygons are split into fans of triangles."""
    vertices: list[list[float]] = []
    faces: list[list[int]] = []
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append(_floats(words[1:4], 3, path, number))
        elif words[:1] == ["f"]:
            corners = [_vertex_index(word, len(vertices), path, number) for word in words[1:]]
            if len(corners) < 3:
                raise FormatError("a face has at least 3 vertices", path, f"line {number}")
            faces += [[corners[0], *pair] for pair in pairwise(corners[1:])]
    return np.array(vertices).reshape(-1, 3), np.array(faces, dtype=int).reshape(-1, 3)


def _vertex_index(word: str, count: int, path: str, line: int) -> int:
    """Index from 0 of a vertex ``7``, ``7/1``, ``7//3`` or ``-1`` of an OBJ file."""
    try:
        index = int(word.split("/")[0])
    except ValueError:
        index = 0
    if index == 0 or abs(index) > count:
        raise FormatError(
            f"a vertex number from 1 to {count} is expected, got {word!r}", path, f"line {line}"
        )
    return index - 1 if index > 0 else count + index


def _floats(words: list[str], count: int, path: str, line: int) -> list[float]:
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise FormatError(f"{count} numbers are expected, got {words}", path, f"line {line}")
    return numbers
