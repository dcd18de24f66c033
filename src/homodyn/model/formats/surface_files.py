"""Surfaces that models name to draw their bodies: where their files are, and their triangles."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from homodyn.errors import FormatError
from homodyn.foundation.text import enumerate_names
from homodyn.model.formats.files import read_bytes
from homodyn.model.formats.vtp import parse_vtp
from homodyn.model.shapes import Mesh

SURFACE_SUFFIXES = (".vtp", ".stl", ".obj")
MAX_SURFACE_BYTES = 64 * 2**20
"""Size above which a file is refused."""
STL_HEADER_BYTES = 84
STL_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def find_surface_file(mesh: Mesh) -> Path | None:
    """The file of a mesh, as OpenSim looks for it.

    It is looked for beside the model, in the folder ``Geometry`` there, and in that of OpenSim
    (environment variable ``OPENSIM_HOME``, or the Python package). Of a ``package://`` name of
    URDF, the folders are left out.

    Args:
        mesh: A mesh of a model that was read from a file.

    Returns:
        The file; None if it is not there, or is of no format of ``SURFACE_SUFFIXES``.
    """
    if Path(mesh.file).suffix.lower() not in SURFACE_SUFFIXES:
        return None
    name = re.sub(r"^[a-z]+://", "", mesh.file).replace("\\", "/")
    for folder in _folders(mesh.folder):
        for candidate in (folder / name, folder / Path(name).name):
            if candidate.is_file():
                return candidate
    return None


def _folders(folder: str) -> Iterator[Path]:
    if folder:
        for name in ("", "Geometry", "geometry", "meshes"):
            yield Path(folder) / name
    if "OPENSIM_HOME" in os.environ:
        yield Path(os.environ["OPENSIM_HOME"]) / "Geometry"
    package = importlib.util.find_spec("opensim")
    if package is not None and package.origin is not None:
        yield Path(package.origin).parent / "Geometry"


def read_surface(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a surface.

    Args:
        path: A file of VTK (``.vtp``), STL (text or binary) or Wavefront (``.obj``).

    Returns:
        Vertices, (n, 3), and indices of the corners of triangles, (m, 3).

    Raises:
        FormatError: The file is missing, malformed, too large or of another format.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SURFACE_SUFFIXES:
        raise FormatError(
            f"surfaces of {suffix or 'no'} files; {enumerate_names(SURFACE_SUFFIXES)} are accepted",
            str(path),
        )
    content = read_bytes(path, MAX_SURFACE_BYTES)
    parse = {".vtp": parse_vtp, ".stl": _parse_stl, ".obj": _parse_obj}[suffix]
    vertices, triangles = parse(content, str(path))
    if not np.isfinite(vertices).all():
        raise FormatError("a coordinate of a vertex is not a number", str(path))
    return vertices, triangles


def _parse_stl(content: bytes, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Facets of a binary or a text file; equal corners become one vertex."""
    count = int.from_bytes(content[80:STL_HEADER_BYTES], "little")
    if len(content) == STL_HEADER_BYTES + count * STL_FACET.itemsize:
        facets = np.frombuffer(content[STL_HEADER_BYTES:], STL_FACET)
        corners = facets["corners"].reshape(-1, 3).astype(float)
    elif content.lstrip().startswith(b"solid"):
        rows = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", content)
        try:
            corners = np.array(rows, dtype=float).reshape(-1, 3)
        except ValueError:
            raise FormatError("a coordinate of a vertex is not a number", source) from None
    else:
        raise FormatError(
            f"neither text nor binary STL: {count} facets are stated, which need "
            f"{STL_HEADER_BYTES + count * STL_FACET.itemsize} bytes; there are {len(content)}",
            source,
        )
    if not len(corners) or len(corners) % 3:
        raise FormatError("the surface has no facets, or one is cut off", source)
    vertices, index = np.unique(corners, axis=0, return_inverse=True)
    return vertices, index.reshape(-1, 3)


def _parse_obj(content: bytes, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces; negative indices count from the last vertex."""
    vertices: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        words = line.split()
        try:
            if words[:1] == ["v"]:
                vertices.append([float(word) for word in words[1:4]])
            elif words[:1] == ["f"]:
                given = [int(word.split("/")[0]) for word in words[1:]]
                face = [k - 1 if k > 0 else len(vertices) + k for k in given]
                triangles += [(face[0], face[k], face[k + 1]) for k in range(1, len(face) - 1)]
        except ValueError:
            raise FormatError(
                f"line {number} is not a vertex or a face: {line!r}", source
            ) from None
    points, faces = np.array(vertices, dtype=float), np.array(triangles, dtype=int).reshape(-1, 3)
    if not len(faces) or points.ndim != 2 or points.shape[1] != 3:
        raise FormatError("the surface has no faces, or a vertex without three numbers", source)
    if faces.min() < 0 or faces.max() >= len(points):
        raise FormatError(f"a face has vertex {faces.max() + 1}; there are {len(points)}", source)
    return points, faces
