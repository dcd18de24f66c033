"""Marker frames of Qualisys Track Manager by its real-time protocol (TCP).

The client is our own and not that of the package ``qtm-rt``: its receiver never returns after a
packet with size zero, and it closes the connection at a packet of an unknown type. ``qtm-rt`` is
the oracle of the tests.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from time import perf_counter

import numpy as np

from homodyn.capture.formats.up_axis import parse_up_axis
from homodyn.errors import HomodynError
from homodyn.track.streams.marker_frame import MarkerFrame
from homodyn.track.streams.marker_source import MarkerSource
from homodyn.track.streams.qtm_packets import (
    PacketBuffer,
    PacketType,
    QtmPacket,
    command_packet,
    parse_data,
    parse_labels,
)
from homodyn.track.streams.stream_errors import PacketError, StreamError

DEFAULT_PORT = 22223
"""Port of QTM for little-endian packets."""
PROTOCOL_VERSION = "1.13"
ANSWER_TIMEOUT_S = 3.0
RECEIVE_BYTES = 65_536
EVENTS_THAT_CHANGE_LABELS = (3, 8, 11)
"""A measurement, or a file in real time, was started; settings of the cameras changed."""


class QtmSource(MarkerSource):
    """Labeled 3D markers of QTM.

    Args:
        host: Address of the computer with QTM.
        port: Port of the protocol.
    """

    def __init__(self, host: str, port: int = DEFAULT_PORT) -> None:
        super().__init__()
        self.host, self.port = host, port
        self.address = f"qtm:{host}" if port == DEFAULT_PORT else f"qtm:{host}:{port}"
        self._socket: socket.socket | None = None
        self._buffer = PacketBuffer()
        self._waiting: list[QtmPacket] = []
        self._labels: tuple[str, ...] = ()
        self._axes = np.eye(3)

    def open(self) -> None:
        """Connect, read the labels and start the stream.

        Raises:
            StreamError: QTM does not answer, refuses a command, or has no labels.
        """
        self.close()
        try:
            self._socket = socket.create_connection((self.host, self.port), ANSWER_TIMEOUT_S)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise StreamError(
                f"{self.address} does not answer: {error.strerror or error}; start QTM and check "
                "its real-time output"
            ) from error
        self._buffer, self._waiting = PacketBuffer(), []
        self._answer(PacketType.COMMAND)
        self._send(f"Version {PROTOCOL_VERSION}")
        answer = self._answer(PacketType.COMMAND)
        if not answer.text.lower().startswith("version set"):
            raise StreamError(f"{self.address} refuses version {PROTOCOL_VERSION}: {answer.text}")
        self._send("GetParameters 3D")
        self._take_labels(self._answer(PacketType.XML))
        self._send("StreamFrames AllFrames 3D")

    def read(self, timeout_s: float) -> Sequence[MarkerFrame]:
        """Return the frames that arrived; see `MarkerSource.read`.

        Args:
            timeout_s: Longest time to wait (s).

        Returns:
            The frames.

        Raises:
            StreamError: The connection was lost, or its packets cannot be separated.
        """
        packets, self._waiting = self._waiting or self._receive(timeout_s), []
        arrival = perf_counter()
        frames = []
        for packet in packets:
            try:
                frame = self._frame(packet, arrival)
            except PacketError as error:
                self.count_malformed(str(error))
                continue
            if frame is not None:
                frames.append(frame)
        return frames

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _frame(self, packet: QtmPacket, arrival: float) -> MarkerFrame | None:
        """The frame of a packet; documents and events change the labels."""
        match packet.type:
            case PacketType.XML:
                self._take_labels(packet)
            case PacketType.EVENT if packet.content[:1]:
                if packet.content[0] in EVENTS_THAT_CHANGE_LABELS:
                    self._send("GetParameters 3D")
                    self._send("StreamFrames AllFrames 3D")
            case PacketType.DATA:
                data = parse_data(packet.content)
                if data is None:
                    return None
                if len(data.positions) != len(self._labels):
                    self._send("GetParameters 3D")
                    raise PacketError(
                        f"a data packet has {len(data.positions)} markers; QTM has "
                        f"{len(self._labels)} labels"
                    )
                return MarkerFrame(
                    data.time, self._labels, data.positions @ self._axes.T, arrival, data.number
                )
            case PacketType.ERROR:
                raise PacketError(f"QTM reports: {packet.text[:200]}")
        return None

    def _take_labels(self, packet: QtmPacket) -> None:
        settings = parse_labels(packet.text)
        try:
            self._axes = parse_up_axis(settings.up).axes
        except HomodynError:
            raise PacketError(
                f"the vertical axis of QTM is {settings.up!r}; accepted: +X, -X, ..., -Z"
            ) from None
        self._labels = settings.labels

    def _send(self, command: str) -> None:
        assert self._socket is not None
        try:
            self._socket.sendall(command_packet(command))
        except OSError as error:
            raise StreamError(f"{self.address}: the connection was lost") from error

    def _receive(self, timeout_s: float) -> list[QtmPacket]:
        if self._socket is None:
            raise StreamError(f"{self.address} is not open")
        self._socket.settimeout(max(timeout_s, 1e-6))
        try:
            received = self._socket.recv(RECEIVE_BYTES)
        except TimeoutError:
            return []
        except OSError as error:
            raise StreamError(f"{self.address}: {error.strerror or error}") from error
        if not received:
            raise StreamError(f"{self.address}: QTM closed the connection")
        return list(self._buffer.feed(received))

    def _answer(self, kind: PacketType) -> QtmPacket:
        """The next packet of a type; packets after it are kept."""
        deadline = perf_counter() + ANSWER_TIMEOUT_S
        while (left := deadline - perf_counter()) > 0.0:
            packets, self._waiting = self._waiting or self._receive(left), []
            for place, packet in enumerate(packets):
                if packet.type == PacketType.ERROR:
                    raise StreamError(f"{self.address} reports: {packet.text[:200]}")
                if packet.type == kind:
                    self._waiting = packets[place + 1 :]
                    return packet
        raise StreamError(f"{self.address} does not answer in {ANSWER_TIMEOUT_S:g} s")
