"""Events of a recording or a movement."""

from __future__ import annotations

from homodyn.foundation.record import Record, record
from homodyn.model.side import Side, side_of


@record(eq=True)
class Event(Record):
    """Something that happened at one time, such as a heel strike of the left foot."""

    time: float
    """Seconds, on the clock of the trial."""
    label: str
    """What happened: ``"Foot Strike"``, ``"Foot Off"``, or any other word."""
    context: str = ""
    """Where, as C3D files write it: ``"Left"``, ``"Right"``, ``"General"``, or nothing."""
    subject: str = ""
    description: str = ""

    @property
    def side(self) -> Side | None:
        """The side that the context states; None for general events."""
        return side_of(self.context)

    def headline(self) -> str:
        """Time, side and label."""
        return f"{self.context} {self.label} at {self.time:.4g} s".strip()
