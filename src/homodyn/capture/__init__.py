"""From recordings to movement: trials, marker health, scaling, angles, torques and gait."""

from homodyn.capture.filtering.cutoff import suggest_cutoff
from homodyn.capture.filtering.derivatives import Derivatives, derivatives, opensim_derivatives
from homodyn.capture.filtering.filters import (
    bandpass,
    butterworth,
    highpass,
    lowpass,
    opensim_lowpass,
)
from homodyn.capture.formats.column_map import ColumnMap
from homodyn.capture.kinematics.assignment import assign_markers
from homodyn.capture.kinematics.inverse_kinematics import fit
from homodyn.capture.kinematics.observability import marker_rank
from homodyn.capture.kinematics.opensim_tasks import read_tasks
from homodyn.capture.kinetics.feet import Foot, find_feet
from homodyn.capture.kinetics.inverse_dynamics import loads
from homodyn.capture.kinetics.motion_table import motion_of
from homodyn.capture.kinetics.prediction import predicted_forces
from homodyn.capture.kinetics.redistribution import Change, redistributed
from homodyn.capture.kinetics.residuals import Residuals, residuals
from homodyn.capture.kinetics.smooth_motion import smoothed
from homodyn.capture.kinetics.work import (
    Energy,
    PowerBalance,
    Work,
    energy,
    power_and_work,
    power_balance,
    work_by_cycle,
)
from homodyn.capture.labelling.geometry import match_geometry
from homodyn.capture.labelling.labels import Matching, match_labels, read_map, write_map
from homodyn.capture.quality.finding import Finding, Severity
from homodyn.capture.quality.gaps import fill_gaps
from homodyn.capture.quality.health import Health, MarkerHealth, health
from homodyn.capture.reading import (
    read,
    read_plates,
    read_table,
    write,
    write_plates,
    write_table,
)
from homodyn.capture.scaling.calibration import calibrate
from homodyn.capture.scaling.prior import Prior
from homodyn.capture.scaling.scaled import BodyScale, CentreShift, MarkerShift, Scaled, ScaleStatus
from homodyn.capture.scaling.standing import scale
from homodyn.capture.table import Table
from homodyn.capture.trial import (
    Y_UP,
    Signals,
    Trial,
)
from homodyn.capture.world import in_world_of, world_axes

__all__ = [
    "Y_UP",
    "BodyScale",
    "CentreShift",
    "Change",
    "ColumnMap",
    "Derivatives",
    "Energy",
    "Finding",
    "Foot",
    "Health",
    "MarkerHealth",
    "MarkerShift",
    "Matching",
    "PowerBalance",
    "Prior",
    "Residuals",
    "ScaleStatus",
    "Scaled",
    "Severity",
    "Signals",
    "Table",
    "Trial",
    "Work",
    "assign_markers",
    "bandpass",
    "butterworth",
    "calibrate",
    "derivatives",
    "energy",
    "fill_gaps",
    "find_feet",
    "fit",
    "health",
    "highpass",
    "in_world_of",
    "loads",
    "lowpass",
    "marker_rank",
    "match_geometry",
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
    "read_tasks",
    "redistributed",
    "residuals",
    "scale",
    "smoothed",
    "suggest_cutoff",
    "work_by_cycle",
    "world_axes",
    "write",
    "write_map",
    "write_plates",
    "write_table",
]
