"""The records that flow: movements, loads, force plates and events."""

from homodyn.motion.event import Event
from homodyn.motion.force_plate import ForcePlate, Wiring
from homodyn.motion.loads import FootForce, Loads
from homodyn.motion.motion import FitStatus, Motion

__all__ = ["Event", "FitStatus", "FootForce", "ForcePlate", "Loads", "Motion", "Wiring"]
