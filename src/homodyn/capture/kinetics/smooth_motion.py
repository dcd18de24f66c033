"""Coordinates of a motion smoothed and differentiated, orientations on their own manifold."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from homodyn.capture.filtering.derivatives import derivatives, opensim_derivatives
from homodyn.capture.filtering.filters import lowpass, reflected
from homodyn.capture.motion import Motion
from homodyn.errors import CaptureError
from homodyn.model import Model

FEWEST = 6
"""Frames that a spline of degree five needs."""


def smoothed(
    motion: Motion,
    *,
    cutoff: float | None = 6.0,
    style: Literal["zero-lag", "opensim"] = "zero-lag",
) -> Motion:
    """The motion low-pass filtered (Hz; None: as it is) and differentiated by quintic splines.

    ``style="opensim"`` filters and differentiates as OpenSim's inverse dynamics does. Both continue
    the coordinates beyond their ends, so that the ends of the splines lie outside.

    A quaternion is filtered as four numbers whose sign follows the turn, then brought back to
    length one, which is the mean of nearby orientations to second order; with r those numbers,
    the body's angular velocity is 2 vec(r* dr/dt) / |r|^2 whatever their length.
    """
    model, rate = motion.model, motion.rate
    if len(motion.time) < FEWEST:
        raise CaptureError(
            f"the motion has {len(motion.time)} frames; {FEWEST} are needed to differentiate"
        )
    grid = np.linspace(motion.time[0], motion.time[-1], len(motion.time))
    if np.abs(motion.time - grid).max() > 0.1 / rate:
        raise CaptureError("the frames of the motion are not equally spaced in time; resample it")
    if style not in ("zero-lag", "opensim"):
        raise CaptureError(f"no style {style!r} of smoothing; accepted: zero-lag, opensim")
    q = _continuous(model, motion.q)
    if cutoff is None:
        ends: Literal["opensim", "free"] = "opensim" if style == "opensim" else "free"
        parts = (q, *derivatives(q, rate, style=ends))
        told = "differentiated by quintic splines"
    elif style == "opensim":
        parts = opensim_derivatives(q, rate, cutoff=cutoff)
        told = f"low-pass {cutoff:g} Hz and splines as in OpenSim"
    else:
        parts = _without_ends(q, rate, cutoff)
        told = f"zero-lag low-pass {cutoff:g} Hz, differentiated by quintic splines"
    q, v, a = _velocities(model, *parts)
    method = "; ".join(part for part in (motion.method, told) if part)
    return replace(motion, q=q, v=v, a=a, method=method)


def _without_ends(
    q: np.ndarray, rate: float, cutoff: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Filtered values and derivatives, both taken with the ends continued."""
    pad = min(int(np.ceil(2 * rate / cutoff)), len(q) - 1)
    slow = lowpass(reflected(q, pad), rate, cutoff=cutoff)
    inside = slice(pad, pad + len(q))
    first, second = derivatives(slow, rate)
    return slow[inside], first[inside], second[inside]


def _continuous(model: Model, q: np.ndarray) -> np.ndarray:
    """Positions whose quaternions do not change sign from frame to frame."""
    q = np.array(q, dtype=float)
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        if joint.quaternion:
            turns = q[:, place.q.stop - 4 : place.q.stop]
            flips = np.sign((turns[1:] * turns[:-1]).sum(-1))
            turns[1:] *= np.cumprod(np.where(flips < 0, -1.0, 1.0))[:, None]
    return q


def _velocities(
    model: Model, q: np.ndarray, rates: np.ndarray, curvatures: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities and accelerations out of positions and their plain derivatives."""
    q = q.copy()
    v, a = np.empty((2, len(q), model.nv))
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        if not joint.quaternion:
            v[:, place.v], a[:, place.v] = rates[:, place.q], curvatures[:, place.q]
            continue
        four, turning = slice(place.q.stop - 4, place.q.stop), slice(place.v.stop - 3, place.v.stop)
        r, dr, ddr = q[:, four], rates[:, four], curvatures[:, four]
        square = (r * r).sum(-1, keepdims=True)
        spin = 2.0 * _turned_back(r, dr) / square
        v[:, turning] = spin
        a[:, turning] = (
            2.0 * _turned_back(r, ddr) - 2.0 * (r * dr).sum(-1, keepdims=True) * spin
        ) / square
        q[:, four] = r / np.sqrt(square)
        if joint.kind == "free":
            # The linear velocity of a free joint is told in the axes of its body, which turn.
            places = slice(place.q.start, place.q.start + 3)
            lead = slice(place.v.start, place.v.start + 3)
            v[:, lead] = _in_body(q[:, four], rates[:, places])
            a[:, lead] = _in_body(q[:, four], curvatures[:, places]) - np.cross(spin, v[:, lead])
    return q, v, a


def _turned_back(r: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Vector part of the quaternion product r* s."""
    w, x = r[:, :1], r[:, 1:]
    return w * s[:, 1:] - s[:, :1] * x - np.cross(x, s[:, 1:])


def _in_body(quaternion: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """World vectors in the axes of bodies with these orientations."""
    w, x = quaternion[:, :1], -quaternion[:, 1:]
    twice = 2.0 * np.cross(x, vectors)
    return vectors + w * twice + np.cross(x, twice)
