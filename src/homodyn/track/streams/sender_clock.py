"""The clock of a sender compared with that of this machine.

A frame that was measured at t (clock of the sender) arrives at a = t + offset + delay with
delay >= 0, so that the smallest a - t of the last seconds estimates the offset plus the smallest
delay; what exceeds it is the variable part of the delay, the jitter. The constant part cannot be
seen from one side.
"""

from __future__ import annotations

from collections import deque

from homodyn.track.streams.latency import LatencyHistogram

WINDOW_S = 10.0
"""Time over which the smallest difference is taken, so that a drift of the clocks is followed."""
MAX_JUMP_S = 1.0
"""Change of the difference from which the clock of the sender was set again."""


class SenderClock:
    """Offset and jitter of the clock of a sender."""

    def __init__(self) -> None:
        self.jitter = LatencyHistogram()
        self._minima: deque[tuple[float, float]] = deque()

    @property
    def offset_s(self) -> float:
        """Clock of this machine minus clock of the sender (s); 0 before the first frame."""
        return self._minima[0][1] if self._minima else 0.0

    def add(self, time_s: float, arrival_s: float) -> float:
        """Add a frame.

        Args:
            time_s: Time of the measurement on the clock of the sender (s).
            arrival_s: Time of the arrival on the clock of this machine (s).

        Returns:
            Delay of this frame (s) beyond the smallest one.
        """
        difference = arrival_s - time_s
        if self._minima and abs(difference - self.offset_s) > MAX_JUMP_S:
            self._minima.clear()
        # Increasing differences only: the first one is the smallest of the window.
        while self._minima and self._minima[-1][1] >= difference:
            self._minima.pop()
        self._minima.append((arrival_s, difference))
        while self._minima[0][0] < arrival_s - WINDOW_S:
            self._minima.popleft()
        delay = difference - self.offset_s
        self.jitter.add(delay)
        return delay
