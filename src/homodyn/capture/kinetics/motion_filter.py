"""Low-pass filter and derivatives of a motion, quaternions included."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from homodyn.capture.filters.butterworth_filter import lowpass, pad_by_reflection
from homodyn.capture.filters.pose_derivatives import generalized_velocities, unwrap_quaternions
from homodyn.capture.filters.residual_analysis import CutoffChoice, choose_cutoff
from homodyn.capture.filters.signal_derivatives import derivatives, opensim_derivatives
from homodyn.errors import CaptureError
from homodyn.foundation.text import count_of
from homodyn.motion.motion import Motion

MIN_FRAMES = 6
"""Frames that a quintic spline needs."""
Cutoff = float | Literal["auto"] | None
"""A frequency (Hz), ``"auto"`` for residual analysis, or None for no filter."""
STANDARD_CUTOFF_HZ = 6.0
"""Cutoff (Hz) for walking and slower movements."""
EDGE_FRAMES_FACTOR = 3
"""Multiple of such an end that a motion must exceed, or its ends are not marked."""
EDGE_PERIODS = 0.5
"""Length of the unreliable ends of a filtered motion, in periods of the cutoff frequency. The
reference is the same motion filtered with more frames beyond its ends: on synthetic walks cut at
any instant (6 Hz, peaks of 82 N m) torques differ from it by up to 82 N m in the first frames and
by less than 5 N m after half a period. Polynomial extrapolation of the ends gives larger errors
than point reflection."""


def filter_motion(
    motion: Motion,
    *,
    cutoff: Cutoff = 6.0,
    style: Literal["zero-lag", "opensim"] = "zero-lag",
) -> Motion:
    """Low-pass filter a motion and differentiate it by quintic splines.

    Coordinates are extended beyond both ends, so that the ends of the splines lie outside.
    Quaternions are filtered as four numbers with continuous sign and then normalized, which is the
    mean of nearby orientations to second order. Frames within half a period of the cutoff of an end
    are marked in ``Motion.edge``.

    Args:
        motion: The motion, with frames at equal intervals.
        cutoff: Cutoff frequency, Hz; ``"auto"`` chooses it by residual analysis, see
            `motion_cutoff`; None differentiates without filtering.
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
    chosen = motion_cutoff(motion) if cutoff == "auto" else None
    cutoff = resolve_cutoff(motion, cutoff) if chosen is None else chosen.cutoff
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
    notes = motion.notes if chosen is None else (*motion.notes, chosen.sentence)
    edge = edge_frames(len(q), rate, cutoff)
    return replace(motion, q=q, v=v, a=a, method=method, notes=notes, edge=edge)


def motion_cutoff(motion: Motion) -> CutoffChoice:
    """Cutoff frequency by residual analysis of the measured markers of a motion.

    A motion without markers is analyzed by its coordinates.

    Args:
        motion: The motion, with frames at equal intervals.

    Returns:
        The choice, with what it is based on.
    """
    if motion.measured.size and np.isfinite(motion.measured).any():
        return choose_cutoff(motion.measured, motion.rate, motion.markers)
    return choose_cutoff(unwrap_quaternions(motion.model, motion.q), motion.rate)


def resolve_cutoff(motion: Motion, cutoff: float | str | None) -> float | None:
    """The cutoff as a number (Hz), or None without a filter.

    Args:
        motion: The motion that ``"auto"`` is resolved for.
        cutoff: Hz, ``"auto"``, ``"standard"`` (6 Hz) or None.

    Returns:
        The frequency.

    Raises:
        CaptureError: It is another text.
    """
    if cutoff is None or not isinstance(cutoff, str):
        return cutoff
    if cutoff == "standard":
        return STANDARD_CUTOFF_HZ
    if cutoff != "auto":
        raise CaptureError(
            f"cutoff is {cutoff!r}; accepted: a frequency (Hz), 'standard', 'auto' or None"
        )
    return motion_cutoff(motion).cutoff


def edge_frames(frames: int, rate: float, cutoff: float | None) -> np.ndarray:
    """(frames,): True within `EDGE_PERIODS` of an end of a filtered motion; empty without filter.

    A motion shorter than three such ends has none, since nothing would be left.

    Args:
        frames: Number of frames.
        rate: Frames per second (Hz).
        cutoff: Cutoff frequency (Hz), or None.
    """
    if cutoff is None:
        return np.zeros(0, dtype=bool)
    count = int(np.ceil(EDGE_PERIODS * rate / cutoff))
    mask = np.zeros(frames, dtype=bool)
    if EDGE_FRAMES_FACTOR * count < frames:
        mask[:count] = mask[-count:] = True
    return mask


def _padded_derivatives(
    q: np.ndarray, rate: float, cutoff: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Filtered values and derivatives, both computed with extended ends."""
    pad = min(int(np.ceil(2 * rate / cutoff)), len(q) - 1)
    smooth = lowpass(pad_by_reflection(q, pad), rate, cutoff=cutoff)
    inside = slice(pad, pad + len(q))
    first, second = derivatives(smooth, rate)
    return smooth[inside], first[inside], second[inside]
