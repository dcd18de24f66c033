"""The plane of covariation of three elevation angles."""

from __future__ import annotations

import numpy as np

from homodyn.foundation import Record, record


@record
class PlaneFit(Record):
    """The plane of least squares through points: a point on it, axes, and variance explained."""

    center: np.ndarray
    """(3,): mean of the points."""
    axes: np.ndarray
    """(3, 3): principal axes in columns; the last is the normal of the plane."""
    variance_percent: float
    """Part of the variance that lies in the plane (%)."""


def fit_plane(points: np.ndarray) -> PlaneFit:
    """The plane of least squares through points (rows), by their principal axes."""
    kept = points[np.isfinite(points).all(axis=1)]
    center = kept.mean(axis=0)
    _, sizes, axes = np.linalg.svd(kept - center, full_matrices=False)
    variance = sizes**2
    return PlaneFit(center, axes.T, float(100 * variance[:2].sum() / max(variance.sum(), 1e-30)))
