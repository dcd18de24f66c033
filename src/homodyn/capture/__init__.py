"""From recordings to movement: reading, marker quality, scaling, inverse kinematics and dynamics.

The functions of the usual workflow are here; the rest is grouped: ``filters``, ``formats``,
``labeling``, ``quality``, ``scaling``, ``kinematics`` and ``kinetics``.
"""

from homodyn.capture import filters, formats, kinematics, kinetics, labeling, quality, scaling
from homodyn.capture.kinematics import (
    InverseKinematicsOptions,
    assign_markers,
    inverse_kinematics,
)
from homodyn.capture.kinetics import filter_motion, inverse_dynamics, motion_from_table
from homodyn.capture.labeling import match_geometry, match_labels
from homodyn.capture.model_outputs import ModelOutput, OutputKind
from homodyn.capture.quality import HealthReport, check_health, fill_gaps
from homodyn.capture.recordings import (
    read,
    read_plates,
    read_table,
    write,
    write_plates,
    write_table,
)
from homodyn.capture.scaling import (
    CalibrationOptions,
    ScalingOptions,
    ScalingResult,
    calibrate,
    scale,
)
from homodyn.capture.table import Table
from homodyn.capture.trial import Signals, Trial

__all__ = [
    "CalibrationOptions",
    "HealthReport",
    "InverseKinematicsOptions",
    "ModelOutput",
    "OutputKind",
    "ScalingOptions",
    "ScalingResult",
    "Signals",
    "Table",
    "Trial",
    "assign_markers",
    "calibrate",
    "check_health",
    "fill_gaps",
    "filter_motion",
    "filters",
    "formats",
    "inverse_dynamics",
    "inverse_kinematics",
    "kinematics",
    "kinetics",
    "labeling",
    "match_geometry",
    "match_labels",
    "motion_from_table",
    "quality",
    "read",
    "read_plates",
    "read_table",
    "scale",
    "scaling",
    "write",
    "write_plates",
    "write_table",
]
