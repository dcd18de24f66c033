"""A recording in, results out: the pipeline, its settings, and checks of models."""

from homodyn.analysis.model_check import check, check_file
from homodyn.analysis.pipeline import Analysis, analyze
from homodyn.analysis.settings import Settings

__all__ = ["Analysis", "Settings", "analyze", "check", "check_file"]
