"""The server of the headset page: static files, and frames over a WebSocket."""

from __future__ import annotations

import contextlib
import queue
import threading
from http import HTTPStatus
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from homodyn.errors import HomodynError
from homodyn.model import Model
from homodyn.studio.access_gate import AccessGate, new_token
from homodyn.studio.headset.headset_messages import body_message, frame_message, parse_head
from homodyn.track.experiments import ExperimentRun
from homodyn.track.experiments.experiment_run import pointer_position
from homodyn.track.streams import LiveSample
from homodyn.track.streams.outputs import LiveOutput

STREAM_PATH = "/stream"
MAX_MESSAGE_BYTES = 4096
MAX_WAITING_FRAMES = 2
MIN_FRAME_S = 1.0 / 95.0
"""Time (s) between two frames of the page: headsets draw 72 to 90 per second."""
FILES = {
    "/": ("headset.html", "text/html; charset=utf-8"),
    "/headset.js": ("headset.js", "text/javascript; charset=utf-8"),
    "/three.min.js": ("three.min.js", "text/javascript; charset=utf-8"),
}
"""Files of the page and their types, by path."""


class HeadsetServer(LiveOutput):
    """Shows a live session, and the targets of an experiment, on a WebXR page of this machine.

    Args:
        port: The port; 0 for a free one.
        experiment: The experiment; None shows the body alone.
        host: Address to listen on.

    Raises:
        HomodynError: The port is not available.
    """

    def __init__(
        self, port: int = 0, experiment: ExperimentRun | None = None, host: str = "127.0.0.1"
    ) -> None:
        self.experiment = experiment
        self.gate = AccessGate(host, new_token())
        self._clients: set[queue.Queue[str | None]] = set()
        self._lock = threading.Lock()
        self._model: Model | None = None
        self._body: str | None = None
        self._sent_at = -np.inf
        assets = files("homodyn.studio").joinpath("assets")
        self._files = {
            path: (assets.joinpath(name).read_bytes(), kind) for path, (name, kind) in FILES.items()
        }
        try:
            self._server = serve(
                self._stream,
                host,
                port,
                process_request=self.gate.wrap(self._answer),
                max_size=MAX_MESSAGE_BYTES,
                close_timeout=1.0,
            )
        except OSError as error:
            raise HomodynError(
                f"{host}:{port} is not available: {error.strerror}; choose another port"
            ) from error
        self.port = int(self._server.socket.getsockname()[1])
        threading.Thread(target=self._server.serve_forever, daemon=True, name="headset").start()

    @property
    def address(self) -> str:
        """The URL of the page, with its token."""
        return self.gate.address(self.port)

    def start(self, model: Model) -> None:
        """Show a model; see `LiveOutput.start`.

        Args:
            model: The model.
        """
        self._model, self._body = model, body_message(model)
        self._send_all(self._body)

    def write(self, sample: LiveSample) -> None:
        """Advance the experiment and show a result; see `LiveOutput.write`.

        Args:
            sample: The result.
        """
        model, run = self._model, self.experiment
        assert model is not None
        shown = None if run is None else run.advance(model, sample)
        # Recordings that are played fast, and rates above those of headsets, are thinned.
        now = sample.arrival + sample.latency_s
        if not self._clients or now - self._sent_at < MIN_FRAME_S:
            return
        self._sent_at = now
        pointer, radius = None, 0.0
        if run is not None:
            pointer = pointer_position(model, sample, run.experiment.pointer)
            radius = run.experiment.pointer_radius
        self._send_all(frame_message(model, sample, shown, pointer, radius))

    def close(self) -> None:
        """Disconnect all pages, release the port, and complete the files of the experiment."""
        self._send_all(None)
        self._server.shutdown()
        if self.experiment is not None:
            self.experiment.close()

    def _send_all(self, message: str | None) -> None:
        with self._lock:
            for waiting in self._clients:
                if waiting.full():
                    waiting.get_nowait()
                waiting.put_nowait(message)

    def _answer(self, connection: Any, request: Request) -> Response | None:
        """The file of a path; None opens the stream."""
        path = urlsplit(request.path).path
        if path == STREAM_PATH:
            return None
        content, kind = self._files.get(path, (b"there is no such page\n", "text/plain"))
        known = path in self._files
        status = HTTPStatus.OK if known else HTTPStatus.NOT_FOUND
        headers = Headers(
            {
                "Content-Type": kind,
                "Content-Length": str(len(content)),
                "X-Content-Type-Options": "nosniff",
                "Connection": "close",
            }
        )
        return Response(status, status.phrase, headers, content)

    def _stream(self, connection: ServerConnection) -> None:
        """Send frames to a page, and receive the place of its headset."""
        waiting: queue.Queue[str | None] = queue.Queue(MAX_WAITING_FRAMES)
        with self._lock:
            self._clients.add(waiting)
        threading.Thread(target=self._receive, args=(connection, waiting), daemon=True).start()
        try:
            body = None
            while True:
                if self._body is not None and body is not self._body:
                    body = self._body
                    connection.send(body)
                message = waiting.get()
                if message is None:
                    return
                if message is not body:
                    connection.send(message)
        except ConnectionClosed:
            return
        finally:
            with self._lock:
                self._clients.discard(waiting)

    def _receive(self, connection: ServerConnection, waiting: queue.Queue[str | None]) -> None:
        try:
            for message in connection:
                head = parse_head(message)
                if head is not None and self.experiment is not None:
                    self.experiment.head = head
        except ConnectionClosed:
            pass
        finally:
            # The sender of a page that is closed ends without waiting for a frame.
            with contextlib.suppress(queue.Full):
                waiting.put_nowait(None)
