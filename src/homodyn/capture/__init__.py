"""From recordings to movement: trials, marker health, scaling, angles, torques and gait."""

from homodyn.capture.assignment import assign_markers
from homodyn.capture.inverse_kinematics import fit
from homodyn.capture.load import FootForce, Loads
from homodyn.capture.motion import FitStatus, Motion
from homodyn.capture.observability import marker_rank
from homodyn.capture.opensim_tasks import read_tasks
from homodyn.capture.trial import Y_UP, Event, ForcePlate, Signals, Trial
from homodyn.capture.world import in_world_of, world_axes

__all__ = [
    "Y_UP",
    "Event",
    "FitStatus",
    "FootForce",
    "ForcePlate",
    "Loads",
    "Motion",
    "Signals",
    "Trial",
    "assign_markers",
    "fit",
    "in_world_of",
    "marker_rank",
    "read_tasks",
    "world_axes",
]
