"""Walking: events, cycles and measures of any motion; reconstruction and synthesis of steps."""

from homodyn.gait.contact_schedule import Footing, Standing, footings, whole_steps
from homodyn.gait.contact_schedule_file import read_phases, write_phases
from homodyn.gait.elevation import (
    ElevationAngles,
    Planarity,
    elevation_angles,
    planarity,
)
from homodyn.gait.emg import EmgCycles, emg_channels, emg_cycles, emg_envelopes
from homodyn.gait.events import GaitEvents, find_events, motion_events
from homodyn.gait.gait_cycles import GaitCycles, Stride, cycles, strides
from homodyn.gait.legs import Leg, find_legs
from homodyn.gait.motion_similarity import Similarity, similarity
from homodyn.gait.reconstruction.problem import RECIPES, Recipe, reconstruction_problem
from homodyn.gait.reconstruction.reconstruct import (
    ForceError,
    Reconstruction,
    reconstruct,
    reconstruct_trial,
)
from homodyn.gait.spatiotemporal import GaitMeasure, GaitMeasures, MissingMeasure, measures
from homodyn.gait.stability import StabilityMargins, margin_of_stability
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
    "CrossEvaluation",
    "ElevationAngles",
    "EmgCycles",
    "Footing",
    "ForceError",
    "GaitCycles",
    "GaitEvents",
    "GaitMeasure",
    "GaitMeasures",
    "Leg",
    "MissingMeasure",
    "Objective",
    "Planarity",
    "Recipe",
    "Reconstruction",
    "Similarity",
    "StabilityMargins",
    "Stage",
    "Standing",
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
    "find_legs",
    "footings",
    "ground_forces",
    "lowest_force",
    "margin_of_stability",
    "measures",
    "motion_events",
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
