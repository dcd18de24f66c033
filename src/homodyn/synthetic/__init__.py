"""Synthetic walking trials, generated from the laws of motion, with their ground truth."""

from homodyn.synthetic.comparison import AnalysisErrors, compare_with_truth
from homodyn.synthetic.ground_truth import GroundTruth
from homodyn.synthetic.steady_walk import SteadyWalk, plan_walk
from homodyn.synthetic.synthetic_trial import SyntheticTrial, walking_trial
from homodyn.synthetic.trial_files import read_truth, write_trial
from homodyn.synthetic.trial_options import WalkingTrialOptions

__all__ = [
    "AnalysisErrors",
    "GroundTruth",
    "SteadyWalk",
    "SyntheticTrial",
    "WalkingTrialOptions",
    "compare_with_truth",
    "plan_walk",
    "read_truth",
    "walking_trial",
    "write_trial",
]
