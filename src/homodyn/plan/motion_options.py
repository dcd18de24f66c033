"""Options of motion plans."""

from __future__ import annotations

from enum import StrEnum

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name


class FlightMethod(StrEnum):
    """How paths of bodies between supports are found."""

    AUTOMATIC = "automatic"
    """Lines and arcs first, then trees."""
    ARC = "arc"
    """Lines and arcs only."""
    BIRRT = "birrt"
    """Trees only, for feet."""


@record(eq=True)
class MotionPlanOptions(Record):
    """Distances, speeds and effort of a motion plan.

    Raises:
        ModelError: The method is unknown, or a number is out of its range.
    """

    clearance: float = 0.01
    """m: distance that the body keeps from obstacles; a scene can set its own."""
    max_speed: float = 3.0
    """m/s: largest speed of a body in flight."""
    max_angular_speed: float = 8.0
    """rad/s: largest angular speed of a body in flight."""
    flight: FlightMethod | str = FlightMethod.AUTOMATIC
    """How paths of bodies between supports are found."""
    seed: int = 0
    """Of starts and trees."""
    max_iterations: int = 150
    """Of a tree search."""
    shortcuts: int = 30
    """Random shortcuts of a path from a tree."""
    rate: float = 50.0
    """Hz: frames of the motion."""
    smoothing: bool = True
    """Whether the postures are smoothed over time."""
    lengthenings: int = 2
    """Times that phases may become longer until the whole body keeps its balance; 0 for never."""
    min_margin: float = 0.0
    """N m: balance margin of the whole body that phases become longer for."""

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "flight", FlightMethod(self.flight))
        except ValueError:
            raise ModelError(unknown_name("flight", self.flight, tuple(FlightMethod))) from None
        for name in ("max_speed", "max_angular_speed", "rate"):
            if not getattr(self, name) > 0:
                raise ModelError(f"{name} is a number above 0, got {getattr(self, name)!r}")
        if not self.clearance >= 0:
            raise ModelError(f"clearance is a length from 0 m up, got {self.clearance!r}")
