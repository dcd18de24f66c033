"""Scaling of a generic model to a subject."""

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

__all__ = [
    "BodyScale",
    "CenterShift",
    "MarkerShift",
    "ScalingPrior",
    "ScalingResult",
    "ScalingStatus",
    "calibrate",
    "scale",
]
