"""Meshes from STL and OBJ files, and damaged files."""

import struct

import numpy as np
import pytest

from homodyn.errors import FormatError
from homodyn.motion.mesh_file import read_mesh

TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def volume(mesh) -> float:
    """Volume enclosed by a mesh, from its outward triangles."""
    corners = mesh.vertices[mesh.faces]
    return float(np.linalg.det(corners).sum() / 6)


def write_binary(path):
    triangles = b"".join(
        struct.pack("<12fH", 0, 0, 0, *TETRAHEDRON[face].ravel(), 0) for face in FACES
    )
    path.write_bytes(b"solid but binary".ljust(80) + struct.pack("<I", len(FACES)) + triangles)


def write_text(path):
    lines = ["solid part"]
    for face in FACES:
        corners = [f"vertex {x} {y} {z}" for x, y, z in TETRAHEDRON[face]]
        lines += ["facet normal 0 0 0", "outer loop", *corners, "endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid part"]))


@pytest.mark.parametrize("write", [write_binary, write_text])
def test_stl_files_are_read_and_their_vertices_merged(tmp_path, write):
    write(tmp_path / "part.stl")
    mesh = read_mesh(tmp_path / "part.stl")
    assert mesh.vertices.shape == (4, 3)
    assert mesh.faces.shape == (4, 3)
    assert volume(mesh) == pytest.approx(1 / 6)


def test_obj_files_are_read_and_polygons_split(tmp_path):
    corners = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    quads = [
        "1/1 3/2 4/3 2/4",
        "5//1 6//1 8//1 7//1",
        "1 2 6 5",
        "3 7 8 4",
        "1 5 7 3",
        "-7 -5 -1 -3",
    ]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {quad}" for quad in quads]
    (tmp_path / "cube.obj").write_text("# a cube\nvn 0 0 1\n" + "\n".join(lines))
    mesh = read_mesh(tmp_path / "cube.obj")
    assert mesh.vertices.shape == (8, 3)
    assert mesh.faces.shape == (12, 3)
    assert volume(mesh) == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("part.ply", b"ply", r"one of \.stl, \.obj"),
        ("part.stl", b"\x00" * 90, "not an STL file"),
        ("part.stl", b"solid x\nvertex 0 0 0\nvertex 1 0 0\nendsolid", "2 vertices do not make"),
        ("part.stl", b"solid x\nvertex 0 0\nendsolid", "line 2: 3 numbers are expected"),
        ("part.stl", b"solid x\nendsolid", "contains no triangle"),
        ("part.obj", b"v 0 0 0\nv 1 0 0\nf 1 2", "line 3: a face has at least 3"),
        ("part.obj", b"v 0 0 0\nf 1 2 3", "line 2: a vertex number from 1 to 1"),
        ("part.obj", b"v 0 x 0", "line 1: 3 numbers are expected"),
        ("part.obj", b"v 0 nan 0\nv 1 0 0\nv 0 1 0\nf 1 2 3", "rows of 3 finite numbers"),
    ],
)
def test_damaged_files_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_mesh(tmp_path / name)


def test_large_files_are_refused(tmp_path):
    write_text(tmp_path / "part.stl")
    with pytest.raises(FormatError, match="too large"):
        read_mesh(tmp_path / "part.stl", max_bytes=10)
