"""Functional joint centers and axes, from the relative movement of two segments.

SCoRE (Ehrig et al. 2006) finds the point that is fixed in both segments, and SARA (Ehrig et al.
2007) the line. Both minimize the distance between the images of a point in the two segments,

    sum over frames of | R1 c1 + t1 - R2 c2 - t2 |^2

a linear least-squares problem in (c1, c2). Around a ball joint it has one solution. Around a hinge
it is singular along the axis: the right singular vector of its smallest singular value is the axis.
"""

from __future__ import annotations

import numpy as np

from homodyn.capture.rigid_registration import register_points
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of

MIN_FUNCTIONAL_FRAMES = 10
"""Frames in which all markers of both segments must be seen."""
MIN_SINGULAR_RATIO = 0.05
"""Singular value, relative to the largest, below which a direction is not determined."""


@record
class FunctionalJoint(Record):
    """A joint center found from movement, and the axis of the movement."""

    center: np.ndarray
    """(frames, 3), m, in the world: middle of its images in the two segments; NaN where a marker is
    not seen. For an axis, the point of the axis nearest to the markers of the second segment."""
    axis: np.ndarray
    """(frames, 3): unit vector in the world, that of the least determined direction."""
    residual: float
    """Distance of the two images (m, root mean square)."""
    singular_ratio: float
    """Smallest over largest singular value: near zero around a hinge."""


def functional_center(proximal: np.ndarray, distal: np.ndarray) -> FunctionalJoint:
    """Center of a ball joint by SCoRE (Ehrig et al. 2006).

    Args:
        proximal: (frames, markers, 3), m: three or more markers of one segment; NaN where not seen.
        distal: (frames, markers, 3), m: three or more markers of the other segment.

    Returns:
        The center and how well the movement determines it.

    Raises:
        CaptureError: There are too few markers or frames, or the segments move about one axis only.
    """
    joint = _fit_joint(proximal, distal)
    if joint.singular_ratio < MIN_SINGULAR_RATIO:
        raise CaptureError(
            "the segments move about one axis only, which determines no joint center (singular "
            f"values {joint.singular_ratio:.3f}, {MIN_SINGULAR_RATIO:g} is needed): record a "
            "movement in several planes, or use functional_axis"
        )
    return joint


def functional_axis(proximal: np.ndarray, distal: np.ndarray) -> FunctionalJoint:
    """Axis of a hinge by SARA (Ehrig et al. 2007).

    Args:
        proximal: (frames, markers, 3), m: three or more markers of one segment; NaN where not seen.
        distal: (frames, markers, 3), m: three or more markers of the other segment.

    Returns:
        The axis, and the point on it that is nearest to the markers of ``distal``.

    Raises:
        CaptureError: There are too few markers or frames, or the segments do not move.
    """
    return _fit_joint(proximal, distal)


def _fit_joint(proximal: np.ndarray, distal: np.ndarray) -> FunctionalJoint:
    _check_markers(proximal, distal)
    seen = np.isfinite(proximal).all((1, 2)) & np.isfinite(distal).all((1, 2))
    if seen.sum() < MIN_FUNCTIONAL_FRAMES:
        raise CaptureError(
            f"all markers of both segments are seen in {count_of(int(seen.sum()), 'frame')}; "
            f"{MIN_FUNCTIONAL_FRAMES} are needed"
        )
    one, two = _segment_frames(proximal[seen]), _segment_frames(distal[seen])
    matrix = np.concatenate([one[0], -two[0]], axis=-1).reshape(-1, 6)
    u, values, vt = np.linalg.svd(matrix, full_matrices=False)
    if values[4] < MIN_SINGULAR_RATIO * values[0]:
        raise CaptureError(
            "the segments hardly move relative to each other, which determines neither a center "
            "nor an axis: record a larger movement of the joint"
        )
    right = u.T @ (two[1] - one[1]).reshape(-1)
    ratio = float(values[5] / values[0])
    kept = values > MIN_SINGULAR_RATIO * values[0]
    # The solution of least norm is the point nearest to the centroids of both segments.
    local = vt[kept].T @ (right[kept] / values[kept])
    images = [(R @ local[k : k + 3]) + t for (R, t), k in ((one, 0), (two, 3))]
    direction = (one[0] @ vt[5, :3]) + (two[0] @ vt[5, 3:])
    direction = direction / np.linalg.norm(direction, axis=-1, keepdims=True)
    center, axis = np.full((len(seen), 3), np.nan), np.full((len(seen), 3), np.nan)
    center[seen], axis[seen] = (images[0] + images[1]) / 2, direction
    distance = float(np.sqrt(np.mean(((images[0] - images[1]) ** 2).sum(-1))))
    return FunctionalJoint(center, axis, distance, ratio)


def _check_markers(proximal: np.ndarray, distal: np.ndarray) -> None:
    for name, points in (("proximal", proximal), ("distal", distal)):
        if points.ndim != 3 or points.shape[2] != 3 or points.shape[1] < 3:
            raise CaptureError(
                f"{name}: (frames, 3 or more markers, 3) is needed, got {points.shape}"
            )
    if len(proximal) != len(distal):
        raise CaptureError(
            f"both segments need the same frames, got {len(proximal)} and {len(distal)}"
        )


def segment_shape(points: np.ndarray) -> np.ndarray:
    """Mean shape of the markers of a segment, after registration on the first frame.

    Args:
        points: (frames, markers, 3), m, without gaps.

    Returns:
        (markers, 3), m, about the centroid.
    """
    centered = points - points.mean(1, keepdims=True)
    rotation, _ = register_points(np.broadcast_to(centered[0], centered.shape), centered)
    shape: np.ndarray = (np.swapaxes(rotation, -1, -2)[:, None] @ centered[..., None])[..., 0].mean(
        0
    )
    return shape


def _segment_frames(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (frames, 3, 3) and centroids (frames, 3) of a segment."""
    shape = segment_shape(points)
    rotation, _ = register_points(np.broadcast_to(shape, points.shape), points)
    return rotation, points.mean(1)
