"""From recordings to movement: trials, marker health, scaling, angles, torques and gait."""

from homodyn.capture.assignment import assign_markers
from homodyn.capture.calibration import calibrate
from homodyn.capture.cutoff import suggest_cutoff
from homodyn.capture.cycles import Cycles, Similarity, Stride, cycles, similarity, strides
from homodyn.capture.derivatives import Derivatives, derivatives, opensim_derivatives
from homodyn.capture.elevation import ElevationAngles, Planarity, elevation_angles, planarity
from homodyn.capture.emg import EmgCycles, emg_channels, emg_cycles, emg_envelopes
from homodyn.capture.events import Events, find_events
from homodyn.capture.feet import Foot, find_feet
from homodyn.capture.filters import bandpass, butterworth, highpass, lowpass, opensim_lowpass
from homodyn.capture.finding import Finding, Severity
from homodyn.capture.formats.column_map import ColumnMap
from homodyn.capture.gait_measures import Absent, GaitMeasures, Measure, gait_measures
from homodyn.capture.gaps import fill_gaps
from homodyn.capture.geometry import match_geometry
from homodyn.capture.health import Health, MarkerHealth, health
from homodyn.capture.inverse_dynamics import loads
from homodyn.capture.inverse_kinematics import fit
from homodyn.capture.labels import Matching, match_labels, read_map, write_map
from homodyn.capture.legs import Leg, legs_of
from homodyn.capture.load import FootForce, Loads
from homodyn.capture.motion import FitStatus, Motion
from homodyn.capture.motion_table import motion_of
from homodyn.capture.observability import marker_rank
from homodyn.capture.opensim_tasks import read_tasks
from homodyn.capture.prediction import predicted_forces
from homodyn.capture.prior import Prior
from homodyn.capture.reading import (
    read,
    read_plates,
    read_table,
    write,
    write_plates,
    write_table,
)
from homodyn.capture.redistribution import Change, redistributed
from homodyn.capture.residuals import Residuals, residuals
from homodyn.capture.scaled import BodyScale, CentreShift, MarkerShift, Scaled, ScaleStatus
from homodyn.capture.scaling import scale
from homodyn.capture.smooth_motion import smoothed
from homodyn.capture.stability import Stability, margin_of_stability
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
    "Absent",
    "BodyScale",
    "CentreShift",
    "Change",
    "ColumnMap",
    "Cycles",
    "Derivatives",
    "ElevationAngles",
    "EmgCycles",
    "Energy",
    "Event",
    "Events",
    "Finding",
    "FitStatus",
    "Foot",
    "FootForce",
    "ForcePlate",
    "GaitMeasures",
    "Health",
    "Leg",
    "Loads",
    "MarkerHealth",
    "MarkerShift",
    "Matching",
    "Measure",
    "Motion",
    "Planarity",
    "PowerBalance",
    "Prior",
    "Residuals",
    "ScaleStatus",
    "Scaled",
    "Severity",
    "Signals",
    "Similarity",
    "Stability",
    "Stride",
    "Table",
    "Trial",
    "Wiring",
    "Work",
    "assign_markers",
    "bandpass",
    "butterworth",
    "calibrate",
    "cycles",
    "derivatives",
    "elevation_angles",
    "emg_channels",
    "emg_cycles",
    "emg_envelopes",
    "energy",
    "fill_gaps",
    "find_events",
    "find_feet",
    "fit",
    "gait_measures",
    "health",
    "highpass",
    "in_world_of",
    "legs_of",
    "loads",
    "lowpass",
    "margin_of_stability",
    "marker_rank",
    "match_geometry",
    "match_labels",
    "motion_of",
    "opensim_derivatives",
    "opensim_lowpass",
    "planarity",
    "power_and_work",
    "power_balance",
    "predicted_forces",
    "read",
    "read_map",
    "read_plates",
    "read_table",
    "read_tasks",
    "redistributed",
    "residuals",
    "scale",
    "similarity",
    "smoothed",
    "strides",
    "suggest_cutoff",
    "work_by_cycle",
    "world_axes",
    "write",
    "write_map",
    "write_plates",
    "write_table",
]
