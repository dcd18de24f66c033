"""Balance: supports, the wrenches they can give, and how far a motion is from asking for more."""

from homodyn.balance.classical_criteria import (
    ClassicalCriteria,
    classical_criteria,
    foot_inertia,
    without_force_limits,
)
from homodyn.balance.com_planning import (
    ComPlan,
    ComSpline,
    KeyFrames,
    PlanWeights,
    plan_com,
    wrench_sets,
)
from homodyn.balance.contact_detection import detect_contacts, is_resting
from homodyn.balance.contact_phases import (
    PhaseDuration,
    SupportPhase,
    phase_durations,
    support_durations,
)
from homodyn.balance.contacts import (
    ContactPatch,
    FrictionPyramid,
    Grasp,
    GraspBounds,
    point_contact,
    sole_contact,
)
from homodyn.balance.evaluation import BalanceEvaluation, evaluate
from homodyn.balance.limiting_contacts import FailureMode, LimitingContact, limiting_contacts
from homodyn.balance.motion_margins import margins
from homodyn.balance.polytopes.chebyshev import (
    EnclosingBall,
    InscribedBall,
    largest_inscribed_ball,
    residual_radius,
    smallest_ball_around_points,
    smallest_enclosing_ball,
)
from homodyn.balance.polytopes.linear_program import Infeasible, Unbounded
from homodyn.balance.polytopes.operations import (
    Inclusion,
    inclusion,
    intersection,
    minkowski_sum,
    volume,
)
from homodyn.balance.polytopes.polytope import Polytope
from homodyn.balance.polytopes.projection import (
    PolytopeProjection,
    polytope_from_support_function,
    project,
)
from homodyn.balance.required_wrench import (
    RequiredWrench,
    measured_wrench,
    point_mass_wrench,
    whole_body_wrench,
)
from homodyn.balance.scene import Box, ComPath, ComPlanRequest, HeightRamp, Scene, SceneStep
from homodyn.balance.scene_file import load_scene, scene_names
from homodyn.balance.stability_margins import (
    TransitionDifficulty,
    WrenchMargins,
    facet_distances,
    transition_difficulty,
    wrench_margins,
)
from homodyn.balance.stance import ContactForceSet, Stance, SupportForce
from homodyn.balance.support_areas import (
    static_equilibrium_polygon,
    support_polygon,
    zmp_support_area,
)
from homodyn.balance.torque_limits import (
    JointTorqueMap,
    TorqueUtilization,
    feasible_wrench_set,
    joint_torque_map,
    torque_limited_forces,
    torque_utilization,
)
from homodyn.balance.wrench_polytope import WrenchSet, WrenchSetCertificate, wrench_set

__all__ = [
    "BalanceEvaluation",
    "Box",
    "ClassicalCriteria",
    "ComPath",
    "ComPlan",
    "ComPlanRequest",
    "ComSpline",
    "ContactForceSet",
    "ContactPatch",
    "EnclosingBall",
    "FailureMode",
    "FrictionPyramid",
    "Grasp",
    "GraspBounds",
    "HeightRamp",
    "Inclusion",
    "Infeasible",
    "InscribedBall",
    "JointTorqueMap",
    "KeyFrames",
    "LimitingContact",
    "PhaseDuration",
    "PlanWeights",
    "Polytope",
    "PolytopeProjection",
    "RequiredWrench",
    "Scene",
    "SceneStep",
    "Stance",
    "SupportForce",
    "SupportPhase",
    "TorqueUtilization",
    "TransitionDifficulty",
    "Unbounded",
    "WrenchMargins",
    "WrenchSet",
    "WrenchSetCertificate",
    "classical_criteria",
    "detect_contacts",
    "evaluate",
    "facet_distances",
    "feasible_wrench_set",
    "foot_inertia",
    "inclusion",
    "intersection",
    "is_resting",
    "joint_torque_map",
    "largest_inscribed_ball",
    "limiting_contacts",
    "load_scene",
    "margins",
    "measured_wrench",
    "minkowski_sum",
    "phase_durations",
    "plan_com",
    "point_contact",
    "point_mass_wrench",
    "polytope_from_support_function",
    "project",
    "residual_radius",
    "scene_names",
    "smallest_ball_around_points",
    "smallest_enclosing_ball",
    "sole_contact",
    "static_equilibrium_polygon",
    "support_durations",
    "support_polygon",
    "torque_limited_forces",
    "torque_utilization",
    "transition_difficulty",
    "volume",
    "whole_body_wrench",
    "without_force_limits",
    "wrench_margins",
    "wrench_set",
    "wrench_sets",
    "zmp_support_area",
]
