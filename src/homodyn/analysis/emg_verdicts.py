"""Verdicts on EMG: channels without a signal, and clocks that do not agree with the markers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from homodyn.analysis.pipeline import Analysis
from homodyn.analysis.verdict import QualityLight, QualityVerdict, full_sentence
from homodyn.foundation import enumerate_names

MIN_COVERED_SHARE = 0.95
"""Share of the analyzed interval that EMG has to cover."""
MAX_DURATION_RATIO = 1.5
"""Ratio of the durations of EMG and recording above which the rate of one of them is doubted."""


def emg_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """Grade the EMG of an analysis.

    Args:
        analysis: The result of `analyze`.

    Yields:
        The verdicts; none without EMG that was asked for.
    """
    settings = analysis.settings
    if settings.emg_channels and "emg" in analysis.missing:
        reason = full_sentence(analysis.missing["emg"])
        yield QualityVerdict(QualityLight.FAIR, "EMG", f"There is no EMG: {reason}")
    emg = analysis.emg
    if emg is None or not len(emg.time):
        return
    size = np.max(np.nan_to_num(np.abs(emg.values)), axis=0)
    silent = [name for name, largest in zip(emg.names, size, strict=True) if not largest > 0]
    if silent:
        yield QualityVerdict(
            QualityLight.FAIR,
            "EMG",
            f"Channels without any signal: {enumerate_names(silent, 8)}. Check their electrodes "
            "and cables, or leave them out with --emg-channels.",
        )
    yield from _clock_verdicts(analysis)


def _clock_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """EMG that does not cover the recording, or lasts much longer."""
    emg, motion = analysis.emg, analysis.motion
    assert emg is not None
    start, end = float(emg.time[0]), float(emg.time[-1])
    first, last = float(motion.time[0]), float(motion.time[-1])
    spans = (
        f"EMG lasts from {start:.4g} to {end:.4g} s, the motion from {first:.4g} to {last:.4g} s"
    )
    rates = (
        f"the rates of EMG ({emg.rate:.4g} per second) and markers ({motion.rate:.4g}) and their "
        "starts"
    )
    covered = max(min(end, last) - max(start, first), 0.0)
    duration = max(last - first, 1.0 / motion.rate)
    if covered < MIN_COVERED_SHARE * duration:
        share = "nothing" if covered == 0 else f"{100 * covered / duration:.0f} %"
        yield QualityVerdict(
            QualityLight.FAIR, "EMG", f"{spans}, of which it covers {share}. Check {rates}."
        )
        return
    whole = analysis.settings.first is None and analysis.settings.last is None
    if whole and end - start > MAX_DURATION_RATIO * duration and analysis.settings.emg is not None:
        yield QualityVerdict(
            QualityLight.FAIR,
            "EMG",
            f"{spans}. If both were recorded together, check {rates}.",
        )
