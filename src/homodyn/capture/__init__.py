"""From recordings to movement: trials, marker health, scaling, angles, torques and gait."""

from homodyn.capture.cutoff import suggest_cutoff
from homodyn.capture.derivatives import Derivatives, derivatives, opensim_derivatives
from homodyn.capture.filters import bandpass, butterworth, highpass, lowpass, opensim_lowpass
from homodyn.capture.finding import Finding, Severity
from homodyn.capture.gaps import fill_gaps
from homodyn.capture.geometry import match_geometry
from homodyn.capture.health import Health, MarkerHealth, health
from homodyn.capture.labels import Matching, match_labels, read_map, write_map
from homodyn.capture.load import FootForce, Loads
from homodyn.capture.motion import FitStatus, Motion
from homodyn.capture.reading import read, read_plates, read_table, write, write_table
from homodyn.capture.table import Table
from homodyn.capture.trial import Y_UP, Event, ForcePlate, Signals, Trial, Wiring
from homodyn.capture.world import in_world_of, world_axes

__all__ = [
    "Y_UP",
    "Derivatives",
    "Event",
    "Finding",
    "FitStatus",
    "FootForce",
    "ForcePlate",
    "Health",
    "Loads",
    "MarkerHealth",
    "Matching",
    "Motion",
    "Severity",
    "Signals",
    "Table",
    "Trial",
    "Wiring",
    "bandpass",
    "butterworth",
    "derivatives",
    "fill_gaps",
    "health",
    "highpass",
    "in_world_of",
    "lowpass",
    "match_geometry",
    "match_labels",
    "opensim_derivatives",
    "opensim_lowpass",
    "read",
    "read_map",
    "read_plates",
    "read_table",
    "suggest_cutoff",
    "world_axes",
    "write",
    "write_map",
    "write_table",
]
