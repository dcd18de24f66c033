"""From recordings to movement: trials, marker health, scaling, angles, torques and gait."""

from homodyn.capture.cutoff import suggest_cutoff
from homodyn.capture.derivatives import Derivatives, derivatives, opensim_derivatives
from homodyn.capture.feet import Foot, find_feet
from homodyn.capture.filters import bandpass, butterworth, highpass, lowpass, opensim_lowpass
from homodyn.capture.inverse_dynamics import loads
from homodyn.capture.labels import Matching, match_labels, read_map, write_map
from homodyn.capture.load import FootForce, Loads
from homodyn.capture.motion import FitStatus, Motion
from homodyn.capture.motion_table import motion_of
from homodyn.capture.prediction import predicted_forces
from homodyn.capture.reading import read, read_plates, read_table, write, write_table
from homodyn.capture.redistribution import Change, redistributed
from homodyn.capture.residuals import Residuals, residuals
from homodyn.capture.smooth_motion import smoothed
from homodyn.capture.table import Table
from homodyn.capture.trial import Y_UP, Event, ForcePlate, Signals, Trial, Wiring
from homodyn.capture.work import (
    Energy,
    PowerBalance,
    Work,
    energy,
    power_and_work,
    power_balance,
    work_by_cycle,
)
from homodyn.capture.world import in_world_of, world_axes

__all__ = [
    "Y_UP",
    "Change",
    "Derivatives",
    "Energy",
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
    "Wiring",
    "Work",
    "bandpass",
    "butterworth",
    "derivatives",
    "energy",
    "find_feet",
    "highpass",
    "in_world_of",
    "loads",
    "lowpass",
    "match_labels",
    "motion_of",
    "opensim_derivatives",
    "opensim_lowpass",
    "power_and_work",
    "power_balance",
    "predicted_forces",
    "read",
    "read_map",
    "read_plates",
    "read_table",
    "redistributed",
    "residuals",
    "smoothed",
    "suggest_cutoff",
    "work_by_cycle",
    "world_axes",
    "write",
    "write_map",
    "write_table",
]
