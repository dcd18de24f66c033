"""First and second derivatives of sampled signals, by quintic splines."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy

from homodyn.capture.filters.butterworth_filter import (
    apply_between_gaps,
    opensim_forward_backward,
    pad_by_reflection,
)
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record

EndConditions = Literal["free", "natural"]


@record
class SignalDerivatives(Record):
    """A signal with its first and second derivatives, all of the same shape."""

    value: np.ndarray
    """The signal."""
    first: np.ndarray
    """Per second."""
    second: np.ndarray
    """Per second squared."""


def derivatives(
    values: np.ndarray, rate: float, *, style: EndConditions | Literal["opensim"] = "free"
) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives of sampled signals along axis 0, from quintic splines.

    Each run between gaps is differentiated separately; gaps stay NaN. Runs shorter than six samples
    use a polynomial through all of them; a single sample gives NaN. The spline follows noise:
    filter first.

    Args:
        values: Samples along axis 0.
        rate: Sampling rate, Hz.
        style: End conditions. ``"free"``: not-a-knot, exact for polynomials up to degree five.
            ``"natural"`` or ``"opensim"``: third and fourth derivatives vanish at the ends, as in
            OpenSim's ``GCVSplineSet(5, storage)``, with which both derivatives agree to rounding.

    Returns:
        First (per second) and second (per second squared) derivatives.

    Raises:
        CaptureError: The style is unknown.
    """
    value = np.asarray(values, dtype=float)
    first = apply_between_gaps(value, lambda run: _spline(run, rate, style, (1,))[0])
    second = apply_between_gaps(value, lambda run: _spline(run, rate, style, (2,))[0])
    return first, second


def opensim_derivatives(values: np.ndarray, rate: float, *, cutoff: float) -> SignalDerivatives:
    """Filtered coordinates with derivatives, as OpenSim's inverse dynamics computes them.

    In OpenSim's order: extend the samples at both ends by half their number, apply ``lowpassIIR``,
    fit the natural quintic spline to the extended samples, and evaluate it at the measured times.

    Args:
        values: At least four samples along axis 0, without gaps.
        rate: Sampling rate, Hz.
        cutoff: Cutoff frequency, Hz.

    Returns:
        Filtered values and both derivatives.

    Raises:
        CaptureError: There are gaps or fewer than four samples.
    """
    given = np.asarray(values, dtype=float)
    if len(given) < 4 or not np.isfinite(given).all():
        raise CaptureError(
            "derivatives as in OpenSim need four or more samples without gaps; fill the gaps first "
            "(fill_gaps)"
        )
    b, a = scipy.signal.butter(3, cutoff if cutoff < 0.5 * rate else 0.49 * rate, fs=rate)
    pad = len(given) // 2
    run = opensim_forward_backward(b, a, pad_by_reflection(given.reshape(len(given), -1), pad))
    inside = slice(pad, pad + len(given))
    parts = [run, *_spline(run, rate, "opensim", (1, 2))]
    return SignalDerivatives(*(part[inside].reshape(given.shape) for part in parts))


def _spline(run: np.ndarray, rate: float, style: str, orders: tuple[int, ...]) -> list[np.ndarray]:
    """Derivatives of a spline through a run of (samples, columns)."""
    if style not in ("free", "natural", "opensim"):
        raise CaptureError(f"no style {style!r} of derivatives; accepted: free, natural, opensim")
    count = len(run)
    if count == 1:
        return [np.full_like(run, np.nan) for _ in orders]
    steps = np.arange(count, dtype=float)
    flat = np.zeros(run.shape[1])
    natural = style != "free" and count >= 6
    ends = ([(3, flat), (4, flat)],) * 2 if natural else None
    degree = 5 if count >= 6 else count - 1
    spline = scipy.interpolate.make_interp_spline(steps, run, k=degree, bc_type=ends)
    return [spline(steps, order) * rate**order for order in orders]
