"""A recording that is played as a stream, at its own rate."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

from homodyn.capture import Trial, read
from homodyn.errors import CaptureError
from homodyn.track.streams.marker_frame import MarkerFrame
from homodyn.track.streams.marker_source import MarkerSource
from homodyn.track.streams.stream_errors import StreamEnd

MAX_LATENESS_S = 0.5
"""Delay of the reader above which the player goes on from the present time."""


class FilePlayer(MarkerSource):
    """The frames of a recording, each at its time.

    Args:
        trial: The recording, or its file.
        speed: Multiple of the speed of the recording; infinite: as fast as frames are read.
        loop: Begin again at the end; the time goes on.

    Raises:
        CaptureError: The recording has no frame, or the speed is not positive.
        FormatError: The file cannot be read.
    """

    def __init__(
        self, trial: Trial | str | Path, *, speed: float = 1.0, loop: bool = False
    ) -> None:
        super().__init__()
        self.trial = trial if isinstance(trial, Trial) else read(trial)
        if not speed > 0.0:
            raise CaptureError(f"the speed of a player is {speed}; a positive number is expected")
        if not self.trial.frames:
            raise CaptureError(f"recording {self.trial.name!r} has no frame to play")
        self.speed, self.loop = speed, loop
        self.address = f"file:{self.trial.source or self.trial.name}"
        self._next = 0
        self._start: float | None = None
        self._closed = threading.Event()

    def open(self) -> None:
        """Start, or continue, the recording at the present time."""
        self._closed.clear()
        self._start = None

    def read(self, timeout_s: float) -> Sequence[MarkerFrame]:
        """Return the frames that are due; see `MarkerSource.read`.

        Args:
            timeout_s: Longest time to wait (s).

        Returns:
            The frames.

        Raises:
            StreamEnd: The recording is at its end.
        """
        if self._next >= self.trial.frames and not self.loop:
            raise StreamEnd(f"{self.address} is at its end")
        paced = np.isfinite(self.speed)
        step_s = 1.0 / (self.trial.rate * self.speed)
        now = perf_counter()
        late_s = 0.0 if self._start is None else now - (self._start + self._next * step_s)
        if self._start is None or late_s > MAX_LATENESS_S:
            self._start = now - self._next * step_s
        wait_s = self._start + self._next * step_s - now
        if paced and wait_s > 0.0:
            self._closed.wait(min(wait_s, timeout_s))
            if wait_s > timeout_s:
                return ()
        number, self._next = self._next, self._next + 1
        return (self._frame(number),)

    def close(self) -> None:
        """Stop waiting."""
        self._closed.set()

    def _frame(self, number: int) -> MarkerFrame:
        trial = self.trial
        return MarkerFrame(
            trial.start + number / trial.rate,
            trial.markers,
            trial.positions[number % trial.frames],
            perf_counter(),
            number,
        )
