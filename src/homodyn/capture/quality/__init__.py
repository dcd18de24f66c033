"""Quality of recordings: health check and gap filling."""

from homodyn.capture.quality.finding import TrialFinding
from homodyn.capture.quality.gap_filling import fill_gaps
from homodyn.capture.quality.health import HealthReport, MarkerHealth, check_health

__all__ = ["HealthReport", "MarkerHealth", "TrialFinding", "check_health", "fill_gaps"]
