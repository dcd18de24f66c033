"""Gait studies: controllers of walking whose parameters a search finds by simulation."""

from homodyn.gait.studies.assistance import PitchAssistance
from homodyn.gait.studies.gait_controller import GaitController, JointBounds
from homodyn.gait.studies.gait_objective import GaitObjective
from homodyn.gait.studies.gait_study import GaitEvaluation, GaitStudy
from homodyn.gait.studies.objectives import GAIT_OBJECTIVES
from homodyn.gait.studies.pushes import SwingPushes
from homodyn.gait.studies.study_file import BUNDLED_STUDIES, load_study

__all__ = [
    "BUNDLED_STUDIES",
    "GAIT_OBJECTIVES",
    "GaitController",
    "GaitEvaluation",
    "GaitObjective",
    "GaitStudy",
    "JointBounds",
    "PitchAssistance",
    "SwingPushes",
    "load_study",
]
