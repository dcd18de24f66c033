"""Marker frames as JSON messages over WebSocket; this machine is the server or the client."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from homodyn.track.streams.json_messages import MAX_MESSAGE_BYTES, parse_message
from homodyn.track.streams.marker_frame import MarkerFrame
from homodyn.track.streams.marker_source import MarkerSource
from homodyn.track.streams.stream_errors import PacketError, StreamError

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection
    from websockets.sync.server import Server, ServerConnection

CONNECT_TIMEOUT_S = 3.0
MAX_WAITING_MESSAGES = 1000


class WebSocketServerSource(MarkerSource):
    """Receives JSON messages of senders that connect to a port.

    Senders may connect, disconnect and connect again at any time.

    Args:
        port: The port; 0 for a free one, which ``port`` is after `open`.
        host: Address to listen on.
    """

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        super().__init__()
        self.port, self.host = port, host
        self.address = f"ws:{port}"
        self._server: Server | None = None
        self._messages: queue.Queue[tuple[str | bytes, float]] = queue.Queue(MAX_WAITING_MESSAGES)

    def open(self) -> None:
        """Listen at the port.

        Raises:
            StreamError: The port is not available, or the package websockets is missing.
        """
        require_websockets()
        from websockets.sync.server import serve

        try:
            # Web pages have an origin: none of them may send markers.
            self._server = serve(
                self._receive, self.host, self.port, max_size=MAX_MESSAGE_BYTES, origins=[None]
            )
        except OSError as error:
            raise StreamError(
                f"{self.address} is not available: {error.strerror}; choose another port"
            ) from error
        self.port = int(self._server.socket.getsockname()[1])
        threading.Thread(target=self._server.serve_forever, daemon=True, name="markers").start()

    def read(self, timeout_s: float) -> Sequence[MarkerFrame]:
        """Return the frame of the next message; see `MarkerSource.read`.

        Args:
            timeout_s: Longest time to wait (s).

        Returns:
            One frame, or none.

        Raises:
            StreamError: The source is not open.
        """
        if self._server is None:
            raise StreamError(f"{self.address} is not open")
        try:
            message, arrival = self._messages.get(timeout=max(timeout_s, 1e-6))
        except queue.Empty:
            return ()
        return _parse(self, message, arrival)

    def close(self) -> None:
        """Release the port."""
        if self._server is not None:
            self._server.shutdown()
            self._server = None

    def _receive(self, connection: ServerConnection) -> None:
        """Receive the messages of one sender until it disconnects."""
        for message in _messages(connection):
            if self._messages.full():
                self._messages.get_nowait()
            self._messages.put((message, perf_counter()))


class WebSocketClientSource(MarkerSource):
    """Receives JSON messages of a server.

    Args:
        url: Address of the server, such as ``ws://192.168.0.7:9764``.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self.address = url
        self._connection: ClientConnection | None = None

    def open(self) -> None:
        """Connect to the server.

        Raises:
            StreamError: It does not answer, or the package websockets is missing.
        """
        require_websockets()
        from websockets.exceptions import WebSocketException
        from websockets.sync.client import connect

        try:
            self._connection = connect(
                self.address, open_timeout=CONNECT_TIMEOUT_S, max_size=MAX_MESSAGE_BYTES, proxy=None
            )
        except (OSError, WebSocketException) as error:
            raise StreamError(f"{self.address} does not answer: {error}") from error

    def read(self, timeout_s: float) -> Sequence[MarkerFrame]:
        """Return the frame of the next message; see `MarkerSource.read`.

        Args:
            timeout_s: Longest time to wait (s).

        Returns:
            One frame, or none.

        Raises:
            StreamError: The connection was lost.
        """
        if self._connection is None:
            raise StreamError(f"{self.address} is not open")
        from websockets.exceptions import ConnectionClosed

        try:
            message = self._connection.recv(timeout=timeout_s)
        except TimeoutError:
            return ()
        except ConnectionClosed as error:
            raise StreamError(f"{self.address}: the connection was lost") from error
        return _parse(self, message, perf_counter())

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def require_websockets() -> None:
    """Check that the package websockets is installed.

    Raises:
        StreamError: It is missing.
    """
    try:
        import websockets  # noqa: F401
    except ImportError:
        raise StreamError(
            "streams over WebSocket need the package websockets: pip install 'homodyn[live]'"
        ) from None


def _messages(connection: Any) -> Any:
    from websockets.exceptions import ConnectionClosed

    try:
        yield from connection
    except ConnectionClosed:
        return


def _parse(source: MarkerSource, message: str | bytes, arrival: float) -> Sequence[MarkerFrame]:
    try:
        return (parse_message(message, arrival),)
    except PacketError as error:
        source.count_malformed(str(error))
        return ()
