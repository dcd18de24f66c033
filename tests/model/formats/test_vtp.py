"""Surfaces in files of VTK, in every encoding that its writers use."""

import base64
import zlib

import numpy as np
import pytest

from homodyn.errors import FormatError
from homodyn.model.formats.vtp import parse_vtp

POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]], dtype="f4")
QUAD, ROOF = [0, 3, 2, 1], [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
CORNERS = np.array([*QUAD, *np.ravel(ROOF)], dtype="i4")
ENDS = np.array([4, 7, 10, 13, 16], dtype="i4")
EXPECTED = [[0, 3, 2], [0, 2, 1], *ROOF]


def encode(values, header, compressed, size):
    """A block with its header, as base64; blocks of ``size`` bytes where it is compressed."""
    raw = values.tobytes()
    if not compressed:
        return base64.b64encode(np.array([len(raw)], header).tobytes() + raw).decode()
    parts = [raw[k : k + size] for k in range(0, len(raw), size)]
    packed = [zlib.compress(part) for part in parts]
    head = np.array([len(parts), size, len(raw) % size, *map(len, packed)], header).tobytes()
    return base64.b64encode(head).decode() + base64.b64encode(b"".join(packed)).decode()


def document(arrays, attributes="", appended="", cells="Polys"):
    points, corners, ends = arrays
    return (
        f'<?xml version="1.0"?><VTKFile type="PolyData" {attributes}><PolyData>'
        f'<Piece NumberOfPoints="5" NumberOfPolys="5"><Points>{points}</Points>'
        f"<{cells}>{corners}{ends}</{cells}></Piece></PolyData>{appended}</VTKFile>"
    ).encode("latin-1")


def arrays(write, form, points=POINTS, corners=CORNERS, ends=ENDS):
    kinds = (("Float32", "Points", points), ("Int32", "connectivity", corners),
             ("Int32", "offsets", ends))  # fmt: skip
    return [
        f'<DataArray type="{kind}" Name="{name}" format="{form}" {write(values)}</DataArray>'
        for kind, name, values in kinds
    ]


def text(values):
    return ">" + " ".join(map(str, np.ravel(values)))


def check(content):
    vertices, triangles = parse_vtp(content, "bone.vtp")
    np.testing.assert_array_equal(vertices, POINTS)
    assert triangles.tolist() == EXPECTED


def test_text():
    check(document(arrays(text, "ascii")))


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("header", ["UInt32", "UInt64"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_base64_within_elements(header, compressed, order):
    kind = np.dtype(order + {"UInt32": "u4", "UInt64": "u8"}[header])
    attributes = f'header_type="{header}"'
    attributes += ' compressor="vtkZLibDataCompressor"' if compressed else ""
    attributes += f' byte_order="{"BigEndian" if order == ">" else "LittleEndian"}"'

    def write(values):
        turned = values.astype(values.dtype.newbyteorder(order))
        return ">" + encode(turned, kind, compressed, 24)

    check(document(arrays(write, "binary"), attributes))


@pytest.mark.parametrize("raw", [False, True])
def test_appended_data(raw):
    stored, at = [], []

    def write(values):
        at.append(sum(map(len, stored)))
        block = np.array([values.nbytes], "u4").tobytes() + values.tobytes()
        stored.append(block.decode("latin-1") if raw else encode(values, "u4", False, 0))
        return f'offset="{at[-1]}">'

    parts = arrays(write, "appended")
    form = "raw" if raw else "base64"
    appended = f'<AppendedData encoding="{form}">\n _{"".join(stored)}</AppendedData>'
    check(document(parts, 'header_type="UInt32"', appended))


def test_strips_become_triangles_that_face_one_way():
    corners, ends = np.array([0, 1, 3, 2, 4], "i4"), np.array([5], "i4")
    content = document(arrays(text, "ascii", corners=corners, ends=ends), cells="Strips")
    _, triangles = parse_vtp(content, "bone.vtp")
    assert triangles.tolist() == [[0, 1, 3], [3, 1, 2], [3, 2, 4]]


def test_faults_are_named():
    good = document(arrays(text, "ascii"))
    with pytest.raises(FormatError, match=r"bone\.vtp: malformed surface"):
        parse_vtp(good[:200], "bone.vtp")
    with pytest.raises(FormatError, match="no <PolyData> with a <Piece>"):
        parse_vtp(b"<VTKFile/>", "bone.vtp")
    corners = CORNERS.copy()
    corners[5] = 9
    with pytest.raises(FormatError, match="a polygon has corner 9; there are 5 points"):
        parse_vtp(document(arrays(text, "ascii", corners=corners)), "bone.vtp")
    with pytest.raises(FormatError, match="the surface has no polygons"):
        parse_vtp(document(arrays(text, "ascii"), cells="Lines"), "bone.vtp")
    short = document(arrays(lambda x: ">" + encode(x, "u4", False, 0)[:-8], "binary"))
    with pytest.raises(FormatError, match=r"the data ends after \d+ of \d+ bytes"):
        parse_vtp(short, "bone.vtp")
