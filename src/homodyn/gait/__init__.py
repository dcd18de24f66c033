"""Walking: events, cycles, measures; reconstruction and synthesis of steps."""

from homodyn.gait.contact_schedule import Footing, Standing, footings, whole_steps
from homodyn.gait.contact_schedule_file import read_phases, write_phases
from homodyn.gait.cycles import Cycles, Similarity, Stride, cycles, similarity, strides
from homodyn.gait.elevation import (
    ElevationAngles,
    Planarity,
    elevation_angles,
    planarity,
)
from homodyn.gait.emg import EmgCycles, emg_channels, emg_cycles, emg_envelopes
from homodyn.gait.events import Events, find_events
from homodyn.gait.gait_measures import Absent, GaitMeasures, Measure, gait_measures
from homodyn.gait.legs import Leg, legs_of
from homodyn.gait.reconstruction.problem import RECIPES, Recipe, reconstruction_problem
from homodyn.gait.reconstruction.reconstruct import (
    ForceError,
    Reconstruction,
    reconstruct,
    reconstruct_trial,
)
from homodyn.gait.stability import Stability, margin_of_stability
from homodyn.gait.synthesis.criteria import (
    CrossEvaluation,
    criteria_of,
    cross_evaluation,
    ground_forces,
    lowest_force,
    stride,
    stride_events,
)
from homodyn.gait.synthesis.criteria import (
    Similarity as StepSimilarity,
)
from homodyn.gait.synthesis.criteria import (
    similarity as step_similarity,
)
from homodyn.gait.synthesis.problem import (
    OBJECTIVES,
    Objective,
    objective,
    synthesis_problem,
    walker,
)
from homodyn.gait.synthesis.stored_steps import StoredStep, starts
from homodyn.gait.synthesis.synthesize import Stage, Synthesis, synthesize

__all__ = [
    "OBJECTIVES",
    "RECIPES",
    "Absent",
    "CrossEvaluation",
    "Cycles",
    "ElevationAngles",
    "EmgCycles",
    "Events",
    "Footing",
    "ForceError",
    "GaitMeasures",
    "Leg",
    "Measure",
    "Objective",
    "Planarity",
    "Recipe",
    "Reconstruction",
    "Similarity",
    "Stability",
    "Stage",
    "Standing",
    "StepSimilarity",
    "StoredStep",
    "Stride",
    "Synthesis",
    "criteria_of",
    "cross_evaluation",
    "cycles",
    "elevation_angles",
    "emg_channels",
    "emg_cycles",
    "emg_envelopes",
    "find_events",
    "footings",
    "gait_measures",
    "ground_forces",
    "legs_of",
    "lowest_force",
    "margin_of_stability",
    "objective",
    "planarity",
    "read_phases",
    "reconstruct",
    "reconstruct_trial",
    "reconstruction_problem",
    "similarity",
    "starts",
    "step_similarity",
    "stride",
    "stride_events",
    "strides",
    "synthesis_problem",
    "synthesize",
    "walker",
    "whole_steps",
    "write_phases",
]
