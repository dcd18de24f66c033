"""What became of planted faults, and how many are planted."""

from __future__ import annotations

from enum import StrEnum

from homodyn.errors import CaptureError
from homodyn.foundation import Record, record

GOOD_KIND = "good"
"""Kind of the harmless changes."""
LEFT_OUT_KIND = "left out"
"""Kind of the entry of a recording that was not studied."""


class FaultOutcome(StrEnum):
    """What happened to a planted fault, the best first."""

    CORRECTED = "corrected"
    """The fault was undone, with a note."""
    REFUSED = "refused"
    """No result: an error names the reason."""
    NAMED = "named"
    """A finding or a verdict that the good recording does not have names the reason; the light is
    not green."""
    MISSED = "missed"


@record(eq=True)
class FaultCase(Record):
    """One planted fault, or a harmless change with kind ``"good"``."""

    recording: str
    kind: str
    detail: str
    outcome: FaultOutcome
    reason: str
    """What was said; for missed faults and good recordings, empty."""
    light: str = ""
    """The light of the whole analysis of a missed fault; empty where there was no analysis."""


@record(eq=True)
class StudySize(Record):
    """How many faults are planted in each recording.

    Raises:
        CaptureError: A number is negative.
    """

    exchanges: int = 10
    """Exchanges of labels in all frames, and as many in parts."""
    random_frames: int = 6
    """Random rotations of the laboratory frame."""
    harmless: int = 4
    """Harmless changes that are checked."""
    persons: int = 10
    """Synthetic persons beside the recordings."""
    analyses: int = 1
    """Largest number of faults of each kind that needs whole analyses: forces, mass, rate, belt and
    visible body. They are drawn at random."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("exchanges", "random_frames", "harmless", "persons", "analyses", "seed"):
            if getattr(self, name) < 0:
                raise CaptureError(f"{name} is {getattr(self, name)}; expected 0 or more")
