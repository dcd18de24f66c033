"""Elapsed time, unaffected by changes of the system clock."""

from __future__ import annotations

import time


class Stopwatch:
    """Time since its creation, with an optional limit.

    Args:
        limit: Time (s) after which it expires; never by default.
    """

    def __init__(self, limit: float | None = None) -> None:
        self._start = time.monotonic()
        self._limit = limit

    @property
    def elapsed(self) -> float:
        """Seconds since its creation."""
        return time.monotonic() - self._start

    @property
    def expired(self) -> bool:
        """Whether the limit is reached."""
        return self._limit is not None and self.elapsed >= self._limit

    @property
    def remaining(self) -> float:
        """Seconds until the limit, infinite without one."""
        return float("inf") if self._limit is None else max(self._limit - self.elapsed, 0.0)
