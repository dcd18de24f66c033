"""Options of a live session."""

from __future__ import annotations

from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.track.streams.frame_queue import MAX_WAITING_FRAMES


@record
class LiveOptions(Record):
    """How a live session calibrates, filters and limits delays.

    Raises:
        CaptureError: A value is out of range.
    """

    calibration_s: float = 4.0
    """Time (s) of standing and moving from which the body is fitted to the person; 0: the markers
    of the model are used as they are."""
    mass: float | None = None
    """Mass of the person (kg), for the calibration."""
    height: float | None = None
    """Height of the person (m), for the calibration."""
    filter_window_s: float = 0.05
    """Window (s) of the filter of the markers; 0 for none."""
    filter_delay_s: float | None = None
    """Delay (s) of the filter; half the window when left out."""
    max_waiting: int = MAX_WAITING_FRAMES
    """Frames that wait at most before the oldest is skipped; 0: no frame is skipped."""
    lost_after_s: float = 0.5
    """Time (s) without any marker after which the person counts as away."""
    patience_s: float | None = None
    """Time (s) without a connection after which the session ends; None: never."""
    duration_s: float | None = None
    """Time (s) after which the session ends; None: never."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("calibration_s", 0.0, 120.0),
            ("filter_window_s", 0.0, 1.0),
            ("lost_after_s", 0.05, 60.0),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise CaptureError(f"{name} is {value}; accepted: {low:g} to {high:g} s")
        if self.max_waiting < 0:
            raise CaptureError(f"max_waiting is {self.max_waiting}; 0 or a number of frames")
        for name in ("patience_s", "duration_s"):
            value = getattr(self, name)
            if value is not None and not value > 0.0:
                raise CaptureError(f"{name} is {value}; a positive number of seconds or None")
