"""Planning: postures on supports, flights of feet and hands, motions through scenes, ergonomics."""

from homodyn.plan import ergonomics
from homodyn.plan.cases import case_names, load_case
from homodyn.plan.collision_pairs import ClosestPair
from homodyn.plan.flight_path import FlightPath
from homodyn.plan.key_posture import KeyPosture, PostureSearch, posture
from homodyn.plan.motion_options import FlightMethod, MotionPlanOptions
from homodyn.plan.motion_plan import MotionPlan, MotionPlanFailure
from homodyn.plan.motion_planning import motion

__all__ = [
    "ClosestPair",
    "FlightMethod",
    "FlightPath",
    "KeyPosture",
    "MotionPlan",
    "MotionPlanFailure",
    "MotionPlanOptions",
    "PostureSearch",
    "case_names",
    "ergonomics",
    "load_case",
    "motion",
    "posture",
]
