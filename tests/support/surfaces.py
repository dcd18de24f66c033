"""Small surfaces, and files of them."""

import numpy as np

TETRAHEDRON = (
    np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float),
    np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
)
"""Vertices and triangles."""


def write_vtp(path, vertices, triangles):
    """A text file of VTK."""
    path = path.with_suffix(".vtp")
    points, corners, ends = (
        " ".join(map(str, np.ravel(values)))
        for values in (vertices, triangles, 3 * np.arange(1, len(triangles) + 1))
    )
    path.write_text(
        '<VTKFile type="PolyData"><PolyData><Piece>'
        f'<Points><DataArray type="Float64" format="ascii">{points}</DataArray></Points>'
        f'<Polys><DataArray type="Int32" Name="connectivity" format="ascii">{corners}</DataArray>'
        f'<DataArray type="Int32" Name="offsets" format="ascii">{ends}</DataArray></Polys>'
        "</Piece></PolyData></VTKFile>"
    )
    return path


def write_stl(path, vertices, triangles):
    """A text file of STL."""
    path = path.with_suffix(".stl")
    lines = ["solid bone"]
    for face in triangles:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += ["vertex " + " ".join(map(str, vertices[k])) for k in face]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid bone"]))
    return path


def write_obj(path, vertices, triangles):
    """A file of Wavefront."""
    path = path.with_suffix(".obj")
    rows = ["v " + " ".join(map(str, vertex)) for vertex in vertices]
    rows += ["f " + " ".join(str(k + 1) for k in face) for face in triangles]
    path.write_text("\n".join(rows))
    return path
