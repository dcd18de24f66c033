"""Initial size and poses of a calibration, from the markers alone."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import fit_poses
from homodyn.capture.scaling.marker_model import MarkerModel, Person
from homodyn.errors import CaptureError
from homodyn.model import Model

MIN_DISTANCE_M = 0.03
"""Shorter distances (m) depend more on marker placement than on size."""
SIZE_RANGE = (0.4, 2.5)
"""Plausible sizes of a person relative to the model."""
RETRY_RESIDUAL_FACTOR = 1.5
"""Frames with this multiple of the median residual are fitted again from other poses."""
RETRY_POSE_COUNT = 6
"""Poses tried for such a frame."""
TURN_COUNT = 8
"""Rotations tried about each axis of the root: every 45 degrees."""


def initial_size(markers: MarkerModel, measured: np.ndarray) -> float:
    """Size of the person relative to the model: median ratio of distances within bodies.

    Args:
        markers: The recorded markers of the model.
        measured: (frames, markers, 3), m.

    Returns:
        The ratio; 1 where no two markers of a body are seen together.

    Raises:
        CaptureError: The ratio is not that of a person: units or labels are wrong.
    """
    bodies = np.array([marker.body for marker in markers.model.markers])
    positions = np.array([marker.position for marker in markers.model.markers])
    one, two = np.triu_indices(len(bodies), 1)
    generic = np.linalg.norm(positions[one] - positions[two], axis=-1)
    kept = (bodies[one] == bodies[two]) & (generic > MIN_DISTANCE_M)
    seen = np.linalg.norm(measured[:, one[kept]] - measured[:, two[kept]], axis=-1)
    ratio = seen / generic[kept]
    if not np.isfinite(ratio).any():
        return 1.0
    size = float(np.nanmedian(ratio))
    if not SIZE_RANGE[0] < size < SIZE_RANGE[1]:
        raise CaptureError(
            f"distances between markers of one body are {size:.3g} times those of model "
            f"{markers.model.name!r}; {SIZE_RANGE[0]:g} to {SIZE_RANGE[1]:g} is plausible: "
            "wrong units or swapped labels?"
        )
    return size


def initial_poses(markers: MarkerModel, person: Person, measured: np.ndarray) -> np.ndarray:
    """Poses (frames, nq) fitted to each frame separately, from the markers alone.

    Of a grid of rotations of the root, the one whose marker cloud is nearest to the measured one is
    the start; then the root is fitted, then all joints.
    """
    model = markers.model
    starts = _rotated_neutral_poses(model)
    clouds = markers.positions(starts, person)
    q = np.empty((len(measured), model.nq))
    for frame, cloud in enumerate(measured):
        seen = np.isfinite(cloud).all(-1)
        distances = [
            np.inf if seen.sum() < 3 else _cloud_distance(c[seen], cloud[seen]) for c in clouds
        ]
        q[frame] = starts[int(np.argmin(distances))]
    root = np.arange(model.nv) < model.joints[0].nv
    q = fit_poses(markers, person, measured, q, active=root, iterations=15)
    q = fit_poses(markers, person, measured, q, iterations=40)
    return retry_poor_poses(markers, person, measured, q)


def retry_poor_poses(
    markers: MarkerModel, person: Person, measured: np.ndarray, q: np.ndarray
) -> np.ndarray:
    """Fit poor poses again, from the joint angles of frames that fit well.

    A limb with few markers has more than one local minimum.
    """
    rms = _frame_rms(markers, person, measured, q)
    poor = np.flatnonzero(rms > RETRY_RESIDUAL_FACTOR * np.median(rms))
    if not len(poor):
        return q
    donors = np.argsort(rms, kind="stable")[:RETRY_POSE_COUNT]
    root = markers.model.joint_slots[0].q
    q = q.copy()
    candidates = np.repeat(q[donors][None], len(poor), axis=0)
    candidates[..., root] = q[poor][:, None, root]
    candidates = candidates.reshape(-1, q.shape[-1])
    repeated = np.repeat(measured[poor], len(donors), axis=0)
    candidates = fit_poses(markers, person, repeated, candidates, iterations=40)
    new_rms = _frame_rms(markers, person, repeated, candidates).reshape(len(poor), -1)
    rows, best = np.arange(len(poor)), np.argmin(new_rms, axis=1)
    better = new_rms[rows, best] < rms[poor]
    chosen = candidates.reshape(len(poor), len(donors), -1)[rows, best]
    q[poor[better]] = chosen[better]
    return q


def _frame_rms(
    markers: MarkerModel, person: Person, measured: np.ndarray, q: np.ndarray
) -> np.ndarray:
    """(frames,): root mean square of the marker errors (m)."""
    error = markers.positions(q, person) - measured
    seen = np.isfinite(error).all(-1)
    square = np.where(seen, (np.nan_to_num(error) ** 2).sum(-1), 0.0)
    root: np.ndarray = np.sqrt(square.sum(-1) / np.maximum(seen.sum(-1), 1))
    return root


@lru_cache(maxsize=16)
def _rotated_neutral_poses(model: Model) -> np.ndarray:
    """The neutral pose with the root rotated in steps about each of its axes."""
    root = model.joints[0]
    if root.quaternion:
        names = [c.name for c in root.coordinates[-3:]]
    else:
        angles = {axis.coordinate for axis in root.axes if axis.kind == "turn"}
        names = [c.name for k, c in enumerate(root.coordinates) if k in angles]
    defaults = {c.name: float(c.default) for c in root.coordinates}
    poses = [model.neutral()]
    for name in names:
        if name in model.coordinate_names:
            for k in range(1, TURN_COUNT):
                poses.append(model.pose({name: defaults[name] + 2 * np.pi * k / TURN_COUNT}))
    return np.array(poses)


def _cloud_distance(cloud: np.ndarray, measured: np.ndarray) -> float:
    """Sum of squared distances of two point clouds after aligning their centroids."""
    return float((((cloud - cloud.mean(0)) - (measured - measured.mean(0))) ** 2).sum())
