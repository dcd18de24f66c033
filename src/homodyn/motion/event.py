"""Events of a recording or a movement."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """Something that happened at an instant, such as a heel strike of the left foot."""

    time: float
    """Seconds, on the clock of the trial."""
    label: str
    """What happened: ``"Foot Strike"``, ``"Foot Off"``, or any other word."""
    context: str = ""
    """Where: ``"Left"``, ``"Right"``, ``"General"``, or nothing."""
    subject: str = ""
    description: str = ""
