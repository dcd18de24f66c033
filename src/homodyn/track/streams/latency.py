"""Distributions of delays in constant memory."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from homodyn.foundation.record import Record, record

MIN_LATENCY_S = 1e-6
MAX_LATENCY_S = 100.0
BIN_RATIO = 1.02
"""Ratio of the bounds of a bin: percentiles are exact to 1 %."""
_LOG_RATIO = math.log(BIN_RATIO)
_BINS = math.ceil(math.log(MAX_LATENCY_S / MIN_LATENCY_S) / _LOG_RATIO) + 2


@record
class LatencySummary(Record):
    """Percentiles of a delay."""

    count: int
    """Number of samples."""
    median_ms: float
    p99_ms: float
    max_ms: float

    def headline(self) -> str:
        """Median, 99th percentile and largest value."""
        return f"{self.median_ms:.2f} ms median, {self.p99_ms:.2f} ms p99, {self.max_ms:.2f} ms max"


class LatencyHistogram:
    """Counts delays in bins of constant ratio, so that long sessions need no more memory."""

    def __init__(self) -> None:
        self._counts = np.zeros(_BINS, dtype=np.int64)
        self.count = 0
        self.max_s = 0.0

    def add(self, delay_s: float) -> None:
        """Count a delay (s)."""
        place = 0
        if delay_s > MIN_LATENCY_S:
            place = 1 + min(int(math.log(delay_s / MIN_LATENCY_S) / _LOG_RATIO), _BINS - 2)
        self._counts[place] += 1
        self.count += 1
        self.max_s = max(self.max_s, delay_s)

    def percentile(self, share: float) -> float:
        """The delay (s) that a share of the samples does not exceed; 0 without samples."""
        if not self.count:
            return 0.0
        place = int(np.searchsorted(np.cumsum(self._counts), share * self.count))
        if place == 0:
            return MIN_LATENCY_S
        return min(MIN_LATENCY_S * BIN_RATIO ** (place - 0.5), self.max_s)

    def summary(self) -> LatencySummary:
        """Median, 99th percentile and largest value."""
        return LatencySummary(
            self.count, 1e3 * self.percentile(0.5), 1e3 * self.percentile(0.99), 1e3 * self.max_s
        )


class LatencyLedger:
    """Delays of the parts of a pipeline.

    Args:
        stages: Names of the parts.
    """

    def __init__(self, stages: Iterable[str]) -> None:
        self.stages = {stage: LatencyHistogram() for stage in stages}

    def add(self, **delays_s: float) -> None:
        """Count delays (s) by stage."""
        for stage, delay_s in delays_s.items():
            self.stages[stage].add(delay_s)

    def summary(self) -> dict[str, LatencySummary]:
        """Percentiles by stage."""
        return {stage: histogram.summary() for stage, histogram in self.stages.items()}
