"""Walking: events, cycles and measures of any motion; reconstruction and synthesis of steps."""

from homodyn.gait.contact_schedule import (
    FootContact,
    FootContactPhase,
    complete_steps,
    contact_phases,
)
from homodyn.gait.contact_schedule_file import read_contact_schedule, write_contact_schedule
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
from homodyn.gait.reconstruction.problem import (
    RECONSTRUCTION_PRESETS,
    ReconstructionPreset,
    ReconstructionSettings,
    reconstruction_problem,
)
from homodyn.gait.reconstruction.reconstruct import (
    ForceError,
    Reconstruction,
    ReconstructionOptions,
    reconstruct,
    reconstruct_trial,
)
from homodyn.gait.spatiotemporal import GaitMeasure, GaitMeasures, MissingMeasure, measures
from homodyn.gait.stability import ExtrapolatedComMargins, margin_of_stability
from homodyn.gait.synthesis.criteria import (
    CrossEvaluation,
    cross_evaluation,
    ground_forces,
    min_normal_forces,
    step_criteria,
    step_similarity,
    stride_events,
    stride_motion,
)
from homodyn.gait.synthesis.problem import (
    WALKING_OBJECTIVES,
    WalkingObjective,
    synthesis_problem,
    walking_model,
    walking_objective,
)
from homodyn.gait.synthesis.stored_steps import StoredStep, stored_steps
from homodyn.gait.synthesis.synthesize import (
    Synthesis,
    SynthesisOptions,
    SynthesisStage,
    synthesize,
    synthesize_step,
)

__all__ = [
    "RECONSTRUCTION_PRESETS",
    "WALKING_OBJECTIVES",
    "CrossEvaluation",
    "ElevationAngles",
    "EmgCycles",
    "ExtrapolatedComMargins",
    "FootContact",
    "FootContactPhase",
    "ForceError",
    "GaitCycles",
    "GaitEvents",
    "GaitMeasure",
    "GaitMeasures",
    "Leg",
    "MissingMeasure",
    "Planarity",
    "Reconstruction",
    "ReconstructionOptions",
    "ReconstructionPreset",
    "ReconstructionSettings",
    "Similarity",
    "StoredStep",
    "Stride",
    "Synthesis",
    "SynthesisOptions",
    "SynthesisStage",
    "WalkingObjective",
    "complete_steps",
    "contact_phases",
    "cross_evaluation",
    "cycles",
    "elevation_angles",
    "emg_channels",
    "emg_cycles",
    "emg_envelopes",
    "find_events",
    "find_legs",
    "ground_forces",
    "margin_of_stability",
    "measures",
    "min_normal_forces",
    "motion_events",
    "planarity",
    "read_contact_schedule",
    "reconstruct",
    "reconstruct_trial",
    "reconstruction_problem",
    "similarity",
    "step_criteria",
    "step_similarity",
    "stored_steps",
    "stride_events",
    "stride_motion",
    "strides",
    "synthesis_problem",
    "synthesize",
    "synthesize_step",
    "walking_model",
    "walking_objective",
    "write_contact_schedule",
]
