"""Synthesis of periodic walking steps by optimal control."""

from homodyn.gait.synthesis.continuation import SynthesisOptions
from homodyn.gait.synthesis.criteria import (
    CrossEvaluation,
    cross_evaluation,
    ground_forces,
    min_normal_forces,
    step_criteria,
    step_similarity,
)
from homodyn.gait.synthesis.problem import (
    WALKING_OBJECTIVES,
    WalkingObjective,
    synthesis_problem,
    walking_model,
    walking_objective,
)
from homodyn.gait.synthesis.step_library import StoredStep, stored_steps
from homodyn.gait.synthesis.step_motion import step_motion, stride_events, stride_motion
from homodyn.gait.synthesis.step_synthesis import synthesize, synthesize_step
from homodyn.gait.synthesis.synthesis_result import Synthesis, SynthesisStage

__all__ = [
    "WALKING_OBJECTIVES",
    "CrossEvaluation",
    "StoredStep",
    "Synthesis",
    "SynthesisOptions",
    "SynthesisStage",
    "WalkingObjective",
    "cross_evaluation",
    "ground_forces",
    "min_normal_forces",
    "step_criteria",
    "step_motion",
    "step_similarity",
    "stored_steps",
    "stride_events",
    "stride_motion",
    "synthesis_problem",
    "synthesize",
    "synthesize_step",
    "walking_model",
    "walking_objective",
]
