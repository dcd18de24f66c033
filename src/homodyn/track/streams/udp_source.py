"""Marker frames as JSON messages in UDP packets."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from time import perf_counter

from homodyn.track.streams.json_messages import parse_message
from homodyn.track.streams.marker_frame import MarkerFrame
from homodyn.track.streams.marker_source import MarkerSource
from homodyn.track.streams.stream_errors import PacketError, StreamError

MAX_PACKET_BYTES = 65_535


class UdpSource(MarkerSource):
    """Receives JSON messages at a port; one packet is one frame.

    Args:
        port: The port; 0 for a free one, which ``port`` is after `open`.
        host: Address to listen on.
    """

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        super().__init__()
        self.port, self.host = port, host
        self.address = f"udp:{port}" if host == "127.0.0.1" else f"udp:{host}:{port}"
        self._socket: socket.socket | None = None

    def open(self) -> None:
        """Listen at the port.

        Raises:
            StreamError: The port is not available.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        receiver = socket.socket(family, socket.SOCK_DGRAM)
        try:
            receiver.bind((self.host, self.port))
        except OSError as error:
            receiver.close()
            raise StreamError(
                f"{self.address} is not available: {error.strerror}; choose another port"
            ) from error
        self.port = int(receiver.getsockname()[1])
        self._socket = receiver

    def read(self, timeout_s: float) -> Sequence[MarkerFrame]:
        """Return the frame of the next packet; see `MarkerSource.read`.

        Args:
            timeout_s: Longest time to wait (s).

        Returns:
            One frame, or none.

        Raises:
            StreamError: The socket was closed.
        """
        if self._socket is None:
            raise StreamError(f"{self.address} is not open")
        self._socket.settimeout(max(timeout_s, 1e-6))
        try:
            packet = self._socket.recv(MAX_PACKET_BYTES)
        except TimeoutError:
            return ()
        except OSError as error:
            raise StreamError(f"{self.address}: {error.strerror or error}") from error
        try:
            return (parse_message(packet, perf_counter()),)
        except PacketError as error:
            self.count_malformed(str(error))
            return ()

    def close(self) -> None:
        """Release the port."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
