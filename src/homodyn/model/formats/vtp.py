"""Surfaces in VTK's PolyData files (``.vtp``), the format of the bones of OpenSim.

The format: VTK File Formats, Kitware. Numbers are text, base64 within their element, or base64 or
raw bytes in the appended data; blocks may be compressed by zlib.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from homodyn.errors import FormatError

NUMBER_TYPES = {
    "Float32": "f4", "Float64": "f8", "Int8": "i1", "Int16": "i2", "Int32": "i4", "Int64": "i8",
    "UInt8": "u1", "UInt16": "u2", "UInt32": "u4", "UInt64": "u8",
}  # fmt: skip
MAX_DECODED_BYTES = 256 * 2**20
"""Size above which an array is refused."""
APPENDED_DATA = re.compile(rb"<AppendedData[^>]*>\s*_(.*?)</AppendedData>", re.DOTALL)


def parse_vtp(content: bytes, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a file; polygons and strips become triangles.

    Args:
        content: The bytes of the file.
        source: Name of the file, for messages.

    Returns:
        Vertices, (n, 3), and indices of the corners of triangles, (m, 3).

    Raises:
        FormatError: The file is malformed or has no surface.
    """
    appended = APPENDED_DATA.search(content)
    text = content if appended is None else APPENDED_DATA.sub(b"", content)
    try:
        root = ElementTree.fromstring(text)
        piece = root.find("PolyData/Piece")
        if root.tag != "VTKFile" or piece is None:
            raise FormatError("no <PolyData> with a <Piece>: not a surface of VTK", source)
        reader = _ArrayReader(root, None if appended is None else appended.group(1), content)
        points = piece.find("Points/DataArray")
        if points is None:
            raise FormatError("no <Points>: not a surface of VTK", source)
        vertices = reader.values(points).astype(float).reshape(-1, 3)
        faces = [*_fans(reader, piece.find("Polys")), *_strips(reader, piece.find("Strips"))]
    except (ElementTree.ParseError, ValueError, KeyError, zlib.error) as error:
        raise FormatError(f"malformed surface: {error}", source) from None
    triangles = np.array(faces, dtype=int).reshape(-1, 3)
    if not len(triangles):
        raise FormatError("the surface has no polygons", source)
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise FormatError(
            f"a polygon has corner {triangles.max()}; there are {len(vertices)} points", source
        )
    return vertices, triangles


@dataclass(frozen=True, eq=False)
class _ArrayReader:
    """Reads data arrays in the encodings of a file."""

    root: ElementTree.Element
    appended: bytes | None
    content: bytes

    @property
    def order(self) -> str:
        return ">" if self.root.get("byte_order") == "BigEndian" else "<"

    @property
    def header(self) -> np.dtype:
        return np.dtype(self.order + NUMBER_TYPES[self.root.get("header_type", "UInt32")])

    def values(self, array: ElementTree.Element) -> np.ndarray:
        """The numbers of a data array.

        Raises:
            ValueError: They are malformed.
        """
        kind = np.dtype(self.order + NUMBER_TYPES[array.get("type", "Float32")])
        form = array.get("format", "ascii")
        if form == "ascii":
            return np.array((array.text or "").split(), dtype=float).astype(kind)
        if form == "binary":
            return np.frombuffer(self._decode((array.text or "").strip().encode()), kind)
        if form != "appended" or self.appended is None:
            raise ValueError(f"data format {form!r}; ascii, binary and appended are accepted")
        data = self.appended[int(array.get("offset", "0")) :]
        raw = b'encoding="raw"' in self.content
        return np.frombuffer(self._blocks(data) if raw else self._decode(data), kind)

    def _decode(self, text: bytes) -> bytes:
        """Bytes of base64 text: a header of its own, then the data."""
        size = self.header.itemsize
        if not self.root.get("compressor"):
            return self._blocks(_base64(text))
        start = _base64(text[: 4 * -(-size // 3)])
        count = int(np.frombuffer(start[:size], self.header)[0])
        length = 4 * -(-(3 + count) * size // 3)
        return self._blocks(_base64(text[:length]) + _base64(text[length:]))

    def _blocks(self, data: bytes) -> bytes:
        """The data behind a header, decompressed where it is compressed."""
        size = self.header.itemsize
        if not self.root.get("compressor"):
            length = int(np.frombuffer(data[:size], self.header)[0])
            return _whole(data[size : size + length], length)
        if self.root.get("compressor") != "vtkZLibDataCompressor":
            raise ValueError(f"compressor {self.root.get('compressor')}; zlib is accepted")
        count = int(np.frombuffer(data[:size], self.header)[0])
        lengths = np.frombuffer(data[: (3 + count) * size], self.header)[3:]
        found, at = [], (3 + count) * size
        for length in lengths.astype(int):
            tool = zlib.decompressobj()
            found.append(tool.decompress(_whole(data[at : at + length], length), MAX_DECODED_BYTES))
            at += length
            if sum(map(len, found)) >= MAX_DECODED_BYTES:
                raise ValueError(f"more than {MAX_DECODED_BYTES // 2**20} MB of numbers")
        return b"".join(found)


def _base64(text: bytes) -> bytes:
    """Bytes of text up to its padding; characters that follow belong to the next array."""
    match = re.match(rb"[A-Za-z0-9+/\s]*={0,2}", text)
    try:
        return base64.b64decode(match.group(0) if match else b"")
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def _whole(data: bytes, length: int) -> bytes:
    if len(data) != length:
        raise ValueError(f"the data ends after {len(data)} of {length} bytes")
    return data


def _cells(reader: _ArrayReader, element: ElementTree.Element | None) -> list[np.ndarray]:
    if element is None:
        return []
    arrays = {one.get("Name"): one for one in element.findall("DataArray")}
    if "connectivity" not in arrays or "offsets" not in arrays:
        return []
    corners = reader.values(arrays["connectivity"]).astype(int)
    ends = reader.values(arrays["offsets"]).astype(int)
    return np.split(corners, ends[:-1]) if len(ends) else []


def _fans(reader: _ArrayReader, element: ElementTree.Element | None) -> list[tuple[int, ...]]:
    return [
        (int(cell[0]), int(cell[k]), int(cell[k + 1]))
        for cell in _cells(reader, element)
        for k in range(1, len(cell) - 1)
    ]


def _strips(reader: _ArrayReader, element: ElementTree.Element | None) -> list[tuple[int, ...]]:
    """Triangles of strips; every second one is turned around."""
    found: list[tuple[int, ...]] = []
    for cell in _cells(reader, element):
        for k in range(len(cell) - 2):
            a, b = (k, k + 1) if k % 2 == 0 else (k + 1, k)
            found.append((int(cell[a]), int(cell[b]), int(cell[k + 2])))
    return found
