"""From recordings to movement: trials, marker health, scaling, angles, torques and gait."""

from homodyn.capture.feet import Foot, find_feet
from homodyn.capture.inverse_dynamics import loads
from homodyn.capture.load import FootForce, Loads
from homodyn.capture.motion import FitStatus, Motion
from homodyn.capture.prediction import predicted_forces
from homodyn.capture.redistribution import Change, redistributed
from homodyn.capture.residuals import Residuals, residuals
from homodyn.capture.smoothing import smoothed
from homodyn.capture.trial import Y_UP, Event, ForcePlate, Signals, Trial
from homodyn.capture.work import (
    Energy,
    PowerBalance,
    Work,
    energy,
    power_and_work,
    power_balance,
    work_by_cycle,
)
from homodyn.capture.cutoff import suggest_cutoff
from homodyn.capture.derivatives import Derivatives, derivatives, opensim_derivatives
from homodyn.capture.filters import bandpass, butterworth, highpass, lowpass, opensim_lowpass
from homodyn.capture.labels import Matching, match_labels, read_map, write_map
from homodyn.capture.load import FootForce, Loads
from homodyn.capture.motion import FitStatus, Motion
from homodyn.capture.reading import read, read_plates, read_table, write, write_table
from homodyn.capture.table import Table
from homodyn.capture.trial import Y_UP, Event, ForcePlate, Signals, Trial, Wiring
from homodyn.capture.world import in_world_of, world_axes

__all__ = [
    "Y_UP",
    "Change",
    "Energy",
    "Derivatives",
    "Event",
    "FitStatus",
    "Foot",
    "FootForce",
    "ForcePlate",
    "Loads",
    "Matching",
    "Motion",
    "PowerBalance",
    "Residuals",
    "Signals",
    "Table",
    "Trial",
    "Work",
    "energy",
    "find_feet",
    "in_world_of",
    "loads",
    "power_and_work",
    "power_balance",
    "predicted_forces",
    "redistributed",
    "residuals",
    "smoothed",
    "work_by_cycle",
    "Wiring",
    "bandpass",
    "butterworth",
    "derivatives",
    "highpass",
    "in_world_of",
    "lowpass",
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
