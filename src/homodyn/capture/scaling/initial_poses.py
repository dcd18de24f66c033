"""Poses to begin with: the neutral one, turned and moved to where the markers are."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import fit_poses
from homodyn.capture.scaling.marker_model import MarkerModel, Person
from homodyn.errors import CaptureError
from homodyn.model import Model

MIN_DISTANCE_M = 0.03
"""Metres; shorter distances tell more of attachments than of sizes."""
SIZE_RANGE = (0.4, 2.5)
"""Sizes relative to a model that a person may have."""
RETRY_RESIDUAL_FACTOR = 1.5
"""Frames with this many times the usual residual are tried again from other poses."""
RETRY_POSE_COUNT = 6
"""Poses tried for such a frame."""
TURN_COUNT = 8
"""Turns tried about each axis of the root: every 45 degrees."""


def initial_size(markers: MarkerModel, measured: np.ndarray) -> float:
    """Size of the person relative to the model: median ratio of distances within bodies.

    A person is neither half nor twice as large as an adult; units or labels must be wrong then.
    """
    bodies = np.array([marker.body for marker in markers.model.markers])
    places = np.array([marker.position for marker in markers.model.markers])
    one, two = np.triu_indices(len(bodies), 1)
    generic = np.linalg.norm(places[one] - places[two], axis=-1)
    kept = (bodies[one] == bodies[two]) & (generic > MIN_DISTANCE_M)
    seen = np.linalg.norm(measured[:, one[kept]] - measured[:, two[kept]], axis=-1)
    ratio = seen / generic[kept]
    if not np.isfinite(ratio).any():
        return 1.0
    size = float(np.nanmedian(ratio))
    if not SIZE_RANGE[0] < size < SIZE_RANGE[1]:
        raise CaptureError(
            f"distances between markers of one body are {size:.3g} times those of model "
            f"{markers.model.name!r}; {SIZE_RANGE[0]:g} to {SIZE_RANGE[1]:g} would be a person: "
            "wrong units or swapped labels?"
        )
    return size


def initial_poses(markers: MarkerModel, person: Person, measured: np.ndarray) -> np.ndarray:
    """Poses (frames, nq) fitted to every frame by itself, from nothing but the markers.

    Of turns of the root on a grid the one is taken whose cloud of markers is nearest to the
    measured one; then the root is fitted, then all joints.
    """
    model = markers.model
    starts = _turned_neutral_poses(model)
    clouds = markers.positions(starts, person)
    q = np.empty((len(measured), model.nq))
    for frame, cloud in enumerate(measured):
        seen = np.isfinite(cloud).all(-1)
        apart = [
            np.inf if seen.sum() < 3 else _cloud_distance(c[seen], cloud[seen]) for c in clouds
        ]
        q[frame] = starts[int(np.argmin(apart))]
    root = np.arange(model.nv) < model.joints[0].nv
    q = fit_poses(markers, person, measured, q, active=root, iterations=15)
    q = fit_poses(markers, person, measured, q, iterations=40)
    return retry_poor_poses(markers, person, measured, q)


def retry_poor_poses(
    markers: MarkerModel, person: Person, measured: np.ndarray, q: np.ndarray
) -> np.ndarray:
    """Poses with those that fit badly tried again, from the joint angles of frames that fit well.

    A limb with few markers has more than one pose that a fit may end in.
    """
    rms = _frame_rms(markers, person, measured, q)
    bad = np.flatnonzero(rms > RETRY_RESIDUAL_FACTOR * np.median(rms))
    if not len(bad):
        return q
    donors = np.argsort(rms, kind="stable")[:RETRY_POSE_COUNT]
    root = markers.model.joint_slots[0].q
    q = q.copy()
    tries = np.repeat(q[donors][None], len(bad), axis=0)
    tries[..., root] = q[bad][:, None, root]
    tries = tries.reshape(-1, q.shape[-1])
    seen = np.repeat(measured[bad], len(donors), axis=0)
    tries = fit_poses(markers, person, seen, tries, iterations=40)
    fitted = _frame_rms(markers, person, seen, tries).reshape(len(bad), -1)
    best = np.argmin(fitted, axis=1)
    better = fitted[np.arange(len(bad)), best] < rms[bad]
    tried = tries.reshape(len(bad), len(donors), -1)[np.arange(len(bad)), best]
    q[bad[better]] = tried[better]
    return q


def _frame_rms(
    markers: MarkerModel, person: Person, measured: np.ndarray, q: np.ndarray
) -> np.ndarray:
    """Root mean squared marker distance of every frame (m)."""
    error = markers.positions(q, person) - measured
    seen = np.isfinite(error).all(-1)
    square = np.where(seen, (np.nan_to_num(error) ** 2).sum(-1), 0.0)
    root: np.ndarray = np.sqrt(square.sum(-1) / np.maximum(seen.sum(-1), 1))
    return root


@lru_cache(maxsize=16)
def _turned_neutral_poses(model: Model) -> np.ndarray:
    """The neutral pose with the root turned by steps about each of its axes in turn."""
    root = model.joints[0]
    if root.quaternion:
        names = [c.name for c in root.coordinates[-3:]]
    else:
        turns = {m.coordinate for m in root.axes if m.kind == "turn"}
        names = [c.name for k, c in enumerate(root.coordinates) if k in turns]
    defaults = {c.name: float(c.default) for c in root.coordinates}
    poses = [model.neutral()]
    for name in names:
        if name in model.coordinate_names:
            for k in range(1, TURN_COUNT):
                poses.append(model.pose({name: defaults[name] + 2 * np.pi * k / TURN_COUNT}))
    return np.array(poses)


def _cloud_distance(cloud: np.ndarray, measured: np.ndarray) -> float:
    """How far two clouds are apart once one is moved, but not turned, onto the other."""
    return float((((cloud - cloud.mean(0)) - (measured - measured.mean(0))) ** 2).sum())
