"""Summary of a live session: frames, delays, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.track.streams.latency import LatencySummary


@record
class LiveSummary(Record):
    """Frames, delays and findings of a live session."""

    source: str
    """Address of the source."""
    state: str
    """What the session does, or how it ended."""
    frames: int = 0
    """Number of frames that arrived."""
    tracked: int = 0
    """Number of frames with a result."""
    skipped: int = 0
    """Number of frames that were not computed because newer ones waited."""
    late: int = 0
    """Number of frames that arrived late or twice."""
    malformed: int = 0
    """Number of packets that could not be read."""
    connections: int = 0
    """Number of times that the source was opened."""
    rate_hz: float = 0.0
    """Frames per second of the stream; 0 if it is not known."""
    unreliable: int = 0
    """Number of results that are marked as not reliable."""
    filter_delay_ms: float = 0.0
    """Delay of the filter, by design."""
    latency: Mapping[str, LatencySummary] = field(default_factory=dict)
    """Delays by part: ``waiting`` from arrival to begin, ``computing``, ``output``, ``total``, and
    ``jitter``, the variable part of the delay of the sender and the network."""
    files: tuple[str, ...] = ()
    """Files that were written."""
    sentences: tuple[str, ...] = ()
    """What was found, in order; repeated ones once."""

    def headline(self) -> str:
        """Frames and the total delay in one sentence."""
        text = (
            f"{self.source}: {count_of(self.frames, 'frame')}, {self.tracked} tracked, "
            f"{self.skipped} skipped"
        )
        if self.malformed:
            text += f", {self.malformed} malformed"
        total = self.latency.get("total")
        if total is not None and total.count:
            text += f"; latency {total.median_ms:.1f} ms median, {total.p99_ms:.1f} ms p99"
        return text
