"""Velocities and accelerations of sampled poses, from interpolating splines."""

from __future__ import annotations

import numpy as np
import scipy
from scipy.spatial import transform

from homodyn.model import Model

SPLINE_DEGREE = 5
"""Degree of the splines: accelerations have two continuous derivatives."""


def pose_derivatives(
    model: Model, time: np.ndarray, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Velocities and accelerations (frames, nv) of poses (frames, nq) at times (frames,), s.

    Quintic splines interpolate every entry of q; quaternions keep a continuous sign. Noise grows
    with each derivative: smooth or filter before.
    """
    frames = len(time)
    degree = min(SPLINE_DEGREE, frames - 1)
    if degree < 1:
        return np.zeros((frames, model.nv)), np.zeros((frames, model.nv))
    degree -= degree % 2 == 0
    path = unwrap_quaternions(model, q)
    spline = scipy.interpolate.make_interp_spline(time - time[0], path, k=degree)
    rate = spline.derivative(1)(time - time[0])
    curvature = spline.derivative(2)(time - time[0]) if degree > 1 else np.zeros_like(rate)
    return generalized_velocities(model, path, rate, curvature)[1:]


def generalized_velocities(
    model: Model, q: np.ndarray, rates: np.ndarray, curvatures: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities and accelerations from positions and their time derivatives.

    With r a quaternion of any length, the angular velocity w of the body is
    2 vec(r* dr/dt) / |r|^2, and its rate 2 vec(r* d2r/dt2) / |r|^2 - 2 (r . dr/dt) w / |r|^2. The
    linear entries of a free joint are expressed in body axes: v = E dx/dt and
    a = E d2x/dt2 - w x v.

    Args:
        model: The model.
        q: (frames, nq); quaternions need not be unit.
        rates: (frames, nq): first derivatives of q by time.
        curvatures: (frames, nq): second derivatives.

    Returns:
        q with unit quaternions, v and a.
    """
    q = q.copy()
    v, a = np.empty((2, len(q), model.nv))
    for joint, slot in zip(model.joints, model.joint_slots, strict=True):
        if not joint.quaternion:
            v[:, slot.v], a[:, slot.v] = rates[:, slot.q], curvatures[:, slot.q]
            continue
        four, angular = slice(slot.q.stop - 4, slot.q.stop), slice(slot.v.stop - 3, slot.v.stop)
        r, dr, ddr = q[:, four], rates[:, four], curvatures[:, four]
        square = (r * r).sum(-1, keepdims=True)
        spin = 2.0 * _conjugate_product(r, dr) / square
        v[:, angular] = spin
        a[:, angular] = (
            2.0 * _conjugate_product(r, ddr) - 2.0 * (r * dr).sum(-1, keepdims=True) * spin
        ) / square
        q[:, four] = r / np.sqrt(square)
        if joint.kind == "free":
            # The linear velocity of a free joint is in the axes of its body, which rotate.
            position = slice(slot.q.start, slot.q.start + 3)
            linear = slice(slot.v.start, slot.v.start + 3)
            v[:, linear] = _to_body_axes(q[:, four], rates[:, position])
            a[:, linear] = _to_body_axes(q[:, four], curvatures[:, position]) - np.cross(
                spin, v[:, linear]
            )
    return q, v, a


def _conjugate_product(r: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Vector part of the quaternion product r* s."""
    w, x = r[:, :1], r[:, 1:]
    return w * s[:, 1:] - s[:, :1] * x - np.cross(x, s[:, 1:])


def _to_body_axes(quaternion: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """World vectors in the axes of bodies with the given orientations."""
    w, x = quaternion[:, :1], -quaternion[:, 1:]
    twice = 2.0 * np.cross(x, vectors)
    return vectors + w * twice + np.cross(x, twice)


def interpolate_poses(
    model: Model, q: np.ndarray, known: np.ndarray, entries: np.ndarray | None = None
) -> np.ndarray:
    """Poses with unknown frames interpolated between the known ones.

    Coordinates are interpolated linearly, quaternions along the shortest rotation; before the first
    and after the last known frame the nearest one is repeated.

    Args:
        model: The model.
        q: (frames, nq).
        known: (frames,): mask of the known frames.
        entries: Entries of v to interpolate; all by default.
    """
    result = q.copy()
    frames = np.arange(len(q))
    known_frames = frames[known]
    queried = np.clip(frames[~known], known_frames[0], known_frames[-1])
    for joint, slot in zip(model.joints, model.joint_slots, strict=True):
        count = slot.v.stop - slot.v.start
        plain = count - 3 if joint.quaternion else count
        for k in range(plain):
            if entries is None or slot.v.start + k in entries:
                column = slot.q.start + k
                result[~known, column] = np.interp(queried, known_frames, q[known, column])
        if joint.quaternion and (
            entries is None or any(slot.v.start + plain + k in entries for k in range(3))
        ):
            four = [slot.q.stop - 3, slot.q.stop - 2, slot.q.stop - 1, slot.q.stop - 4]
            if len(known_frames) == 1:
                result[np.ix_(~known, four)] = q[known_frames[0], four]
            else:
                rotations = transform.Rotation.from_quat(q[known][:, four])
                slerp = transform.Slerp(known_frames, rotations)
                result[np.ix_(~known, four)] = slerp(queried).as_quat()
    return result


def pose_differences(model: Model, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
    """`Model.difference` of many poses; a plain difference for models without quaternions."""
    return q1 - q0 if model.nq == model.nv else model.difference(q0, q1)


def unwrap_quaternions(model: Model, q: np.ndarray) -> np.ndarray:
    """Poses whose quaternions start with w > 0 and change continuously from frame to frame."""
    path = q.copy()
    for joint, slot in zip(model.joints, model.joint_slots, strict=True):
        if joint.quaternion:
            four = slice(slot.q.stop - 4, slot.q.stop)
            changes = np.einsum("ij,ij->i", path[1:, four], path[:-1, four]) < 0
            first = -1.0 if path[0, four.start] < 0 else 1.0
            signs = np.cumprod([first, *np.where(changes, -1.0, 1.0)])
            path[:, four] *= signs[:, None]
    return path
