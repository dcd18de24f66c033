"""Coordinates of a motion smoothed and differentiated, orientations on their own manifold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.signal import butter, sosfiltfilt

from homodyn.capture.motion import Motion
from homodyn.errors import CaptureError
from homodyn.model import Model

DEGREE = 5
"""Degree of the splines that are differentiated: accelerations are then smooth themselves."""


def lowpass(values: np.ndarray, rate: float, *, cutoff: float) -> np.ndarray:
    """Zero-lag low-pass."""
    # Each pass takes its share of the attenuation, so that 3 dB are lost at the cutoff in all.
    corner = cutoff / (np.sqrt(2.0) - 1.0) ** 0.25
    sections = butter(2, min(corner / (rate / 2), 0.999), output="sos")
    return np.asarray(sosfiltfilt(sections, values, axis=0, padlen=min(len(values) - 1, 60)))


def smoothed(motion: Motion, *, cutoff: float | None) -> Motion:
    """The motion low-pass filtered (Hz; None: as it is) and differentiated by quintic splines.

    A quaternion is filtered as four numbers whose sign follows the turn, then brought back to
    length one, which is the mean of nearby orientations to second order; with r those numbers,
    the body's angular velocity is 2 vec(r* dr/dt) / |r|^2 whatever their length.
    """
    model, time = motion.model, motion.time
    if len(time) < DEGREE + 1:
        raise CaptureError(
            f"the motion has {len(time)} frames; at least {DEGREE + 1} are needed to differentiate"
        )
    q = _continuous(model, motion.q)
    if cutoff is not None:
        if not 0.0 < cutoff < motion.rate / 2:
            raise CaptureError(
                f"a cutoff of {cutoff:g} Hz does not fit a motion of {motion.rate:g} frames a "
                f"second: it must lie between 0 and {motion.rate / 2:g} Hz, or be None"
            )
        q = lowpass(q, motion.rate, cutoff=cutoff)
    spline = make_interp_spline(time, q, k=DEGREE)
    rates, curvatures = (np.asarray(spline.derivative(order)(time)) for order in (1, 2))
    return replace(motion, **_velocities(model, q, rates, curvatures))


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
) -> dict[str, np.ndarray]:
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
    return {"q": q, "v": v, "a": a}


def _turned_back(r: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Vector part of the quaternion product r* s."""
    w, x = r[:, :1], r[:, 1:]
    return w * s[:, 1:] - s[:, :1] * x - np.cross(x, s[:, 1:])


def _in_body(quaternion: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """World vectors in the axes of bodies with these orientations."""
    w, x = quaternion[:, :1], -quaternion[:, 1:]
    twice = 2.0 * np.cross(x, vectors)
    return vectors + w * twice + np.cross(x, twice)
