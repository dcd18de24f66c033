"""Values over a phase: samples spread evenly, or a function of the part that has passed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Series = np.ndarray | Callable[[np.ndarray], np.ndarray]
"""Samples spread evenly over a phase, or a function of the part of it (0 to 1) that has passed."""


def series(given: Any, fractions: np.ndarray) -> np.ndarray:
    """Values at parts of a phase (0 to 1) from samples spread evenly over it, or a function."""
    if isinstance(given, Callable):  # type: ignore[arg-type]
        return np.asarray(given(fractions), dtype=float).reshape(len(fractions), -1)
    samples = np.asarray(given, dtype=float)
    samples = samples[None, :] if samples.ndim == 1 else samples
    if len(samples) == 1:
        return np.repeat(samples, len(fractions), axis=0)
    at = np.linspace(0.0, 1.0, len(samples))
    return np.column_stack([np.interp(fractions, at, column) for column in samples.T])
