"""A queue of frames between the receiving and the computing thread, of limited length."""

from __future__ import annotations

import threading
from collections import deque

from homodyn.track.streams.marker_frame import MarkerFrame

MAX_WAITING_FRAMES = 3
"""Frames that wait at most: the delay by waiting is below this number of frames."""
MAX_SKIPPED_FRAMES = 20_000
"""Skipped frames that are kept for the recording of the markers."""


class FrameQueue:
    """Frames in order; when too many wait, the oldest are skipped, so that the delay is limited.

    Skipped frames are not computed, but they are kept until `take` returns them, because the
    recording of the markers is complete nevertheless.

    Args:
        capacity: Frames that may wait; 0 for any number (nothing is skipped).
    """

    def __init__(self, capacity: int = MAX_WAITING_FRAMES) -> None:
        self.capacity = capacity
        self.skipped = 0
        """Number of frames that were skipped so far."""
        self._frames: deque[MarkerFrame] = deque()
        self._skipped: deque[MarkerFrame] = deque(maxlen=MAX_SKIPPED_FRAMES)
        self._changed = threading.Condition()
        self._ended = False

    def add(self, frame: MarkerFrame) -> None:
        """Add a frame; the oldest one is skipped if the queue is full."""
        with self._changed:
            self._frames.append(frame)
            if self.capacity and len(self._frames) > self.capacity:
                self._skipped.append(self._frames.popleft())
                self.skipped += 1
            self._changed.notify()

    def end(self) -> None:
        """Announce that no frame will follow."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    @property
    def ended(self) -> bool:
        """Whether no frame waits and none will follow."""
        with self._changed:
            return self._ended and not self._frames

    def take(self, timeout_s: float) -> tuple[list[MarkerFrame], MarkerFrame | None]:
        """Remove the oldest waiting frame, and those that were skipped before it.

        Args:
            timeout_s: Longest time to wait for a frame (s).

        Returns:
            The frames that were skipped since the last call, and the frame; None after the
            timeout and at the end.
        """
        with self._changed:
            if not self._frames and not self._ended:
                self._changed.wait(timeout_s)
            skipped = list(self._skipped)
            self._skipped.clear()
            return skipped, self._frames.popleft() if self._frames else None
