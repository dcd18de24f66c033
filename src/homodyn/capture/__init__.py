"""From recordings to movement: trials, marker health, scaling, angles, torques and gait."""

from homodyn.capture.filters.butterworth_filter import (
    bandpass,
    butterworth,
    highpass,
    lowpass,
    opensim_lowpass,
)
from homodyn.capture.filters.residual_analysis import suggest_cutoff
from homodyn.capture.filters.signal_derivatives import (
    SignalDerivatives,
    derivatives,
    opensim_derivatives,
)
from homodyn.capture.formats.column_map import ColumnMap
from homodyn.capture.kinematics.inverse_kinematics import inverse_kinematics
from homodyn.capture.kinematics.marker_assignment import assign_markers
from homodyn.capture.kinematics.observability import marker_rank
from homodyn.capture.kinematics.opensim_tasks import read_tasks
from homodyn.capture.kinetics.feet import Foot, find_feet
from homodyn.capture.kinetics.ground_force_prediction import predict_ground_forces
from homodyn.capture.kinetics.inverse_dynamics import inverse_dynamics
from homodyn.capture.kinetics.motion_filter import filter_motion
from homodyn.capture.kinetics.motion_table import motion_from_table
from homodyn.capture.kinetics.residual_elimination import LoadAdjustment, eliminate_residuals
from homodyn.capture.kinetics.residuals import Residuals, residuals
from homodyn.capture.kinetics.work import (
    Energy,
    PowerBalance,
    Work,
    energy,
    joint_work,
    power_balance,
    work_by_cycle,
)
from homodyn.capture.labeling.geometric_matching import match_geometry
from homodyn.capture.labeling.label_matching import (
    LabelMatching,
    match_labels,
    read_label_map,
    write_label_map,
)
from homodyn.capture.quality.finding import Finding, Severity
from homodyn.capture.quality.gap_filling import fill_gaps
from homodyn.capture.quality.health import HealthReport, MarkerHealth, check_health
from homodyn.capture.recordings import (
    read,
    read_plates,
    read_table,
    write,
    write_plates,
    write_table,
)
from homodyn.capture.scaling.calibration import calibrate
from homodyn.capture.scaling.prior import ScalingPrior
from homodyn.capture.scaling.scaling_result import (
    BodyScale,
    CenterShift,
    MarkerShift,
    ScalingResult,
    ScalingStatus,
)
from homodyn.capture.scaling.static_scaling import scale
from homodyn.capture.table import Table
from homodyn.capture.trial import (
    Y_UP_TO_Z_UP,
    Signals,
    Trial,
)
from homodyn.capture.world_frame import to_world_axes, world_axes

__all__ = [
    "Y_UP_TO_Z_UP",
    "BodyScale",
    "CenterShift",
    "ColumnMap",
    "Energy",
    "Finding",
    "Foot",
    "HealthReport",
    "LabelMatching",
    "LoadAdjustment",
    "MarkerHealth",
    "MarkerShift",
    "PowerBalance",
    "Residuals",
    "ScalingPrior",
    "ScalingResult",
    "ScalingStatus",
    "Severity",
    "SignalDerivatives",
    "Signals",
    "Table",
    "Trial",
    "Work",
    "assign_markers",
    "bandpass",
    "butterworth",
    "calibrate",
    "check_health",
    "derivatives",
    "eliminate_residuals",
    "energy",
    "fill_gaps",
    "filter_motion",
    "find_feet",
    "highpass",
    "inverse_dynamics",
    "inverse_kinematics",
    "joint_work",
    "lowpass",
    "marker_rank",
    "match_geometry",
    "match_labels",
    "motion_from_table",
    "opensim_derivatives",
    "opensim_lowpass",
    "power_balance",
    "predict_ground_forces",
    "read",
    "read_label_map",
    "read_plates",
    "read_table",
    "read_tasks",
    "residuals",
    "scale",
    "suggest_cutoff",
    "to_world_axes",
    "work_by_cycle",
    "world_axes",
    "write",
    "write_label_map",
    "write_plates",
    "write_table",
]
