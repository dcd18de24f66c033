"""Scaling of a generic model to a subject."""

from homodyn.capture.scaling.calibration import calibrate
from homodyn.capture.scaling.functional_joints import (
    FunctionalJoint,
    functional_axis,
    functional_center,
)
from homodyn.capture.scaling.hip_regression import HipRegression
from homodyn.capture.scaling.marker_kinds import MarkerKind, derived_markers, marker_kinds
from homodyn.capture.scaling.mass_scaling import with_measured_mass
from homodyn.capture.scaling.options import CalibrationOptions, ScalingOptions
from homodyn.capture.scaling.pelvis_landmarks import pelvis_convention_difference
from homodyn.capture.scaling.scaling_prior import ScalingPrior
from homodyn.capture.scaling.scaling_result import (
    BodyScale,
    CenterShift,
    MarkerShift,
    MassSource,
    ScalingResult,
    ScalingStatus,
)
from homodyn.capture.scaling.static_scaling import scale

__all__ = [
    "BodyScale",
    "CalibrationOptions",
    "CenterShift",
    "FunctionalJoint",
    "HipRegression",
    "MarkerKind",
    "MarkerShift",
    "MassSource",
    "ScalingOptions",
    "ScalingPrior",
    "ScalingResult",
    "ScalingStatus",
    "calibrate",
    "derived_markers",
    "functional_axis",
    "functional_center",
    "marker_kinds",
    "pelvis_convention_difference",
    "scale",
    "with_measured_mass",
]
