"""A recording in, results out: the pipeline, its settings, batches, verdicts and result files."""

from homodyn.analysis.batch import (
    BatchOptions,
    BatchProgress,
    BatchResult,
    TrialOutcome,
    TrialStatus,
    analyze_batch,
)
from homodyn.analysis.emg_agreement import EmgAgreement
from homodyn.analysis.fault_outcome import FaultCase, FaultOutcome, StudySize
from homodyn.analysis.fault_study import study_faults
from homodyn.analysis.model_check import ModelCheck, check_model, check_model_file
from homodyn.analysis.muscle_analysis import (
    ContactPeak,
    MuscleAnalysis,
    analyze_muscles,
)
from homodyn.analysis.muscle_settings import MuscleSettings
from homodyn.analysis.pipeline import Analysis, analyze
from homodyn.analysis.quality import quality_verdicts
from homodyn.analysis.recorded_motion import RecordedMotion, read_motion
from homodyn.analysis.result_files import PageWriter, write_result
from homodyn.analysis.settings import Settings
from homodyn.analysis.step_comparison import StepComparison
from homodyn.analysis.validation import Deviation, ValidationRow, validate
from homodyn.analysis.validation_cases import ValidationCase, find_cases, read_cases
from homodyn.analysis.verdict import QualityLight, QualityVerdict, overall_light

__all__ = [
    "Analysis",
    "BatchOptions",
    "BatchProgress",
    "BatchResult",
    "ContactPeak",
    "Deviation",
    "EmgAgreement",
    "FaultCase",
    "FaultOutcome",
    "ModelCheck",
    "MuscleAnalysis",
    "MuscleSettings",
    "PageWriter",
    "QualityLight",
    "QualityVerdict",
    "RecordedMotion",
    "Settings",
    "StepComparison",
    "StudySize",
    "TrialOutcome",
    "TrialStatus",
    "ValidationCase",
    "ValidationRow",
    "analyze",
    "analyze_batch",
    "analyze_muscles",
    "check_model",
    "check_model_file",
    "find_cases",
    "overall_light",
    "quality_verdicts",
    "read_cases",
    "read_motion",
    "study_faults",
    "validate",
    "write_result",
]
