"""Studies of tracking by physics: each answers one figure or claim of the HDM paper."""

from homodyn.track.studies.arm_study import ArmStudy, arm_study
from homodyn.track.studies.marker_study import MarkerStudy, marker_study
from homodyn.track.studies.noise_study import NoiseStudy, noise_study
from homodyn.track.studies.occlusion_study import OcclusionStudy, occlusion_study
from homodyn.track.studies.reach_study import ReachStudy, reach_study
from homodyn.track.studies.replay_study import ReplayStudy, replay_study
from homodyn.track.studies.study import StudyCurve, StudyPanel, TrackingStudy

__all__ = [
    "ArmStudy",
    "MarkerStudy",
    "NoiseStudy",
    "OcclusionStudy",
    "ReachStudy",
    "ReplayStudy",
    "StudyCurve",
    "StudyPanel",
    "TrackingStudy",
    "arm_study",
    "marker_study",
    "noise_study",
    "occlusion_study",
    "reach_study",
    "replay_study",
]
