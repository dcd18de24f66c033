"""Speeds and accelerations of sampled poses, from splines through them."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation, Slerp

from homodyn.model import Model
from homodyn.model.configuration import plain_entries

DEGREE = 5
"""Of the splines: accelerations are smooth to the second derivative."""


def derivatives(model: Model, time: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """V and a, (frames, nv), of poses (frames, nq) at instants (s).

    Quintic splines through every entry of q. A quaternion p is followed with its sign kept; its
    body angular velocity is 2 vec(p* dp/dt) and that one's rate 2 vec(p* d2p/dt2). The linear
    entries of a free joint are those of the world turned into body axes: v = E dx/dt and
    a = E d2x/dt2 - w x v. Noise grows with each derivative: smooth or filter before.
    """
    frames = len(time)
    v, a = np.zeros((2, frames, model.nv))
    degree = min(DEGREE, frames - 1)
    if degree < 1:
        return v, a
    degree -= degree % 2 == 0
    path = continuous(model, q)
    spline = make_interp_spline(time - time[0], path, k=degree)
    rate = spline.derivative(1)(time - time[0])
    bend = spline.derivative(2)(time - time[0]) if degree > 1 else np.zeros_like(rate)
    entries, positions = plain_entries(model)
    v[:, entries], a[:, entries] = rate[:, positions], bend[:, positions]
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        if not joint.quaternion:
            continue
        four = slice(place.q.stop - 4, place.q.stop)
        turns = slice(place.v.stop - 3, place.v.stop)
        here = path[:, four]
        v[:, turns] = 2 * _turned_by(here, rate[:, four])
        a[:, turns] = 2 * _turned_by(here, bend[:, four])
        if joint.kind == "free":
            three, slides = (slice(p.start, p.start + 3) for p in (place.q, place.v))
            into_body = Rotation.from_quat(here[:, [1, 2, 3, 0]]).inv()
            v[:, slides] = into_body.apply(rate[:, three])
            drift = np.cross(v[:, turns], v[:, slides])
            a[:, slides] = into_body.apply(bend[:, three]) - drift
    return v, a


def interpolated(
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


def moves(model: Model, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
    """`Model.difference` of many poses, a plain one where there are no quaternions."""
    return q1 - q0 if model.nq == model.nv else model.difference(q0, q1)


def continuous(model: Model, q: np.ndarray) -> np.ndarray:
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


def _turned_by(p: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """The vector part of p* times another quaternion."""
    w, u = p[:, :1], p[:, 1:]
    return w * rate[:, 1:] - rate[:, :1] * u - np.cross(u, rate[:, 1:])
