"""Quality of recordings: health check and gap filling."""

from homodyn.capture.quality.finding import TrialFinding
from homodyn.capture.quality.gap_filling import fill_gaps
from homodyn.capture.quality.gap_findings import occupied_frames
from homodyn.capture.quality.health import check_health
from homodyn.capture.quality.health_report import HealthReport, MarkerHealth
from homodyn.capture.quality.label_exchanges import correct_exchanges
from homodyn.capture.quality.orientation import (
    Orientation,
    correct_orientation,
    find_orientation,
)

__all__ = [
    "HealthReport",
    "MarkerHealth",
    "Orientation",
    "TrialFinding",
    "check_health",
    "correct_exchanges",
    "correct_orientation",
    "fill_gaps",
    "find_orientation",
    "occupied_frames",
]
