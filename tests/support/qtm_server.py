"""A server that speaks the real-time protocol of Qualisys Track Manager, for tests.

Written from the documentation of the protocol; `tests/track/streams/test_qtm_source.py` checks it
with the client of the manufacturer.
"""

from __future__ import annotations

import socket
import struct
import threading

import numpy as np

ERROR, COMMAND, XML, DATA, NO_MORE_DATA, EVENT = 0, 1, 2, 3, 4, 6


def packet(kind: int, content: bytes) -> bytes:
    """A packet with its header."""
    return struct.pack("<II", 8 + len(content), kind) + content


def data_packet(time: float, number: int, positions: np.ndarray) -> bytes:
    """A data packet of labeled markers; positions (markers, 3) in m."""
    values = (1e3 * positions).astype("<f4").tobytes()
    markers = struct.pack("<IHH", len(positions), 0, 0) + values
    component = struct.pack("<II", 8 + len(markers), 1) + markers
    return packet(DATA, struct.pack("<qII", round(time * 1e6), number, 1) + component)


def settings(labels: tuple[str, ...], up: str = "+Z") -> bytes:
    """The XML document of the 3D settings."""
    rows = "".join(
        f"<Label><Name>{label}</Name><RGBColor>65280</RGBColor><Trajectory_Type>Measured"
        "</Trajectory_Type></Label>"
        for label in labels
    )
    text = (
        f"<QTM_Parameters_Ver_1.13><The_3D><AxisUpwards>{up}</AxisUpwards><CalibrationTime/>"
        f"<Labels>{len(labels)}</Labels>{rows}</The_3D></QTM_Parameters_Ver_1.13>"
    )
    return packet(XML, text.encode() + b"\0")


class QtmServer:
    """Accepts clients one after the other and answers their commands."""

    def __init__(self, labels: tuple[str, ...], up: str = "+Z") -> None:
        self.labels, self.up = labels, up
        self.streaming = threading.Event()
        self.commands: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._client: socket.socket | None = None
        threading.Thread(target=self._accept, daemon=True).start()

    def send(self, content: bytes) -> None:
        """Send bytes to the client."""
        assert self._client is not None
        self._client.sendall(content)

    def disconnect(self) -> None:
        """Close the connection of the client; the server accepts a new one."""
        self.streaming.clear()
        assert self._client is not None
        self._client.shutdown(socket.SHUT_RDWR)
        self._client.close()

    def close(self) -> None:
        """End the server."""
        self._listener.close()
        if self._client is not None:
            self._client.close()

    def _accept(self) -> None:
        while True:
            try:
                self._client, _ = self._listener.accept()
            except OSError:
                return
            self.send(packet(COMMAND, b"QTM RT Interface connected\0"))
            try:
                self._serve(self._client)
            except OSError:
                continue

    def _serve(self, client: socket.socket) -> None:
        received = b""
        while chunk := client.recv(4096):
            received += chunk
            while len(received) >= 8 and len(received) >= (
                size := struct.unpack_from("<I", received)[0]
            ):
                command = received[8:size].rstrip(b"\0").decode().strip()
                received = received[size:]
                self.commands.append(command)
                self._answer(command.lower())

    def _answer(self, command: str) -> None:
        if command.startswith("version"):
            self.send(packet(COMMAND, f"Version set to {command.split()[1]}\0".encode()))
        elif command.startswith("getparameters"):
            self.send(settings(self.labels, self.up))
        elif command.startswith("streamframes"):
            self.streaming.set()
        else:
            self.send(packet(ERROR, b"Parse error\0"))
