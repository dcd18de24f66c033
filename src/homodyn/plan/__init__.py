"""Planning: supports, postures, flights, motions through scenes, their execution, ergonomics."""

from homodyn.plan import ergonomics
from homodyn.plan.cases import case_names, load_case
from homodyn.plan.collision_pairs import ClosestPair
from homodyn.plan.execution import (
    ExecutionOptions,
    ExecutionStatus,
    PlanExecution,
    TrackingWeights,
    execute,
    robust_scene,
)
from homodyn.plan.flight_path import FlightPath
from homodyn.plan.key_posture import KeyPosture, PostureSearch, posture
from homodyn.plan.motion_options import FlightMethod, MotionPlanOptions
from homodyn.plan.motion_plan import MotionPlan, MotionPlanFailure
from homodyn.plan.motion_planning import motion
from homodyn.plan.support_planning import SupportPlan, SupportSearchOptions, plan_supports

__all__ = [
    "ClosestPair",
    "ExecutionOptions",
    "ExecutionStatus",
    "FlightMethod",
    "FlightPath",
    "KeyPosture",
    "MotionPlan",
    "MotionPlanFailure",
    "MotionPlanOptions",
    "PlanExecution",
    "PostureSearch",
    "SupportPlan",
    "SupportSearchOptions",
    "TrackingWeights",
    "case_names",
    "ergonomics",
    "execute",
    "load_case",
    "motion",
    "plan_supports",
    "posture",
    "robust_scene",
]
