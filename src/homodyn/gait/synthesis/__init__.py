"""Synthesis of periodic walking steps by optimal control."""

from homodyn.gait.synthesis.continuation import SynthesisOptions
from homodyn.gait.synthesis.criteria import (
    CrossEvaluation,
    cross_evaluation,
    ground_forces,
    step_criteria,
    step_similarity,
)
from homodyn.gait.synthesis.ground_contact import GROUND_FRICTION
from homodyn.gait.synthesis.ground_loads import (
    GroundLoads,
    TouchdownImpulse,
    ground_loads,
    min_normal_forces,
    touchdown_impulses,
)
from homodyn.gait.synthesis.inferred_objective import (
    InferredObjective,
    explain_walk,
    infer_objective,
    nearest_step,
    objective_of_weights,
    similar_walking_model,
)
from homodyn.gait.synthesis.problem import (
    WALKING_OBJECTIVES,
    WalkingObjective,
    synthesis_problem,
    walking_model,
    walking_objective,
)
from homodyn.gait.synthesis.reference_step import ReferenceStep
from homodyn.gait.synthesis.step_library import StoredStep, stored_steps
from homodyn.gait.synthesis.step_motion import step_motion, stride_events, stride_motion
from homodyn.gait.synthesis.step_synthesis import synthesize, synthesize_step
from homodyn.gait.synthesis.synthesis_result import Synthesis, SynthesisStage

__all__ = [
    "GROUND_FRICTION",
    "WALKING_OBJECTIVES",
    "CrossEvaluation",
    "GroundLoads",
    "InferredObjective",
    "ReferenceStep",
    "StoredStep",
    "Synthesis",
    "SynthesisOptions",
    "SynthesisStage",
    "TouchdownImpulse",
    "WalkingObjective",
    "cross_evaluation",
    "explain_walk",
    "ground_forces",
    "ground_loads",
    "infer_objective",
    "min_normal_forces",
    "nearest_step",
    "objective_of_weights",
    "similar_walking_model",
    "step_criteria",
    "step_motion",
    "step_similarity",
    "stored_steps",
    "stride_events",
    "stride_motion",
    "synthesis_problem",
    "synthesize",
    "synthesize_step",
    "touchdown_impulses",
    "walking_model",
    "walking_objective",
]
