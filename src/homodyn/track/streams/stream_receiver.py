"""The thread that receives frames: it connects, reads, and connects again after a failure."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from homodyn.track.streams.frame_queue import FrameQueue
from homodyn.track.streams.marker_source import MarkerSource
from homodyn.track.streams.stream_errors import StreamEnd, StreamError

READ_TIMEOUT_S = 0.05
FIRST_RETRY_S = 0.1
MAX_RETRY_S = 1.0
"""Time between attempts to connect: it doubles from the first to the last value."""


@dataclass
class ReceiverCounts:
    """What the receiver counted so far."""

    frames: int = 0
    connections: int = 0
    losses: int = 0
    """Number of lost connections."""
    malformed: int = 0
    """Number of packets that could not be read."""
    complaint: str = ""
    """Why the last malformed packet could not be read."""
    error: str = ""
    """Why there is no connection at present; empty while there is one."""


class StreamReceiver:
    """Puts the frames of a source into a queue, in its own thread.

    Args:
        source: The source; the thread opens and closes it.
        queue: The queue.
        on_event: Called in the thread with a sentence when the connection is made or lost.
        patience_s: Time without connection (s) after which the stream ends; None: never.
    """

    def __init__(
        self,
        source: MarkerSource,
        queue: FrameQueue,
        on_event: Callable[[str], None] = lambda sentence: None,
        patience_s: float | None = None,
    ) -> None:
        self.source, self.queue, self.counts = source, queue, ReceiverCounts()
        self._on_event, self._patience_s = on_event, patience_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="receiver")

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and close the source."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)

    def _run(self) -> None:
        source, counts = self.source, self.counts
        lost_at: float | None = perf_counter()
        retry_s = FIRST_RETRY_S
        try:
            while not self._stop.is_set():
                try:
                    if lost_at is not None:
                        source.open()
                        self._report_connection(perf_counter() - lost_at)
                        lost_at, retry_s = None, FIRST_RETRY_S
                    self._read()
                except StreamEnd:
                    return
                except StreamError as error:
                    source.close()
                    if lost_at is None:
                        counts.losses += 1
                        lost_at = perf_counter()
                        self._on_event(f"{error}; waiting for a new connection")
                    elif str(error) != counts.error:
                        self._on_event(f"{error}; waiting for it")
                    counts.error = str(error)
                    if self._patience_s is not None and perf_counter() - lost_at > self._patience_s:
                        return
                    self._stop.wait(retry_s)
                    retry_s = min(2.0 * retry_s, MAX_RETRY_S)
        except Exception as error:
            counts.error = f"unexpected error of {source.address}: {error}"
            self._on_event(counts.error)
            raise
        finally:
            source.close()
            self.queue.end()

    def _read(self) -> None:
        try:
            for frame in self.source.read(READ_TIMEOUT_S):
                self.counts.frames += 1
                self.queue.add(frame)
        finally:
            self.counts.malformed = self.source.malformed
            self.counts.complaint = self.source.complaint

    def _report_connection(self, waited_s: float) -> None:
        counts = self.counts
        counts.connections += 1
        counts.error = ""
        again = f" again after {waited_s:.1f} s" if counts.connections > 1 else ""
        self._on_event(f"{self.source.address} is open{again}")
