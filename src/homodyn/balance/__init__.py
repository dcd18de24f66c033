"""Balance: supports, the wrenches they can give, and how far a motion is from asking for more."""

from homodyn.balance.actuation import (
    Effort,
    JointLoad,
    actuated,
    actuated_wrenches,
    effort,
    joint_loads,
)
from homodyn.balance.balls import (
    EnclosingBall,
    Insphere,
    enclosing_ball,
    insphere,
    residual_ball,
    smallest_ball,
)
from homodyn.balance.contacts import Bounds, Grasp, Patch, Pyramid, point, sole
from homodyn.balance.criteria import Verdicts, foot_inertia, unlimited, verdicts
from homodyn.balance.demand import Demand, measured, point_mass, whole_body
from homodyn.balance.detection import detect, resting
from homodyn.balance.evaluation import Evaluation, evaluate
from homodyn.balance.limits import Limit, Mode, limits_at
from homodyn.balance.linear_program import Infeasible, Unbounded
from homodyn.balance.margins import (
    Difficulty,
    Margins,
    difficulty,
    facet_distances,
    margins,
)
from homodyn.balance.phases import Phase, PhaseTime, merged, phase_times
from homodyn.balance.polygons import static_polygon, support_polygon, zmp_polygon
from homodyn.balance.polytope import Polytope
from homodyn.balance.projection import Projection, project, shoot
from homodyn.balance.scene import Box, ComPath, Plan, Ramp, Scene, Step
from homodyn.balance.scene_file import load_scene, scene_names
from homodyn.balance.sets import Inclusion, included, intersection, minkowski, volume
from homodyn.balance.stance import Forces, Stance, SupportForce
from homodyn.balance.trajectory import ComPlan, KeyFrames, Spline, Weights, plan_com, wrench_sets
from homodyn.balance.wrenches import Proof, WrenchSet, wrench_set

__all__ = [
    "Bounds",
    "Box",
    "ComPath",
    "ComPlan",
    "Demand",
    "Difficulty",
    "Effort",
    "EnclosingBall",
    "Evaluation",
    "Forces",
    "Grasp",
    "Inclusion",
    "Infeasible",
    "Insphere",
    "JointLoad",
    "KeyFrames",
    "Limit",
    "Margins",
    "Mode",
    "Patch",
    "Phase",
    "PhaseTime",
    "Plan",
    "Polytope",
    "Projection",
    "Proof",
    "Pyramid",
    "Ramp",
    "Scene",
    "Spline",
    "Stance",
    "Step",
    "SupportForce",
    "Unbounded",
    "Verdicts",
    "Weights",
    "WrenchSet",
    "actuated",
    "actuated_wrenches",
    "detect",
    "difficulty",
    "effort",
    "enclosing_ball",
    "evaluate",
    "facet_distances",
    "foot_inertia",
    "included",
    "insphere",
    "intersection",
    "joint_loads",
    "limits_at",
    "load_scene",
    "margins",
    "measured",
    "merged",
    "minkowski",
    "phase_times",
    "plan_com",
    "point",
    "point_mass",
    "project",
    "residual_ball",
    "resting",
    "scene_names",
    "shoot",
    "smallest_ball",
    "sole",
    "static_polygon",
    "support_polygon",
    "unlimited",
    "verdicts",
    "volume",
    "whole_body",
    "wrench_set",
    "wrench_sets",
    "zmp_polygon",
]
