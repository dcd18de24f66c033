"""One result of live tracking."""

from __future__ import annotations

from dataclasses import field
from enum import Enum

import numpy as np

from homodyn.foundation.record import Record, record


class LiveState(Enum):
    """What a live session does at present."""

    WAITING = "waiting for markers"
    CALIBRATING = "recording the calibration"
    FITTING = "fitting the body to the calibration"
    TRACKING = "tracking"
    LOST = "no marker is seen"
    ENDED = "ended"


@record
class GroundContact(Record):
    """Force of the ground on a body."""

    force: np.ndarray
    """(3,), N."""
    point: np.ndarray
    """(3,), m: center of pressure; NaN without force."""


@record
class LiveSample(Record):
    """States, torques and forces of one frame."""

    time: float
    """s, on the clock of the sender; the delay of the filter is subtracted."""
    arrival: float
    """s, on the clock of this machine."""
    number: int
    """Number of the frame in this session."""
    labels: tuple[str, ...]
    """Names of the markers of the model."""
    markers: np.ndarray
    """(markers, 3), m: filtered positions; NaN where one is not known."""
    q: np.ndarray
    """(nq,)."""
    v: np.ndarray
    """(nv,)."""
    torques: np.ndarray
    """(nv,), N m and N; the entries of the root are residuals."""
    power: float
    """W: sum of the absolute powers of all joints."""
    effort: float
    """N m: sum of the absolute torques of all joints."""
    marker_error: float
    """m: root mean square over the markers that are seen; NaN if none is."""
    ground: dict[str, GroundContact] = field(default_factory=dict)
    """Forces of the ground by body."""
    accelerations: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(nv,): estimate from the velocities."""
    status: str = ""
    """Why the step is not reliable; empty if it is."""
    latency_s: float = 0.0
    """From the arrival to this result (s)."""
