"""Similarity of two movements: distance of their postures and of their durations."""

from __future__ import annotations

import numpy as np
import scipy

from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record


@record(eq=True)
class Similarity(Record):
    """Distance of a movement from a reference (Felis 2015, eq. 6.1); zero for the same."""

    posture: float
    """Mean squared difference of the coordinates (rad2, m2)."""
    duration: float
    """Squared difference of the durations (s2)."""

    @property
    def distance(self) -> float:
        """Sum of both parts."""
        return self.posture + self.duration

    def headline(self) -> str:
        """The distance and its parts."""
        return (
            f"distance {self.distance:.4g} (posture {self.posture:.4g}, "
            f"duration {self.duration:.4g})"
        )


def similarity(
    q: np.ndarray,
    reference: np.ndarray,
    *,
    durations: tuple[float, float],
    samples: int = 100,
) -> Similarity:
    """Compare two steps by posture and by duration (Felis 2015, eq. 6.1, corrected).

    ``d = sum_i |q(t_i) - q_ref(t_i)|^2 / (m n) + (T - T_ref)^2`` over m equidistant times from the
    first frame to the last, and n coordinates. The thesis prints factors of one half that its own
    table 6.5 does not contain, and a grid that runs past the end; both are corrected here.

    Args:
        q: (frames, n), rad or m: coordinates at equidistant times.
        reference: (frames, n): the movement to compare with; may have other frames.
        durations: Duration of both movements (s).
        samples: Number m of compared times.

    Returns:
        Both parts of the distance.

    Raises:
        CaptureError: The movements have different coordinates, gaps, or fewer than two frames.
    """
    ours, theirs = np.atleast_2d(np.asarray(q, float)), np.atleast_2d(np.asarray(reference, float))
    if ours.shape[1:] != theirs.shape[1:]:
        raise CaptureError(
            f"motions of {ours.shape[1]} and {theirs.shape[1]} coordinates cannot be compared"
        )
    if not (np.isfinite(ours).all() and np.isfinite(theirs).all()):
        raise CaptureError("motions with gaps cannot be compared; choose complete cycles")
    difference = _resample_evenly(ours, samples) - _resample_evenly(theirs, samples)
    return Similarity(float(np.mean(difference**2)), float((durations[0] - durations[1]) ** 2))


def _resample_evenly(values: np.ndarray, samples: int) -> np.ndarray:
    if len(values) == samples:
        return values
    if len(values) < 2:
        raise CaptureError("a motion to compare needs at least two frames")
    grid = np.linspace(0.0, 1.0, len(values))
    curve = scipy.interpolate.PchipInterpolator(grid, values)
    return np.asarray(curve(np.linspace(0.0, 1.0, samples)))
