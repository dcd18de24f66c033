"""Electromyograms: channel detection, linear envelopes, and envelopes over gait cycles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from homodyn.capture.filters.butterworth_filter import bandpass, lowpass
from homodyn.capture.trial import Signals
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.gait.gait_cycles import GaitCycles, normalize_cycles
from homodyn.motion import Event

__all__ = ["EmgCycles", "emg_channels", "emg_cycles", "emg_envelopes", "normalize_envelopes"]

Normalization = Literal["maximum", "mean"]

_VOLTS = re.compile(r"^\s*([mµμu]|milli|micro)?v(olts?)?\s*$", re.IGNORECASE)
_PLATE = re.compile(
    r"force|moment|torque|plate|treadmill|tapis|\bcop\b|^p?fp?\d+|(^|[^a-z])[fmp][xyz]\d*([^a-z]|$)",
    re.IGNORECASE,
)
_DEVICE = re.compile(
    r"sync|trig|switch|button|clock|start|gonio|accel|\bacc|gyro|magn|nothing|unused|mic(ro)?phone",
    re.IGNORECASE,
)
_NAMELESS = re.compile(
    r"^\W*(channel|chan|ch|pin|raw[. _]*pin|voltage|analog|input|ai)?[\W_]*\d*$", re.I
)
_MUSCLE = re.compile(
    r"emg|soleus|gastroc|tibialis|peron|fibularis|vast(us|i)|rectus|bic(eps)|tric(eps)|semitend|"
    r"semimem|hamstr|glute|tensor|adduct|erector|spinae|trapez|delto|latissimus|pector|oblique|"
    r"abdom|sartor|gracil|extensor|flexor|forearm|brachi|iliops|multifid",
    re.IGNORECASE,
)
_MAX_BAND_RATE_RATIO = 0.45
"""Largest upper band edge as a share of the sampling rate."""


def emg_channels(signals: Signals, *, channels: Sequence[str] | None = None) -> tuple[str, ...]:
    """Names of the channels that are electromyograms.

    A channel is taken when its unit is volts (V, mV, uV) and its name is not that of a force plate
    or another device, or when its name contains a muscle or EMG and its unit does not contradict.
    Unnamed voltages ("Channel_08", "Voltage.1") are taken only when listed in ``channels``.

    Args:
        signals: Analog channels of a recording.
        channels: Names to use instead of the detection.

    Returns:
        Channel names.

    Raises:
        CaptureError: A listed channel does not exist.
    """
    if channels is not None:
        for name in channels:
            if name not in signals.names:
                raise CaptureError(unknown_name("analog channel", name, signals.names))
        return tuple(channels)
    units = signals.units or ("",) * len(signals.names)
    return tuple(
        name for name, unit in zip(signals.names, units, strict=True) if _is_emg(name, unit)
    )


def _is_emg(name: str, unit: str) -> bool:
    volts = bool(_VOLTS.match(unit))
    if unit.strip() and not volts:
        return False
    if _MUSCLE.search(name):
        return True
    return volts and not any(rule.search(name) for rule in (_PLATE, _DEVICE, _NAMELESS))


def emg_envelopes(
    signals: Signals,
    *,
    band: tuple[float, float] | None = (20.0, 450.0),
    cutoff: float = 6.0,
    order: int = 4,
    channels: Sequence[str] | None = None,
    normalize: Normalization | None = None,
) -> Signals:
    """Linear envelopes of the electromyograms: band-pass, rectify, zero-lag low-pass.

    Felis 2015, section 2.4, corresponds to ``band=None, order=2``: a first-order filter in each
    direction.

    Args:
        signals: Analog channels of a recording.
        band: Pass band (Hz) against movement artifacts and noise; None removes the mean only. An
            upper edge above 0.45 of the sampling rate is lowered, with a note.
        cutoff: -3 dB frequency (Hz) of the low-pass filter, forward and backward together.
        order: Order of the low-pass filter, both directions together.
        channels: Names to use instead of the detected ones.
        normalize: Divide each channel by its ``"maximum"`` or ``"mean"``.

    Returns:
        Envelopes in the unit of the channels, or 1 when normalized; with notes.

    Raises:
        CaptureError: There is no such channel, or the sampling rate is too low.
    """
    chosen = emg_channels(signals, channels=channels)
    if not chosen:
        raise CaptureError(
            "no analog channel looks like an electromyogram (volts, not of a force plate); "
            f"name them by channels=, accepted: {', '.join(signals.names) or 'none'}"
        )
    notes: list[str] = []
    edges = _allowed_band(signals.rate, band, cutoff, notes)
    columns = [signals.names.index(name) for name in chosen]
    raw = np.array(signals.values[:, columns], dtype=float)
    silent = [name for name, column in zip(chosen, raw.T, strict=True) if not np.nanstd(column) > 0]
    if silent:
        notes.append(f"Channels without any signal: {', '.join(silent)}.")
    centered = raw - np.nanmean(raw, axis=0)
    filtered = centered if edges is None else bandpass(centered, signals.rate, band=edges)
    envelope = lowpass(np.abs(filtered), signals.rate, cutoff=cutoff, order=order)
    # The low-pass filter can undershoot zero next to a burst; an amplitude cannot be negative.
    envelope = np.maximum(envelope, 0.0)
    units = tuple(signals.units[c] for c in columns) if signals.units else ()
    if normalize is not None:
        size, lost = _channel_scales(envelope, normalize, chosen)
        envelope = envelope / size
        notes += lost
        units = ("1",) * len(chosen)
    return replace(
        signals, names=chosen, values=envelope, units=units, notes=(*signals.notes, *notes)
    )


def normalize_envelopes(envelopes: Signals, reference: Signals) -> Signals:
    """Envelopes as shares of the largest value of a reference, such as maximal contractions.

    Args:
        envelopes: What `emg_envelopes` returned.
        reference: Envelopes of the reference, with channels of the same names.

    Returns:
        Envelopes of unit 1; silent reference channels leave theirs at zero, with a note.

    Raises:
        CaptureError: The reference lacks a channel.
    """
    missing = [name for name in envelopes.names if name not in reference.names]
    if missing:
        raise CaptureError(
            f"the reference lacks the channels {', '.join(missing)}; it has "
            f"{', '.join(reference.names)}"
        )
    columns = [reference.names.index(name) for name in envelopes.names]
    size, notes = _channel_scales(reference.values[:, columns], "maximum", envelopes.names)
    silent = ~(np.nan_to_num(reference.values[:, columns]).max(axis=0, initial=0.0) > 0)
    return replace(
        envelopes,
        values=np.where(silent, 0.0, envelopes.values / size),
        units=("1",) * len(envelopes.names),
        notes=(*envelopes.notes, *notes),
    )


def _allowed_band(
    rate: float, band: tuple[float, float] | None, cutoff: float, notes: list[str]
) -> tuple[float, float] | None:
    """The pass band that a sampling rate allows."""
    if cutoff >= _MAX_BAND_RATE_RATIO * rate:
        raise CaptureError(
            f"an envelope up to {cutoff:g} Hz needs a sampling rate above "
            f"{cutoff / _MAX_BAND_RATE_RATIO:.0f} Hz; the channels have {rate:g} Hz"
        )
    if band is None:
        return None
    low, high = band
    top = _MAX_BAND_RATE_RATIO * rate
    if low >= top:
        raise CaptureError(
            f"a sampling rate of {rate:g} Hz contains nothing above {rate / 2:g} Hz, so the band "
            f"of {low:g} to {high:g} Hz is empty; for envelopes use band=None"
        )
    if high > top:
        notes.append(
            f"The rate of {rate:g} Hz is too low for a band up to {high:g} Hz; "
            f"it ends at {top:g} Hz."
        )
        high = top
    return low, high


def _channel_scales(
    values: np.ndarray, by: Normalization, names: Sequence[str]
) -> tuple[np.ndarray, list[str]]:
    """Largest or mean value of each channel, 1 for silent ones; values are (..., channels)."""
    if by not in ("maximum", "mean"):
        raise CaptureError(f"no normalization {by!r}; accepted: maximum, mean")
    flat = values.reshape(-1, values.shape[-1])
    seen = np.isfinite(flat)
    if by == "maximum":
        size = np.where(seen, flat, 0.0).max(axis=0, initial=0.0)
    else:
        size = np.where(seen, flat, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    silent = ~(size > 0)
    notes = [
        f"Channel {name} has no signal to normalize by and stays zero."
        for name, quiet in zip(names, silent, strict=True)
        if quiet
    ]
    return np.where(silent, 1.0, size), notes


@record
class EmgCycles(Record):
    """Envelopes over the strides of a side: (cycles, 101, channels), mean and sd."""

    names: tuple[str, ...]
    """Names of the channels."""
    units: tuple[str, ...]
    """Units of the channels; ``"1"`` when normalized."""
    cycles: GaitCycles
    """The envelopes over the strides."""
    notes: tuple[str, ...] = ()
    """Channels without a signal, strides that were left out."""

    @property
    def mean(self) -> np.ndarray:
        """Mean over the complete cycles, (101, channels)."""
        return self.cycles.mean

    @property
    def sd(self) -> np.ndarray:
        """Standard deviation over the complete cycles, (101, channels)."""
        return self.cycles.sd


def emg_cycles(
    envelopes: Signals,
    events: Sequence[Event],
    side: str,
    *,
    normalize: Normalization | None = None,
) -> EmgCycles:
    """Envelopes normalized to 0-100 % of the strides of a side.

    Args:
        envelopes: What `emg_envelopes` returned.
        events: Foot strikes and foot offs.
        side: ``"left"`` or ``"right"``.
        normalize: Divide each channel by the ``"maximum"`` or ``"mean"`` of its complete cycles.

    Returns:
        Cycles of all channels.

    Raises:
        CaptureError: The side or the normalization is unknown.
    """
    over = normalize_cycles(envelopes.time, envelopes.values, events, side)
    if normalize is None or not over.complete.any():
        return EmgCycles(envelopes.names, envelopes.units, over, over.notes)
    size, notes = _channel_scales(over.values[over.complete], normalize, envelopes.names)
    over = replace(over, values=over.values / size)
    return EmgCycles(envelopes.names, ("1",) * len(size), over, (*over.notes, *notes))
