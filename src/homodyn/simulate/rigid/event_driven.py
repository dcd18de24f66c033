"""Rigid contacts, event by event: smooth motion between impacts, located to the last digit.

HuMAnS' kernel (2006, chapters 5 and 6) with friction added. Between events the accelerations of
`accelerations` are integrated with error control; an event is a contact or limit that is struck or
leaves, or a contact or coordinate that begins or ends to slide. Struck contacts pass through
`impact`. Forces of one evaluation start the solver of the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.simulate.constants import Constant, refuse_beyond_one
from homodyn.simulate.geometry import Scene
from homodyn.simulate.record import Record
from homodyn.simulate.rigid.coordinates import CoordinateRows
from homodyn.simulate.rigid.impacts import IMPACTS
from homodyn.simulate.rigid.modes import Modes


@dataclass(frozen=True)
class EventDriven:
    """Rigid contacts with Coulomb friction and impacts that are located in time.

    ``friction`` and ``restitution`` are numbers for all contacts or go by the names of contact
    shapes; impacts slower than ``rest_speed`` (m/s) do not bounce, which ends every train of
    bounces. ``impact`` is "cone" (contacts may open and slide) or "stick" (HuMAnS: none does).
    ``limits`` of coordinates are rigid, or not there.
    ``tolerance`` is the error of a step relative to the state. More than ``events`` a second end
    the run, as does an ``overlap`` (m) at its start.
    """

    friction: Constant = 0.8
    restitution: Constant = 0.0
    rest_speed: float = 0.01
    impact: str = "cone"
    limits: bool = True
    tolerance: float = 1e-8
    events: float = 2000.0
    overlap: float = 1e-4
    name: str = "event_driven"

    def __post_init__(self) -> None:
        if self.impact not in IMPACTS:
            raise ModelError(f"impact may be {', '.join(IMPACTS)}, not {self.impact!r}")
        if self.tolerance <= 0 or self.events <= 0:
            raise ModelError("tolerance and events must be positive")
        refuse_beyond_one(self.restitution, "restitution")

    def memory(self, scene: Scene) -> int:
        """Numbers that tell the modes of contacts, limits and rubbing coordinates."""
        return Modes.size(len(scene.names), CoordinateRows(scene.model, self.limits))

    def simulate(
        self, model: Model, q0: Any, v0: Any, duration: float, dt: float, **rest: Any
    ) -> Record:
        """What `homodyn.simulate.run` does under this law; ``dt`` is the longest step."""
        from homodyn.simulate.rigid.simulation import simulated

        return simulated(self, model, q0, v0, duration, dt, **rest)
