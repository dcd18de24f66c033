"""Evaluation of candidates: by functions, kernels or programs, in this process or in others."""

from homodyn.search.evaluation.evaluator import Evaluator
from homodyn.search.evaluation.outcomes import CandidateBatch, EvaluationOutcomes, EvaluationStatus

__all__ = ["CandidateBatch", "EvaluationOutcomes", "EvaluationStatus", "Evaluator"]
