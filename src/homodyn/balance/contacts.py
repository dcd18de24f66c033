"""Contacts over time: detection in motions and trials, phases and their durations."""

from homodyn.balance.contact_detection import (
    ContactDetectionOptions,
    detect_contacts,
    is_resting,
)
from homodyn.balance.contact_phases import (
    PhaseDuration,
    SupportPhase,
    phase_durations,
    support_durations,
)

__all__ = [
    "ContactDetectionOptions",
    "PhaseDuration",
    "SupportPhase",
    "detect_contacts",
    "is_resting",
    "phase_durations",
    "support_durations",
]
