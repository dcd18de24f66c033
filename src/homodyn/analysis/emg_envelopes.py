"""EMG envelopes of an analysis: from the trial or a file of their own, and normalized."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from homodyn import capture, gait
from homodyn.analysis.emg_channels import find_emg_channels
from homodyn.analysis.settings import Settings
from homodyn.capture import Signals, Trial
from homodyn.capture.formats.time_base import fit_time_base
from homodyn.errors import CaptureError
from homodyn.foundation import enumerate_names
from homodyn.foundation.guarded_read import guarded_reader

MAX_ENVELOPE_FREQUENCY_HZ = 20.0
"""Frequency below which a linear envelope has its power, and a raw electromyogram next to none."""
MIN_ENVELOPE_POWER_SHARE = 0.9
"""Share of the variance below that frequency from which channels are envelopes."""


def compute_emg_envelopes(trial: Trial, settings: Settings) -> Signals | None:
    """The envelopes of the EMG channels of a trial, or of the file that the settings name.

    Args:
        trial: The recording.
        settings: Its EMG file, channels and normalization.

    Returns:
        Envelopes in the unit of the channels, or 1 when normalized; None without EMG channels.

    Raises:
        CaptureError: A channel does not exist, or a file has no EMG channels.
        FormatError: A file cannot be read.
    """
    if settings.emg is None:
        signals, source = trial.analog, trial.source or trial.name
    else:
        signals, source = read_signals(settings.emg, partial=settings.lenient), settings.emg
    envelopes = _envelopes(signals, settings, source)
    if envelopes is None:
        if settings.emg is not None:
            raise CaptureError(
                f"{source}: no channel has the name of a muscle "
                f"({enumerate_names(signals.names, 12)}); name channels with --emg-channels"
            )
        return None
    if settings.emg_normalize == "maximum":
        return gait.emg.normalize_envelopes(envelopes, envelopes)
    if settings.mvc is not None:
        maximal = read_signals(settings.mvc, partial=settings.lenient)
        reference = _envelopes(maximal, settings, settings.mvc)
        if reference is None:
            raise CaptureError(
                f"{settings.mvc}: no channel has the name of a muscle "
                f"({enumerate_names(maximal.names, 12)}); expected are the channels "
                f"{enumerate_names(envelopes.names, 12)}"
            )
        return gait.emg.normalize_envelopes(envelopes, reference)
    return envelopes


@guarded_reader("recording")
def read_signals(path: str | Path, *, partial: bool = False) -> Signals:
    """The analog channels of a recording, or the columns of a table at a constant rate.

    Args:
        path: A .c3d file, or a .sto, .mot or .csv table with a column of time.
        partial: Read the complete rows of a truncated table, with a note.

    Returns:
        The channels; those of a table have no unit.

    Raises:
        CaptureError: The recording has no analog channels.
        FormatError: The file cannot be read.
    """
    if Path(path).suffix.lower() == ".c3d":
        signals = capture.read(path, partial=partial).analog
        if not signals.names:
            raise CaptureError(f"{path}: the recording has no analog channels")
        return signals
    table = capture.read_table(path, partial=partial)
    if table.header.get("datatype", "").lower() == "quaternion":
        raise CaptureError(
            f"{path}: its columns are orientations of sensors (quaternions), not electromyograms; "
            "expected is one number per channel and row"
        )
    clock = fit_time_base(table.time, str(path))
    if len(clock.sample_indices) != int(clock.sample_indices[-1]) + 1:
        raise CaptureError(f"{path}: rows of the table are missing; export it at a constant rate")
    return Signals(
        table.names,
        clock.rate,
        table.values,
        start=clock.start,
        notes=(*table.notes, *clock.notes),
    )


def _envelopes(signals: Signals, settings: Settings, source: str) -> Signals | None:
    names = find_emg_channels(signals, settings.emg_channels, source)
    if not names:
        return None
    columns = [signals.names.index(name) for name in names]
    units = signals.units
    chosen = replace(
        signals,
        names=tuple(names),
        values=signals.values[:, columns],
        units=tuple(units[k] for k in columns) if units else (),
    )
    if _low_frequency_shares(chosen).min() > MIN_ENVELOPE_POWER_SHARE:
        note = (
            f"{Path(source).name} contains envelopes, with nearly no power above "
            f"{MAX_ENVELOPE_FREQUENCY_HZ:g} Hz: they are not filtered again."
        )
        # A low-pass filter undershoots zero next to a burst; an amplitude cannot be negative.
        values = np.maximum(chosen.values, 0.0)
        return replace(chosen, values=values, notes=(*chosen.notes, note))
    return gait.emg.emg_envelopes(chosen, channels=names)


def _low_frequency_shares(signals: Signals) -> np.ndarray:
    """Share of the variance of each channel below the band of raw electromyograms; 1 if silent."""
    seen = np.isfinite(signals.values)
    values = np.where(seen, signals.values, 0.0)
    mean = values.sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    centered = np.where(seen, values - mean, 0.0)
    power = np.abs(np.fft.rfft(centered, axis=0)) ** 2
    low = np.fft.rfftfreq(len(centered), 1.0 / signals.rate) < MAX_ENVELOPE_FREQUENCY_HZ
    total = power.sum(axis=0)
    return np.where(total > 0.0, power[low].sum(axis=0) / np.where(total > 0.0, total, 1.0), 1.0)
