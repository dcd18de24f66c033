"""Constants of the event-driven contact law."""

from __future__ import annotations

from homodyn.errors import ModelError
from homodyn.foundation import unknown_name
from homodyn.foundation.record import Record, record
from homodyn.simulate.constants import Constant, check_fractions
from homodyn.simulate.geometry import ContactGeometry
from homodyn.simulate.laws import EventDrivenLaw
from homodyn.simulate.rigid.contact_modes import ContactModes
from homodyn.simulate.rigid.coordinate_rows import CoordinateRows
from homodyn.simulate.rigid.impact import IMPACT_LAWS


@record(eq=True)
class EventDrivenSettings(EventDrivenLaw, Record):
    """Constants of `EventDrivenContact`."""

    friction: Constant = 0.8
    """Coefficient of friction."""
    restitution: Constant = 0.0
    """Fraction of the approach speed that a bounce returns, 0 to 1."""
    rest_speed: float = 0.01
    """Impacts slower than this (m/s) do not bounce, which ends a sequence of bounces."""
    impact: str = "cone"
    """Impact law: "cone" lets contacts open and slide, "stick" (HuMAnS) does not."""
    limits: bool = True
    """Whether limits of coordinates are rigid; otherwise there are none."""
    tolerance: float = 1e-8
    """Error of a step relative to the state."""
    max_events_per_second: float = 2000.0
    """More events per second of simulated time end the run."""
    max_overlap: float = 1e-4
    """A larger overlap (m) at the start ends the run."""
    name: str = "event_driven"

    def __post_init__(self) -> None:
        if self.impact not in IMPACT_LAWS:
            raise ModelError(unknown_name("impact", self.impact, IMPACT_LAWS))
        if self.tolerance <= 0 or self.max_events_per_second <= 0:
            raise ModelError("tolerance and max_events_per_second must be positive")
        check_fractions(self.restitution, "restitution")

    def memory_size(self, geometry: ContactGeometry) -> int:
        """Entries of the modes of contacts, limits and coordinates with dry friction.

        Args:
            geometry: The gaps that the law acts in.

        Returns:
            Number of entries.
        """
        coordinates = CoordinateRows(geometry.model, self.limits)
        return ContactModes.array_size(len(geometry.names), coordinates)
