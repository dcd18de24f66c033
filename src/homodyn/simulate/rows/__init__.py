"""Rows: implicit springs and dampers along directions, coordinates and constraints."""

from homodyn.simulate.rows.implicit_rows import (
    ErrorReduction,
    ImplicitRow,
    SpringDamper,
    erp_cfm_from_spring_damper,
    piecewise_spring,
    spring_damper_from_erp_cfm,
    spring_damper_from_frequency,
)
from homodyn.simulate.rows.joint_rows import JointLimits, JointRow
from homodyn.simulate.rows.loop_rows import LoopRow
from homodyn.simulate.rows.marker_springs import MarkerSprings
from homodyn.simulate.rows.residual_joint import ResidualJoint
from homodyn.simulate.rows.spring_law import SpringLaw
from homodyn.simulate.rows.step_rows import StepRow
from homodyn.simulate.rows.targets import JointSpring, LoopSpring, PointSpring, TargetRows

__all__ = [
    "ErrorReduction",
    "ImplicitRow",
    "JointLimits",
    "JointRow",
    "JointSpring",
    "LoopRow",
    "LoopSpring",
    "MarkerSprings",
    "PointSpring",
    "ResidualJoint",
    "SpringDamper",
    "SpringLaw",
    "StepRow",
    "TargetRows",
    "erp_cfm_from_spring_damper",
    "piecewise_spring",
    "spring_damper_from_erp_cfm",
    "spring_damper_from_frequency",
]
