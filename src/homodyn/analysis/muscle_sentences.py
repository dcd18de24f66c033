"""What to know about the muscles of a result, in sentences."""

from __future__ import annotations

from collections import Counter

import numpy as np

from homodyn.analysis.muscle_analysis import ContactPeak, MuscleAnalysis
from homodyn.foundation import count_of, enumerate_names
from homodyn.muscle import ActivationStatus

MAX_NAMED_FRAMES = 6
"""Intervals of frames that a sentence names."""
HIGH_CONTACT_REASON = (
    "Rigid paths, equal weights and fast walking raise forces of models above those of implants; "
    "compare --muscle-weights volume"
)


def status_sentence(found: MuscleAnalysis) -> str:
    """Frames by status, with the times of those that muscles alone do not solve.

    Args:
        found: What muscles do.

    Returns:
        The sentence without a full stop.
    """
    result = found.activations
    parts = [result.sentence]
    for status in ActivationStatus:
        frames = np.flatnonzero(result.status == status)
        if status in (ActivationStatus.SOLVED, ActivationStatus.LOADS_UNKNOWN) or not len(frames):
            continue
        parts.append(f"{status}: frames {frame_ranges(frames, result.time)}")
    return "; ".join(parts)


def frame_ranges(frames: np.ndarray, time: np.ndarray) -> str:
    """Frames as ranges with their times.

    Args:
        frames: Indices, increasing.
        time: (all frames,), s.

    Returns:
        Such as ``"3 to 7 (0.03 to 0.07 s), 12 (0.12 s)"``.
    """
    runs = np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1)
    words = []
    for run in runs:
        a, b = int(run[0]), int(run[-1])
        single = f"{a} ({time[a]:.2f} s)"
        words.append(single if a == b else f"{a} to {b} ({time[a]:.2f} to {time[b]:.2f} s)")
    return enumerate_names(words, MAX_NAMED_FRAMES)


def agreement_sentence(found: MuscleAnalysis) -> str:
    """How many recorded muscles agree, and which do not.

    Args:
        found: What muscles do.

    Returns:
        The sentence without a full stop; empty without EMG.
    """
    if not found.agreements:
        return ""
    counts = Counter(one.grade for one in found.agreements)
    words = [f"{counts[grade]} {grade}" for grade in ("good", "fair", "poor", "unused")]
    shown = [word for word in words if not word.startswith("0 ")]
    poor = [f"{one.channel} ({one.side})" for one in found.agreements if one.grade == "poor"]
    text = (
        f"activations and EMG of {count_of(len(found.agreements), 'recorded muscle')}: "
        f"{enumerate_names(shown)}"
    )
    return f"{text}; poor: {enumerate_names(poor)}" if poor else text


def contact_sentence(peaks: tuple[ContactPeak, ...]) -> str:
    """Peaks of joint forces and those outside of their published range.

    Args:
        peaks: Peaks of hip, knee and ankle.

    Returns:
        The sentence without a full stop; empty without peaks.
    """
    if not peaks:
        return ""
    values = [f"{one.joint.lower()} {one.side} {one.peak:.1f}" for one in peaks]
    text = f"peak joint forces in body weights: {enumerate_names(values, 12)}"
    outside = [
        f"{one.joint.lower()} {one.side} ({one.low:g} to {one.high:g})"
        for one in peaks
        if not one.within
    ]
    if not outside:
        return f"{text}, all in the published range of walking"
    text = f"{text}; outside of the published range of walking: {enumerate_names(outside, 12)}"
    if any(one.peak > one.high for one in peaks):
        text += f". {HIGH_CONTACT_REASON}"
    return text
