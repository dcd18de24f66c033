"""Speeds and accelerations of sampled signals, by splines of degree five."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy import signal
from scipy.interpolate import make_interp_spline

from homodyn.capture.filters.butterworth_filter import (
    apply_between_gaps,
    opensim_forward_backward,
    pad_by_reflection,
)
from homodyn.errors import CaptureError

EndConditions = Literal["free", "natural"]


class SignalDerivatives(NamedTuple):
    """A signal with its rates of change, each of the shape of the signal."""

    value: np.ndarray
    first: np.ndarray
    """Per second."""
    second: np.ndarray
    """Per second squared."""


def derivatives(
    values: np.ndarray, rate: float, *, style: EndConditions | Literal["opensim"] = "free"
) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives along axis 0 of samples taken ``rate`` times a second.

    A quintic spline goes through the samples; only what happens at the ends is a choice:

    - ``"free"``: not-a-knot, exact for polynomials up to degree five, ends included.
    - ``"natural"`` or ``"opensim"``: third and fourth derivatives vanish at the ends. This is what
      OpenSim's ``GCVSplineSet(5, storage)`` gives (its error variance is zero, so it smooths
      nothing): compared with it, both derivatives agree to rounding, at the ends too.

    Each stretch between gaps is taken by itself; gaps stay NaN. Stretches shorter than six samples
    get a polynomial through all of them, which leaves no derivative to a single sample (NaN).
    The spline follows noise: filter first.
    """
    value = np.asarray(values, dtype=float)
    first = apply_between_gaps(value, lambda run: _spline(run, rate, style, (1,))[0])
    second = apply_between_gaps(value, lambda run: _spline(run, rate, style, (2,))[0])
    return first, second


def opensim_derivatives(values: np.ndarray, rate: float, *, cutoff: float) -> SignalDerivatives:
    """Coordinates as OpenSim's inverse dynamics sees them: filtered, with rates of change.

    The order matters and is OpenSim's: continue the samples at both ends by half their number, run
    ``lowpassIIR``, lay the natural quintic spline through the continued and filtered samples, and
    only then look at the instants that were measured. So the ends of the spline lie outside.
    Needs samples without gaps and at least four of them.
    """
    given = np.asarray(values, dtype=float)
    if len(given) < 4 or not np.isfinite(given).all():
        raise CaptureError(
            "derivatives as in OpenSim need four samples or more without gaps; "
            "fill the gaps first (fill_gaps)"
        )
    b, a = signal.butter(3, cutoff if cutoff < 0.5 * rate else 0.49 * rate, fs=rate)
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
    spline = make_interp_spline(steps, run, k=degree, bc_type=ends)
    return [spline(steps, order) * rate**order for order in orders]
