"""Speeds and accelerations of sampled poses, from splines through them."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation, Slerp

from homodyn.model import Model

SPLINE_DEGREE = 5
"""Of the splines: accelerations are smooth to the second derivative."""


def pose_derivatives(
    model: Model, time: np.ndarray, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """V and a, (frames, nv), of poses (frames, nq) at instants (s).

    Quintic splines through every entry of q; a quaternion is followed with its sign kept. Noise
    grows with each derivative: smooth or filter before.
    """
    frames = len(time)
    degree = min(SPLINE_DEGREE, frames - 1)
    if degree < 1:
        return np.zeros((frames, model.nv)), np.zeros((frames, model.nv))
    degree -= degree % 2 == 0
    path = unwrap_quaternions(model, q)
    spline = make_interp_spline(time - time[0], path, k=degree)
    rate = spline.derivative(1)(time - time[0])
    bend = spline.derivative(2)(time - time[0]) if degree > 1 else np.zeros_like(rate)
    return generalized_velocities(model, path, rate, bend)[1:]


def generalized_velocities(
    model: Model, q: np.ndarray, rates: np.ndarray, curvatures: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities and accelerations out of positions and their plain derivatives.

    With r a quaternion of any length, the body's angular velocity w is 2 vec(r* dr/dt) / |r|^2, and
    its rate 2 vec(r* d2r/dt2) / |r|^2 - 2 (r . dr/dt) w / |r|^2. The linear entries of a free joint
    are those of the world turned into body axes: v = E dx/dt and a = E d2x/dt2 - w x v.
    """
    q = q.copy()
    v, a = np.empty((2, len(q), model.nv))
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        if not joint.quaternion:
            v[:, place.v], a[:, place.v] = rates[:, place.q], curvatures[:, place.q]
            continue
        four, turning = slice(place.q.stop - 4, place.q.stop), slice(place.v.stop - 3, place.v.stop)
        r, dr, ddr = q[:, four], rates[:, four], curvatures[:, four]
        square = (r * r).sum(-1, keepdims=True)
        spin = 2.0 * _conjugate_product(r, dr) / square
        v[:, turning] = spin
        a[:, turning] = (
            2.0 * _conjugate_product(r, ddr) - 2.0 * (r * dr).sum(-1, keepdims=True) * spin
        ) / square
        q[:, four] = r / np.sqrt(square)
        if joint.kind == "free":
            # The linear velocity of a free joint is told in the axes of its body, which turn.
            places = slice(place.q.start, place.q.start + 3)
            lead = slice(place.v.start, place.v.start + 3)
            v[:, lead] = _to_body_axes(q[:, four], rates[:, places])
            a[:, lead] = _to_body_axes(q[:, four], curvatures[:, places]) - np.cross(
                spin, v[:, lead]
            )
    return q, v, a


def _conjugate_product(r: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Vector part of the quaternion product r* s."""
    w, x = r[:, :1], r[:, 1:]
    return w * s[:, 1:] - s[:, :1] * x - np.cross(x, s[:, 1:])


def _to_body_axes(quaternion: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """World vectors in the axes of bodies with these orientations."""
    w, x = quaternion[:, :1], -quaternion[:, 1:]
    twice = 2.0 * np.cross(x, vectors)
    return vectors + w * twice + np.cross(x, twice)


def interpolate_poses(
    model: Model, q: np.ndarray, known: np.ndarray, entries: np.ndarray | None = None
) -> np.ndarray:
    """Poses with the frames that are not known laid between the known ones around them.

    Straight lines and the shortest turns; before the first and after the last known frame the
    nearest one stands. ``entries`` of v restrict it to the joints that own them.
    """
    result = q.copy()
    frames = np.arange(len(q))
    at = frames[known]
    wanted = np.clip(frames[~known], at[0], at[-1])
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        count = place.v.stop - place.v.start
        plain = count - 3 if joint.quaternion else count
        for k in range(plain):
            if entries is None or place.v.start + k in entries:
                column = place.q.start + k
                result[~known, column] = np.interp(wanted, at, q[known, column])
        if joint.quaternion and (
            entries is None or any(place.v.start + plain + k in entries for k in range(3))
        ):
            four = [place.q.stop - 3, place.q.stop - 2, place.q.stop - 1, place.q.stop - 4]
            if len(at) == 1:
                result[np.ix_(~known, four)] = q[at[0], four]
            else:
                between = Slerp(at, Rotation.from_quat(q[known][:, four]))
                result[np.ix_(~known, four)] = between(wanted).as_quat()
    return result


def pose_differences(model: Model, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
    """`Model.difference` of many poses, a plain one where there are no quaternions."""
    return q1 - q0 if model.nq == model.nv else model.difference(q0, q1)


def unwrap_quaternions(model: Model, q: np.ndarray) -> np.ndarray:
    """Poses whose quaternions begin with w > 0 and keep their sign from one frame to the next."""
    path = q.copy()
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        if joint.quaternion:
            four = slice(place.q.stop - 4, place.q.stop)
            against = np.einsum("ij,ij->i", path[1:, four], path[:-1, four]) < 0
            first = -1.0 if path[0, four.start] < 0 else 1.0
            flips = np.cumprod([first, *np.where(against, -1.0, 1.0)])
            path[:, four] *= flips[:, None]
    return path
