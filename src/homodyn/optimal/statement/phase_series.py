"""Values over a phase: evenly spaced samples, or a function of the fraction of the phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PhaseSeries = np.ndarray | Callable[[np.ndarray], np.ndarray]
"""Samples spaced evenly over a phase, or a function of the fraction of the phase (0 to 1)."""


def evaluate_series(series: Any, fractions: np.ndarray) -> np.ndarray:
    """Values at fractions of a phase (0 to 1), from samples or from a function."""
    if isinstance(series, Callable):  # type: ignore[arg-type]
        return np.asarray(series(fractions), dtype=float).reshape(len(fractions), -1)
    samples = np.asarray(series, dtype=float)
    samples = samples[None, :] if samples.ndim == 1 else samples
    if len(samples) == 1:
        return np.repeat(samples, len(fractions), axis=0)
    at = np.linspace(0.0, 1.0, len(samples))
    return np.column_stack([np.interp(fractions, at, column) for column in samples.T])
