"""Butterworth filters for markers and forces: zero-lag, causal, or as in OpenSim.

Programs define the cutoff differently. Here it is the frequency at which the **whole** filter
passes 1/√2 of the amplitude (−3 dB). Running a filter forwards and backwards squares its gain, so
each pass is designed at a higher frequency (a lower one for a high-pass): with n the order of one
pass and Ω = tan(π f / rate) the frequency warped by the bilinear transform,
Ω' = Ω / (√2 − 1)^(1/2n) (Winter, Biomechanics and Motor Control, 4th ed., section 3.4.4).
``corrected=False`` designs the passes at the stated frequency, where the whole filter then passes
one half (−6 dB), as many programs do.

Every run of samples between gaps is filtered separately; missing samples stay missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
import scipy

from homodyn.capture.mask_runs import true_runs
from homodyn.errors import CaptureError

FilterKind = Literal["low", "high", "band"]
FilterStyle = Literal["zero-lag", "causal", "opensim"]
FILTER_STYLES = ("zero-lag", "causal", "opensim")


def lowpass(
    values: np.ndarray,
    rate: float,
    *,
    cutoff: float = 6.0,
    order: int = 4,
    corrected: bool = True,
    style: FilterStyle = "zero-lag",
) -> np.ndarray:
    """Low-pass filter signals along axis 0.

    The same cutoff on markers at 100 Hz and forces at 1000 Hz is the same filter in time. Each run
    between gaps is filtered separately.

    Args:
        values: Samples along axis 0; NaN marks gaps.
        rate: Sampling rate, Hz.
        cutoff: Cutoff frequency, Hz.
        order: Order of the whole filter; 4 is the usual choice in biomechanics.
        corrected: Whether the cutoff is the -3 dB frequency of the whole filter, not of one pass.
        style: ``"zero-lag"`` runs forwards and backwards, each pass of order ``order / 2``, with
            the ends extended by two periods of the cutoff (point reflection). ``"causal"`` is one
            pass of ``order``, with lag, as if the first sample had been constant before.
            ``"opensim"`` is `opensim_lowpass`; ``order`` and ``corrected`` have no effect.

    Returns:
        The filtered signals, of the same shape.

    Raises:
        CaptureError: The rate, the cutoff, the order or the style is invalid.
    """
    if style == "opensim":
        return opensim_lowpass(values, rate, cutoff=cutoff)
    return _apply_filter(values, rate, "low", (cutoff,), order, corrected, style)


def highpass(
    values: np.ndarray,
    rate: float,
    *,
    cutoff: float,
    order: int = 4,
    corrected: bool = True,
    style: FilterStyle = "zero-lag",
) -> np.ndarray:
    """High-pass filter signals along axis 0; see `lowpass`.

    Args:
        values: Samples along axis 0; NaN marks gaps.
        rate: Sampling rate, Hz.
        cutoff: Cutoff frequency, Hz.
        order: Order of the whole filter.
        corrected: Whether the cutoff is the -3 dB frequency of the whole filter, not of one pass.
        style: ``"zero-lag"``, ``"causal"`` or ``"opensim"``.

    Returns:
        The filtered signals, of the same shape.

    Raises:
        CaptureError: The rate, the cutoff, the order or the style is invalid.
    """
    return _apply_filter(values, rate, "high", (cutoff,), order, corrected, style)


def bandpass(
    values: np.ndarray,
    rate: float,
    *,
    band: tuple[float, float],
    order: int = 4,
    corrected: bool = True,
    style: FilterStyle = "zero-lag",
) -> np.ndarray:
    """Band-pass filter signals along axis 0; see `lowpass`.

    Args:
        values: Samples along axis 0; NaN marks gaps.
        rate: Sampling rate, Hz.
        band: Lower and upper cutoff frequency, Hz.
        order: Order at each edge of the band.
        corrected: Whether the cutoffs are -3 dB frequencies of the whole filter, not of one pass.
        style: ``"zero-lag"`` or ``"causal"``.

    Returns:
        The filtered signals, of the same shape.

    Raises:
        CaptureError: The rate, the band, the order or the style is invalid.
    """
    return _apply_filter(values, rate, "band", tuple(band), order, corrected, style)


def butterworth(
    order: int,
    cutoff: float | tuple[float, float],
    rate: float,
    *,
    kind: FilterKind = "low",
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of one pass: ``a[0] y[k] = b[0] x[k] + … − a[1] y[k-1] − …``.

    Args:
        order: Order of the pass.
        cutoff: Cutoff frequency, Hz; two for a band-pass.
        rate: Sampling rate, Hz.
        kind: ``"low"``, ``"high"`` or ``"band"``.

    Returns:
        Coefficients b and a.

    Raises:
        CaptureError: The rate or the cutoff is invalid.
    """
    edges = _design_frequencies(
        np.atleast_1d(np.asarray(cutoff, dtype=float)), rate, kind, 1, False
    )
    b, a = scipy.signal.butter(order, edges, _SCIPY_KINDS[kind], fs=rate)
    return b, a


def opensim_lowpass(values: np.ndarray, rate: float, *, cutoff: float) -> np.ndarray:
    """Low-pass filter as inverse dynamics of OpenSim 4 does (``lowpassIIR`` with its padding).

    The signal is extended at both ends by half its length (point reflection); a third-order
    Butterworth filter with -3 dB at the cutoff runs forwards and backwards, so that the whole has
    -6 dB there; each pass keeps its first three samples. A cutoff of half the rate or more becomes
    0.49 of the rate. Runs of three samples or fewer are not filtered.

    Args:
        values: Samples along axis 0; NaN marks gaps.
        rate: Sampling rate, Hz.
        cutoff: Cutoff frequency, Hz.

    Returns:
        The filtered signals, of the same shape.

    Raises:
        CaptureError: The rate or the cutoff is invalid.
    """
    _check_rate(rate)
    _check_cutoff(cutoff)
    b, a = scipy.signal.butter(3, cutoff if cutoff < 0.5 * rate else 0.49 * rate, fs=rate)

    def smooth(run: np.ndarray) -> np.ndarray:
        if len(run) < 4:
            return run
        pad = len(run) // 2
        return opensim_forward_backward(b, a, pad_by_reflection(run, pad))[pad : pad + len(run)]

    return apply_between_gaps(values, smooth)


def opensim_forward_backward(b: np.ndarray, a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Filter forwards and backwards; each pass keeps its first samples unfiltered."""
    return _opensim_pass(b, a, _opensim_pass(b, a, x)[::-1])[::-1]


def _opensim_pass(b: np.ndarray, a: np.ndarray, x: np.ndarray) -> np.ndarray:
    kept = len(a) - 1
    past = np.stack(
        [scipy.signal.lfiltic(b, a, *[column[kept - 1 :: -1]] * 2) for column in x.T], axis=1
    )
    return np.concatenate([x[:kept], scipy.signal.lfilter(b, a, x[kept:], axis=0, zi=past)[0]])


def pad_by_reflection(run: np.ndarray, pad: int) -> np.ndarray:
    """A signal extended at both ends by point reflection about its end points."""
    if pad == 0:
        return run
    return np.concatenate(
        [2 * run[0] - run[pad:0:-1], run, 2 * run[-1] - run[-2 : -2 - pad : -1]], axis=0
    )


def apply_between_gaps(
    values: np.ndarray, function: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Apply a function of (samples, columns) to every run without gaps; gaps stay NaN.

    Columns with the same gaps are processed together.
    """
    given = np.asarray(values, dtype=float)
    if given.ndim == 0:
        raise CaptureError("got a single number; a signal with samples along axis 0 is expected")
    table = given.reshape(len(given), -1)
    out = np.full_like(table, np.nan)
    for columns, first, last in gap_free_runs(table):
        out[first:last, columns] = function(table[first:last, columns])
    return out.reshape(given.shape)


def gap_free_runs(table: np.ndarray) -> Iterator[tuple[np.ndarray, int, int]]:
    """Columns, first sample and end of every run of numbers in a (samples, columns) table."""
    seen = np.isfinite(table)
    if not seen.size:
        return
    if seen.all():
        yield np.arange(table.shape[1]), 0, len(table)
        return
    patterns, which = np.unique(seen.T, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        columns = np.flatnonzero(which.ravel() == number)
        for first, last in true_runs(pattern):
            yield columns, first, last


_SCIPY_KINDS = {"low": "lowpass", "high": "highpass", "band": "bandpass"}


def _apply_filter(
    values: np.ndarray,
    rate: float,
    kind: FilterKind,
    cutoffs: tuple[float, ...],
    order: int,
    corrected: bool,
    style: FilterStyle,
) -> np.ndarray:
    if style not in FILTER_STYLES[: 3 if kind == "low" else 2]:
        raise CaptureError(f"no filter style {style!r}; accepted: {', '.join(FILTER_STYLES)}")
    passes = 2 if style == "zero-lag" else 1
    if order < 1 or order % passes:
        expected = "an even number" if passes == 2 else "1 or more"
        raise CaptureError(f"order of a {style} filter is {order}, {expected} is expected")
    each = order // passes
    edges = _design_frequencies(
        np.asarray(cutoffs, dtype=float), rate, kind, each, corrected and passes == 2
    )
    sections = scipy.signal.butter(each, edges, _SCIPY_KINDS[kind], fs=rate, output="sos")
    longest = int(np.ceil(2 * rate / min(cutoffs)))
    steady_state = scipy.signal.sosfilt_zi(sections)[:, :, None]

    def causal(run: np.ndarray) -> np.ndarray:
        return scipy.signal.sosfilt(sections, run, axis=0, zi=steady_state * run[0])[0]

    def zero_lag(run: np.ndarray) -> np.ndarray:
        pad = min(longest, len(run) - 1)
        both_ways = causal(causal(pad_by_reflection(run, pad))[::-1])[::-1]
        return both_ways[pad : pad + len(run)]

    return apply_between_gaps(values, zero_lag if passes == 2 else causal)


def _design_frequencies(
    cutoffs: np.ndarray, rate: float, kind: FilterKind, order: int, corrected: bool
) -> np.ndarray | float:
    """Frequencies (Hz) at which one pass is designed so that two have −3 dB at the cutoffs."""
    _check_rate(rate)
    if len(cutoffs) != (2 if kind == "band" else 1):
        expected = "two cutoffs" if kind == "band" else "one cutoff"
        raise CaptureError(f"a {kind}-pass filter has {expected}, got {len(cutoffs)}")
    for cutoff in cutoffs:
        _check_cutoff(cutoff)
        if cutoff >= rate / 2:
            raise CaptureError(
                f"cutoff {cutoff:g} Hz is not below half the rate of {rate:g} Hz; "
                f"choose one below {rate / 2:g} Hz"
            )
    if kind == "band" and cutoffs[0] >= cutoffs[1]:
        raise CaptureError(
            f"band {cutoffs[0]:g} to {cutoffs[1]:g} Hz: the lower cutoff must come first"
        )
    if not corrected:
        return cutoffs if kind == "band" else float(cutoffs[0])
    warped = np.tan(np.pi * cutoffs / rate)
    stretch = (np.sqrt(2) - 1) ** (1 / (2 * order))
    if kind == "low":
        warped = warped / stretch
    elif kind == "high":
        warped = warped * stretch
    else:
        # A band-pass is the low-pass at (Ω² − Ω₁Ω₂) / (Ω B): a wider B with the same center.
        center, width = warped[0] * warped[1], (warped[1] - warped[0]) / stretch
        upper = (width + np.sqrt(width**2 + 4 * center)) / 2
        warped = np.array([center / upper, upper])
    designed = np.arctan(warped) * rate / np.pi
    return designed if kind == "band" else float(designed[0])


def _check_rate(rate: float) -> None:
    if not (np.isfinite(rate) and rate > 0):
        raise CaptureError(f"rate is {rate}, samples per second above zero are expected")


def _check_cutoff(cutoff: float) -> None:
    if not (np.isfinite(cutoff) and cutoff > 0):
        raise CaptureError(f"cutoff is {cutoff}, a frequency above zero (Hz) is expected")
