"""Experiments with targets in space: reaching and tracing with live torques and effort."""

from homodyn.track.experiments.experiment import (
    EffortStimulus,
    Experiment,
    ReachTarget,
    TracePath,
    TrialBlock,
)
from homodyn.track.experiments.experiment_file import read_experiment
from homodyn.track.experiments.experiment_run import ExperimentRun, check_experiment, plan_trials
from homodyn.track.experiments.trial_task import TrialStage, TrialTask

__all__ = [
    "EffortStimulus",
    "Experiment",
    "ExperimentRun",
    "ReachTarget",
    "TracePath",
    "TrialBlock",
    "TrialStage",
    "TrialTask",
    "check_experiment",
    "plan_trials",
    "read_experiment",
]
