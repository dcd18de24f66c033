"""What the worksheets ask besides the posture."""

from __future__ import annotations

from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record

MAX_COUPLING = 3


@record(eq=True)
class WorkConditions(Record):
    """Load, repetition and support of a task.

    Raises:
        HomodynError: A number is out of its range.
    """

    load: float = 0.0
    """kg, in the hands."""
    static: bool = False
    """Whether postures last longer than a minute (REBA), or are mainly static (RULA)."""
    repeated: bool = False
    """Whether movements repeat more than four times a minute."""
    shock: bool = False
    """Whether forces build up rapidly."""
    arms_supported: bool = False
    """Whether the arms rest on something, or gravity assists them."""
    coupling: int = 0
    """Grip: 0 good, 1 fair, 2 poor, 3 unacceptable (REBA)."""
    rapid_changes: bool = False
    """Whether postures change rapidly over large ranges, or the base is unstable (REBA)."""

    def __post_init__(self) -> None:
        if not self.load >= 0:
            raise HomodynError(f"load is a mass from 0 kg up, got {self.load!r}")
        if self.coupling not in range(MAX_COUPLING + 1):
            raise HomodynError(f"coupling is 0, 1, 2 or 3, got {self.coupling!r}")
