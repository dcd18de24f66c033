"""From recordings to movement: trials, marker health, scaling, angles, torques and gait."""

from homodyn.capture.feet import Foot, find_feet
from homodyn.capture.inverse_dynamics import loads
from homodyn.capture.load import FootForce, Loads
from homodyn.capture.motion import FitStatus, Motion
from homodyn.capture.residuals import Residuals, residuals
from homodyn.capture.trial import Y_UP, Event, ForcePlate, Signals, Trial
from homodyn.capture.world import in_world_of, world_axes

__all__ = [
    "Y_UP",
    "Event",
    "FitStatus",
    "Foot",
    "FootForce",
    "ForcePlate",
    "Loads",
    "Motion",
    "Residuals",
    "Signals",
    "Trial",
    "find_feet",
    "in_world_of",
    "loads",
    "residuals",
    "world_axes",
]
