"""Results of live tracking as JSON messages for the clients of a WebSocket."""

from __future__ import annotations

import json
import queue
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from homodyn.model import Model
from homodyn.track.streams.live_sample import LiveSample
from homodyn.track.streams.outputs.live_output import LiveOutput
from homodyn.track.streams.stream_errors import StreamError
from homodyn.track.streams.websocket_source import require_websockets

if TYPE_CHECKING:
    from websockets.sync.server import Server, ServerConnection

MAX_WAITING_MESSAGES = 4
"""Messages that wait for a slow client; older ones are left out."""


class WebSocketOutput(LiveOutput):
    """Sends each result to all clients of a port of this machine.

    The first message of a client describes the model: ``{"model": ..., "coordinates": [...]}``.
    Every further one is a result: time (s), q, v, torques, power (W), effort (N m), marker_error
    (m), latency (s), and ground, the force (N) and point (m) by body.

    Args:
        port: The port; 0 for a free one, which ``port`` then is.
        host: Address to listen on.

    Raises:
        StreamError: The port is not available, or the package websockets is missing.
    """

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        require_websockets()
        from websockets.sync.server import serve

        self._clients: set[queue.Queue[str | None]] = set()
        self._lock = threading.Lock()
        self._greeting = "{}"
        try:
            # Web pages have an origin: none of them may read the results.
            self._server: Server = serve(
                self._send, host, port, origins=[None], compression=None, close_timeout=1.0
            )
        except OSError as error:
            raise StreamError(
                f"port {port} is not available: {error.strerror}; choose another one"
            ) from error
        self.port = int(self._server.socket.getsockname()[1])
        threading.Thread(target=self._server.serve_forever, daemon=True, name="results").start()

    def start(self, model: Model) -> None:
        """Describe a model to the clients; see `LiveOutput.start`.

        Args:
            model: The model.
        """
        self._greeting = json.dumps(
            {
                "model": model.name,
                "coordinates": list(model.coordinate_names),
                "nq": model.nq,
                "mass": model.mass,
            }
        )
        self._send_all(self._greeting)

    def write(self, sample: LiveSample) -> None:
        """Send a result; see `LiveOutput.write`.

        Args:
            sample: The result.
        """
        if self._clients:
            self._send_all(sample_message(sample))

    def close(self) -> None:
        """Disconnect all clients and release the port."""
        self._send_all(None)
        self._server.shutdown()

    def _send_all(self, message: str | None) -> None:
        with self._lock:
            for waiting in self._clients:
                if waiting.full():
                    waiting.get_nowait()
                waiting.put_nowait(message)

    def _send(self, connection: ServerConnection) -> None:
        from websockets.exceptions import ConnectionClosed

        waiting: queue.Queue[str | None] = queue.Queue(MAX_WAITING_MESSAGES)
        with self._lock:
            self._clients.add(waiting)
            waiting.put_nowait(self._greeting)
        try:
            while (message := waiting.get()) is not None:
                connection.send(message)
        except ConnectionClosed:
            pass
        finally:
            with self._lock:
                self._clients.discard(waiting)


def sample_message(sample: LiveSample) -> str:
    """The JSON message of a result; numbers that are not known are null.

    Args:
        sample: The result.

    Returns:
        JSON text in one line.
    """
    data: dict[str, Any] = {
        "time": sample.time,
        "number": sample.number,
        "q": sample.q.tolist(),
        "v": sample.v.tolist(),
        "torques": sample.torques.tolist(),
        "power": sample.power,
        "effort": sample.effort,
        "marker_error": _finite_or_none(sample.marker_error),
        "latency": sample.latency_s,
        "status": sample.status,
        "ground": {
            body: {"force": contact.force.tolist(), "point": _finite_list(contact.point)}
            for body, contact in sample.ground.items()
        },
    }
    return json.dumps(data, separators=(",", ":"))


def _finite_or_none(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def _finite_list(values: np.ndarray) -> list[float | None]:
    return [_finite_or_none(x) for x in values.tolist()]
