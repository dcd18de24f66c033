"""The plane of covariation of three elevation angles."""

from __future__ import annotations

import numpy as np

from homodyn.foundation import Record, record


@record
class PlaneFit(Record):
    """Least-squares plane through points."""

    center: np.ndarray
    """(3,): mean of the points, which is on the plane."""
    axes: np.ndarray
    """(3, 3): principal axes in columns; the last is the normal of the plane."""
    variance_percent: float
    """Share of the variance in the plane (%)."""


def fit_plane(points: np.ndarray) -> PlaneFit:
    """The least-squares plane through points (samples, 3), by their principal axes.

    Args:
        points: (samples, 3); rows with NaN are left out.

    Returns:
        The plane.
    """
    kept = points[np.isfinite(points).all(axis=1)]
    center = kept.mean(axis=0)
    _, sizes, axes = np.linalg.svd(kept - center, full_matrices=False)
    variance = sizes**2
    return PlaneFit(center, axes.T, float(100 * variance[:2].sum() / max(variance.sum(), 1e-30)))
