"""From recordings to movement: trials, marker health, scaling, angles, torques and gait."""

from homodyn.capture.assignment import assign_markers
from homodyn.capture.cutoff import suggest_cutoff
from homodyn.capture.derivatives import Derivatives, derivatives, opensim_derivatives
from homodyn.capture.filters import bandpass, butterworth, highpass, lowpass, opensim_lowpass
from homodyn.capture.inverse_kinematics import fit
from homodyn.capture.labels import Matching, match_labels, read_map, write_map
from homodyn.capture.load import FootForce, Loads
from homodyn.capture.motion import FitStatus, Motion
from homodyn.capture.observability import marker_rank
from homodyn.capture.opensim_tasks import read_tasks
from homodyn.capture.reading import read, read_plates, read_table, write, write_table
from homodyn.capture.table import Table
from homodyn.capture.trial import Y_UP, Event, ForcePlate, Signals, Trial, Wiring
from homodyn.capture.world import in_world_of, world_axes

__all__ = [
    "Y_UP",
    "Derivatives",
    "Event",
    "FitStatus",
    "FootForce",
    "ForcePlate",
    "Loads",
    "Matching",
    "Motion",
    "Signals",
    "Table",
    "Trial",
    "Wiring",
    "assign_markers",
    "bandpass",
    "butterworth",
    "derivatives",
    "fit",
    "highpass",
    "in_world_of",
    "lowpass",
    "marker_rank",
    "match_labels",
    "opensim_derivatives",
    "opensim_lowpass",
    "read",
    "read_map",
    "read_plates",
    "read_table",
    "read_tasks",
    "suggest_cutoff",
    "world_axes",
    "write",
    "write_map",
    "write_table",
]
