"""Runs of True in a mask: gaps, stances and loaded intervals as ranges of samples."""

from __future__ import annotations

import numpy as np


def true_runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """Half-open ranges (first, end) in which a mask (samples,) is True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], np.asarray(mask, bool), [False]])))
    return [(int(first), int(end)) for first, end in edges.reshape(-1, 2)]


def true_slices(mask: np.ndarray) -> list[slice]:
    """`true_runs` as slices."""
    return [slice(first, end) for first, end in true_runs(mask)]
