"""From recordings to movement: trials, marker health, scaling, angles, torques and gait."""

from homodyn.capture.calibration import calibrate
from homodyn.capture.load import FootForce, Loads
from homodyn.capture.motion import FitStatus, Motion
from homodyn.capture.prior import Prior
from homodyn.capture.scaled import BodyScale, CentreShift, MarkerShift, Scaled, ScaleStatus
from homodyn.capture.scaling import scale
from homodyn.capture.trial import Y_UP, Event, ForcePlate, Signals, Trial
from homodyn.capture.world import in_world_of, world_axes

__all__ = [
    "Y_UP",
    "BodyScale",
    "CentreShift",
    "Event",
    "FitStatus",
    "FootForce",
    "ForcePlate",
    "Loads",
    "MarkerShift",
    "Motion",
    "Prior",
    "ScaleStatus",
    "Scaled",
    "Signals",
    "Trial",
    "calibrate",
    "in_world_of",
    "scale",
    "world_axes",
]
