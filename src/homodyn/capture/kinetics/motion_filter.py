"""Coordinates of a motion smoothed and differentiated, orientations on their own manifold."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from homodyn.capture.filters.butterworth_filter import lowpass, pad_by_reflection
from homodyn.capture.filters.pose_derivatives import generalized_velocities, unwrap_quaternions
from homodyn.capture.filters.signal_derivatives import derivatives, opensim_derivatives
from homodyn.errors import CaptureError
from homodyn.motion.motion import Motion

MIN_FRAMES = 6
"""Frames that a spline of degree five needs."""


def filter_motion(
    motion: Motion,
    *,
    cutoff: float | None = 6.0,
    style: Literal["zero-lag", "opensim"] = "zero-lag",
) -> Motion:
    """Low-pass filter a motion and differentiate it by quintic splines.

    Coordinates are extended beyond both ends, so that the ends of the splines lie outside.
    Quaternions are filtered as four numbers with continuous sign and then normalised, which is the
    mean of nearby orientations to second order.

    Args:
        motion: The motion, with frames at equal intervals.
        cutoff: Cutoff frequency, Hz; None differentiates without filtering.
        style: ``"zero-lag"``, or ``"opensim"`` as in OpenSim's inverse dynamics.

    Returns:
        A new motion.

    Raises:
        CaptureError: There are too few frames, their intervals differ, or the style is unknown.
    """
    model, rate = motion.model, motion.rate
    if len(motion.time) < MIN_FRAMES:
        raise CaptureError(
            f"the motion has {len(motion.time)} frames; {MIN_FRAMES} are needed to differentiate"
        )
    grid = np.linspace(motion.time[0], motion.time[-1], len(motion.time))
    if np.abs(motion.time - grid).max() > 0.1 / rate:
        raise CaptureError("the frames of the motion are not equally spaced in time; resample it")
    if style not in ("zero-lag", "opensim"):
        raise CaptureError(f"no style {style!r} of smoothing; accepted: zero-lag, opensim")
    q = unwrap_quaternions(model, motion.q)
    if cutoff is None:
        ends: Literal["opensim", "free"] = "opensim" if style == "opensim" else "free"
        parts = (q, *derivatives(q, rate, style=ends))
        told = "differentiated by quintic splines"
    elif style == "opensim":
        parts = opensim_derivatives(q, rate, cutoff=cutoff)
        told = f"low-pass {cutoff:g} Hz and splines as in OpenSim"
    else:
        parts = _padded_derivatives(q, rate, cutoff)
        told = f"zero-lag low-pass {cutoff:g} Hz, differentiated by quintic splines"
    q, v, a = generalized_velocities(model, *parts)
    method = "; ".join(part for part in (motion.method, told) if part)
    return replace(motion, q=q, v=v, a=a, method=method)


def _padded_derivatives(
    q: np.ndarray, rate: float, cutoff: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Filtered values and derivatives, both taken with the ends continued."""
    pad = min(int(np.ceil(2 * rate / cutoff)), len(q) - 1)
    slow = lowpass(pad_by_reflection(q, pad), rate, cutoff=cutoff)
    inside = slice(pad, pad + len(q))
    first, second = derivatives(slow, rate)
    return slow[inside], first[inside], second[inside]
