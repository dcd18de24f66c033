"""Events of a recording or a movement."""

from __future__ import annotations

from homodyn.foundation.record import Record, record
from homodyn.model.side import Side, side_of

FOOT_STRIKE = "Foot Strike"
"""Label of the event at which a foot begins to touch the ground, as C3D files write it."""
FOOT_OFF = "Foot Off"
"""Label of the event at which a foot leaves the ground, as C3D files write it."""


@record(eq=True)
class Event(Record):
    """Something that happened at one time, such as a heel strike of the left foot."""

    time: float
    """s, on the clock of the trial or the motion."""
    label: str
    """What happened: `FOOT_STRIKE`, `FOOT_OFF`, or any other word."""
    context: str = ""
    """Where, as C3D files write it: ``"Left"``, ``"Right"``, ``"General"``, or empty."""
    subject: str = ""
    """The person, where a recording has several."""
    description: str = ""
    """How the event was found."""

    @property
    def side(self) -> Side | None:
        """The side that the context states; None for general events."""
        return side_of(self.context)

    def headline(self) -> str:
        """Time, side and label."""
        return f"{self.context} {self.label} at {self.time:.4g} s".strip()
