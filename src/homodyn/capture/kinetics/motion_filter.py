"""Low-pass filter and derivatives of a motion, quaternions included."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from homodyn.capture.filters.butterworth_filter import lowpass, pad_by_reflection
from homodyn.capture.filters.pose_derivatives import generalized_velocities, unwrap_quaternions
from homodyn.capture.filters.signal_derivatives import derivatives, opensim_derivatives
from homodyn.errors import CaptureError
from homodyn.foundation.text import count_of
from homodyn.motion.motion import Motion

MIN_FRAMES = 6
"""Frames that a quintic spline needs."""


def filter_motion(
    motion: Motion,
    *,
    cutoff: float | None = 6.0,
    style: Literal["zero-lag", "opensim"] = "zero-lag",
) -> Motion:
    """Low-pass filter a motion and differentiate it by quintic splines.

    Coordinates are extended beyond both ends, so that the ends of the splines lie outside.
    Quaternions are filtered as four numbers with continuous sign and then normalized, which is the
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
            f"the motion has {count_of(len(motion.time), 'frame')}; {MIN_FRAMES} are needed to "
            "differentiate it"
        )
    grid = np.linspace(motion.time[0], motion.time[-1], len(motion.time))
    if np.abs(motion.time - grid).max() > 0.1 / rate:
        raise CaptureError("the frames of the motion are not equally spaced in time; resample it")
    if style not in ("zero-lag", "opensim"):
        raise CaptureError(f"no filter style {style!r}; accepted: zero-lag, opensim")
    q = unwrap_quaternions(model, motion.q)
    if cutoff is None:
        ends: Literal["opensim", "free"] = "opensim" if style == "opensim" else "free"
        q, first, second = (q, *derivatives(q, rate, style=ends))
        text = "differentiated by quintic splines"
    elif style == "opensim":
        filtered = opensim_derivatives(q, rate, cutoff=cutoff)
        q, first, second = filtered.value, filtered.first, filtered.second
        text = f"low-pass {cutoff:g} Hz and splines as in OpenSim"
    else:
        q, first, second = _padded_derivatives(q, rate, cutoff)
        text = f"zero-lag low-pass {cutoff:g} Hz, differentiated by quintic splines"
    q, v, a = generalized_velocities(model, q, first, second)
    method = "; ".join(part for part in (motion.method, text) if part)
    return replace(motion, q=q, v=v, a=a, method=method)


def _padded_derivatives(
    q: np.ndarray, rate: float, cutoff: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Filtered values and derivatives, both computed with extended ends."""
    pad = min(int(np.ceil(2 * rate / cutoff)), len(q) - 1)
    smooth = lowpass(pad_by_reflection(q, pad), rate, cutoff=cutoff)
    inside = slice(pad, pad + len(q))
    first, second = derivatives(smooth, rate)
    return smooth[inside], first[inside], second[inside]
