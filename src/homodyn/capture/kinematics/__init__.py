"""Inverse kinematics: from markers to coordinates."""

from homodyn.capture.kinematics.inverse_kinematics import inverse_kinematics
from homodyn.capture.kinematics.marker_assignment import assign_markers
from homodyn.capture.kinematics.observability import marker_rank
from homodyn.capture.kinematics.opensim_tasks import read_tasks
from homodyn.capture.kinematics.options import InverseKinematicsOptions
from homodyn.capture.kinematics.scale_setup import (
    ScaleMeasurement,
    ScaleSetup,
    read_scale_setup,
)
from homodyn.capture.kinematics.setup_scaling import scale_by_setup
from homodyn.capture.trial import Y_UP_TO_Z_UP
from homodyn.capture.world_frame import to_world_axes, world_axes

__all__ = [
    "Y_UP_TO_Z_UP",
    "InverseKinematicsOptions",
    "ScaleMeasurement",
    "ScaleSetup",
    "assign_markers",
    "inverse_kinematics",
    "marker_rank",
    "read_scale_setup",
    "read_tasks",
    "scale_by_setup",
    "to_world_axes",
    "world_axes",
]
