"""Inverse dynamics: ground forces, joint torques, power, work and energy."""

from homodyn.capture.kinetics.body_mass import MassMeasurement, measure_mass
from homodyn.capture.kinetics.feet import Foot, find_feet
from homodyn.capture.kinetics.filter_loss import (
    AccelerationLoss,
    ForceLoss,
    acceleration_loss,
    force_loss,
)
from homodyn.capture.kinetics.ground_force_prediction import predict_ground_forces
from homodyn.capture.kinetics.inverse_dynamics import inverse_dynamics
from homodyn.capture.kinetics.motion_filter import filter_motion, motion_cutoff
from homodyn.capture.kinetics.motion_table import motion_from_table
from homodyn.capture.kinetics.plate_plausibility import (
    PlateDoubt,
    PlatePlausibility,
    check_plates,
)
from homodyn.capture.kinetics.rate_plausibility import RatePlausibility, check_frame_rate
from homodyn.capture.kinetics.residual_causes import residual_causes
from homodyn.capture.kinetics.residual_elimination import LoadAdjustment, eliminate_residuals
from homodyn.capture.kinetics.residuals import ResidualGrade, Residuals, residuals
from homodyn.capture.kinetics.work import (
    Energy,
    PowerBalance,
    Work,
    energy,
    joint_work,
    power_balance,
    work_by_cycle,
)

__all__ = [
    "AccelerationLoss",
    "Energy",
    "Foot",
    "ForceLoss",
    "LoadAdjustment",
    "MassMeasurement",
    "PlateDoubt",
    "PlatePlausibility",
    "PowerBalance",
    "RatePlausibility",
    "ResidualGrade",
    "Residuals",
    "Work",
    "acceleration_loss",
    "check_frame_rate",
    "check_plates",
    "eliminate_residuals",
    "energy",
    "filter_motion",
    "find_feet",
    "force_loss",
    "inverse_dynamics",
    "joint_work",
    "measure_mass",
    "motion_cutoff",
    "motion_from_table",
    "power_balance",
    "predict_ground_forces",
    "residual_causes",
    "residuals",
    "work_by_cycle",
]
