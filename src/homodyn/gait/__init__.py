"""Walking: events, cycles and measures of any motion; reconstruction and synthesis of steps.

The functions of the usual workflow are here; the rest is grouped: ``events``, ``contact_schedule``,
``emg``, ``foot_calibration``, ``norms``,
``plug_in_gait``, ``reconstruction``, ``studies``, ``synthesis``, ``treadmill``.
"""

from homodyn.gait import (
    contact_schedule,
    emg,
    events,
    foot_calibration,
    norms,
    plug_in_gait,
    reconstruction,
    studies,
    synthesis,
    treadmill,
)
from homodyn.gait.elevation import ElevationAngles, elevation_angles
from homodyn.gait.events import GaitEvents, find_events
from homodyn.gait.gait_cycles import GaitCycles, Stride, strides
from homodyn.gait.gait_measures import GaitMeasure, GaitMeasures, MissingMeasure
from homodyn.gait.legs import Leg, find_legs
from homodyn.gait.motion_cycles import cycles
from homodyn.gait.motion_similarity import Similarity, similarity
from homodyn.gait.norm_comparison import NormComparison, compare_with_norms
from homodyn.gait.reconstruction.reconstruction_result import Reconstruction
from homodyn.gait.reconstruction.step_reconstruction import reconstruct
from homodyn.gait.spatiotemporal import measures
from homodyn.gait.stability import ExtrapolatedComMargins, margin_of_stability
from homodyn.gait.studies.gait_study import GaitStudy
from homodyn.gait.studies.gait_study import GaitStudy as Study
from homodyn.gait.synthesis.continuation import SynthesisOptions
from homodyn.gait.synthesis.problem import walking_model
from homodyn.gait.synthesis.step_library import stored_steps
from homodyn.gait.synthesis.step_synthesis import synthesize
from homodyn.gait.synthesis.synthesis_result import Synthesis

__all__ = [
    "ElevationAngles",
    "ExtrapolatedComMargins",
    "GaitCycles",
    "GaitEvents",
    "GaitMeasure",
    "GaitMeasures",
    "GaitStudy",
    "Leg",
    "MissingMeasure",
    "NormComparison",
    "Reconstruction",
    "Similarity",
    "Stride",
    "Study",
    "Synthesis",
    "SynthesisOptions",
    "compare_with_norms",
    "contact_schedule",
    "cycles",
    "elevation_angles",
    "emg",
    "events",
    "find_events",
    "find_legs",
    "foot_calibration",
    "margin_of_stability",
    "measures",
    "norms",
    "plug_in_gait",
    "reconstruct",
    "reconstruction",
    "similarity",
    "stored_steps",
    "strides",
    "studies",
    "synthesis",
    "synthesize",
    "treadmill",
    "walking_model",
]
