"""Packets of the real-time protocol of Qualisys Track Manager (QTM), little endian.

A packet is its size and type (unsigned 32-bit integers; the size includes them) and its content. A
data packet has a time stamp (64 bit, us), the number of the frame and of the components (32 bit),
and components, each with size and type. Component 1 has the labeled markers: their number, drop
rate and out-of-sync rate (16 bit), and three 32-bit floats per marker (mm), NaN where one is not
seen. Source: QTM Real-time Server Protocol Documentation, versions 1.8 to 1.25.
"""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from homodyn.track.streams.json_messages import MAX_COORDINATE_M, MAX_MARKERS
from homodyn.track.streams.stream_errors import PacketError, StreamError

MAX_PACKET_BYTES = 4_000_000
MM_IN_M = 1e-3
US_IN_S = 1e-6
COMPONENT_3D = 1
_HEADER = struct.Struct("<II")
_DATA = struct.Struct("<qII")
_COMPONENT = struct.Struct("<II")
_COMPONENT_3D = struct.Struct("<IHH")


class PacketType(IntEnum):
    """Types of packets."""

    ERROR = 0
    COMMAND = 1
    XML = 2
    DATA = 3
    NO_MORE_DATA = 4
    EVENT = 6


@dataclass(frozen=True)
class QtmPacket:
    """One packet; other types than those of `PacketType` are passed on as numbers."""

    type: int
    content: bytes

    @property
    def text(self) -> str:
        """The content of a command, an error or a document."""
        return self.content.rstrip(b"\0").decode("utf-8", "replace")


@dataclass(frozen=True, eq=False)
class QtmFrame:
    """Labeled markers of a data packet."""

    time: float
    """s, on the clock of QTM."""
    number: int
    positions: np.ndarray
    """(markers, 3), m, in the axes of QTM."""


@dataclass(frozen=True)
class QtmLabels:
    """Labels and vertical axis of the settings of QTM."""

    labels: tuple[str, ...]
    up: str
    """"x", "y" or "z", with a minus sign if it points down."""


class PacketBuffer:
    """Splits the bytes of a connection into packets."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, received: bytes) -> Iterator[QtmPacket]:
        """Add received bytes and return the packets that are complete.

        Args:
            received: Bytes in the order of the connection.

        Yields:
            Complete packets.

        Raises:
            StreamError: A size is impossible, so that the next packet cannot be found.
        """
        self._bytes += received
        start = 0
        try:
            while len(self._bytes) - start >= _HEADER.size:
                size, kind = _HEADER.unpack_from(self._bytes, start)
                if not _HEADER.size <= size <= MAX_PACKET_BYTES:
                    raise StreamError(
                        f"a packet of {size} bytes is not possible; the connection is opened again"
                    )
                if len(self._bytes) - start < size:
                    return
                content = bytes(self._bytes[start + _HEADER.size : start + size])
                start += size
                yield QtmPacket(kind, content)
        finally:
            del self._bytes[:start]


def command_packet(command: str) -> bytes:
    """The packet of a command.

    Args:
        command: The command, such as ``Version 1.13``.

    Returns:
        The bytes to send.
    """
    content = command.encode("ascii") + b"\0"
    return _HEADER.pack(_HEADER.size + len(content), PacketType.COMMAND) + content


def parse_data(content: bytes) -> QtmFrame | None:
    """The labeled markers of a data packet.

    Args:
        content: Content of the packet.

    Returns:
        The markers; None if the packet has none.

    Raises:
        PacketError: Sizes of the packet do not fit.
    """
    try:
        stamp, number, components = _DATA.unpack_from(content)
        start = _DATA.size
        for _ in range(components):
            size, kind = _COMPONENT.unpack_from(content, start)
            if size < _COMPONENT.size or start + size > len(content):
                raise PacketError("a component of a data packet has an impossible size")
            if kind == COMPONENT_3D:
                markers = content[start + _COMPONENT.size : start + size]
                return QtmFrame(stamp * US_IN_S, number, _positions(markers))
            start += size
    except struct.error:
        raise PacketError("a data packet is too short") from None
    return None


def parse_labels(document: str) -> QtmLabels:
    """The labels in the 3D settings.

    Args:
        document: The XML document that answers ``GetParameters 3D``.

    Returns:
        Labels in the order of data packets, and the vertical axis.

    Raises:
        PacketError: The document cannot be read or has no labels.
    """
    if "<!DOCTYPE" in document or "<!ENTITY" in document:
        raise PacketError("the settings of QTM contain declarations, which are not accepted")
    try:
        root = ElementTree.fromstring(document)
    except ElementTree.ParseError as error:
        raise PacketError(f"the settings of QTM cannot be read: {error}") from None
    section = next((node for node in root.iter() if node.tag.lower() == "the_3d"), None)
    if section is None:
        raise PacketError("the settings of QTM have no section The_3D; start a measurement")
    names = [
        (child.text or "").strip()
        for label in section
        if label.tag.lower() == "label"
        for child in label
        if child.tag.lower() == "name"
    ]
    if not names or len(names) > MAX_MARKERS or len(set(names)) != len(names) or not all(names):
        raise PacketError(
            f"the settings of QTM have {len(names)} labels; 1 to {MAX_MARKERS} different ones are "
            "expected: load the AIM model or label the trajectories"
        )
    up = next(
        ((node.text or "") for node in section if node.tag.lower() == "axisupwards"), "+Z"
    ).strip()
    return QtmLabels(tuple(names), up.lower().removeprefix("+") or "z")


def _positions(component: bytes) -> np.ndarray:
    count, _, _ = _COMPONENT_3D.unpack_from(component)
    values = component[_COMPONENT_3D.size :]
    if count > MAX_MARKERS or len(values) != 12 * count:
        raise PacketError(f"a data packet has {len(values)} bytes for {count} markers")
    positions = np.frombuffer(values, dtype="<f4").reshape(count, 3).astype(float) * MM_IN_M
    positions[~(np.abs(positions) <= MAX_COORDINATE_M).all(-1)] = np.nan
    return positions
