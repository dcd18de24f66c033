"""One frame of markers of a stream."""

from __future__ import annotations

import numpy as np

from homodyn.foundation.record import Record, record


@record
class MarkerFrame(Record):
    """Positions of all markers at one instant."""

    time: float
    """Time of the measurement on the clock of the sender (s)."""
    labels: tuple[str, ...]
    """Names of the markers."""
    positions: np.ndarray
    """(markers, 3), m, Z up; NaN where a marker is not seen."""
    arrival: float
    """Time of the arrival on the monotonic clock of this machine (s)."""
    number: int | None = None
    """Number of the frame at the sender; None if it sends none."""
