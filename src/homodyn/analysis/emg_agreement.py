"""How well computed activations agree with measured EMG, stated for every recorded muscle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.analysis.emg_muscles import recorded_muscles
from homodyn.capture import Signals
from homodyn.foundation import Record, record
from homodyn.motion import Side
from homodyn.muscle import MuscleActivations

MAX_DELAY_S = 0.1
"""Largest delay from an envelope to the activation that is searched."""
DELAY_STEP_S = 0.005
GOOD_CORRELATION, FAIR_CORRELATION = 0.7, 0.4
"""Correlations, at the best delay, from which an agreement is good or fair."""
ACTIVE_SHARE = 0.25
"""Share of the range of a curve above which the muscle counts as active."""
MIN_FRAMES = 10
"""Frames with known loads that a comparison needs."""
MIN_ACTIVATION_RANGE = 0.01
"""Range of activation below which a muscle is not used, so its curve has no shape."""


@record(eq=True)
class EmgAgreement(Record):
    """Computed activation of a muscle beside the EMG channel that records it."""

    channel: str
    side: str
    muscles: tuple[str, ...]
    """Muscles of the model; their mean activation, weighted by strength, is compared."""
    frames: int
    """Frames with a known activation."""
    correlation: float
    """Of activation and envelope at the same time; 0 where the muscle is not used."""
    delay_s: float
    """Delay of the activation, from 0 to 0.1 s, at which the correlation is largest."""
    best_correlation: float
    """Correlation at that delay."""
    timing_share: float
    """Share of frames in which both curves are above, or both below, a quarter of their range,
    at that delay."""
    emg_factor: float
    """Factor of the envelope, at that delay, that brings it closest to the activation."""
    rms_difference: float
    """Root mean square difference of activation and scaled envelope."""
    peak_activation: float

    @property
    def used(self) -> bool:
        """Whether static optimization uses the muscle at all."""
        return self.peak_activation > 0 and self.emg_factor > 0

    @property
    def grade(self) -> str:
        """``"good"``, ``"fair"``, ``"poor"``, or ``"unused"``."""
        if not self.used:
            return "unused"
        if self.best_correlation >= GOOD_CORRELATION:
            return "good"
        return "fair" if self.best_correlation >= FAIR_CORRELATION else "poor"

    @property
    def sentence(self) -> str:
        """The agreement in one sentence."""
        if not self.used:
            return f"{self.channel} ({self.side}): static optimization does not use the muscle"
        return (
            f"{self.channel} ({self.side}): {self.grade} agreement, correlation "
            f"{self.best_correlation:.2f} at {1e3 * self.delay_s:.0f} ms ({self.correlation:.2f} "
            f"at once), on and off together in {100 * self.timing_share:.0f} % of {self.frames} "
            "frames"
        )

    def headline(self) -> str:
        """Channel, muscles and grade."""
        return f"EmgAgreement of {self.channel!r} and {', '.join(self.muscles)}: {self.grade}"


def emg_agreements(
    result: MuscleActivations,
    known: np.ndarray,
    envelopes: Signals,
    sides: Sequence[str | None],
) -> tuple[EmgAgreement, ...]:
    """Compare activations with EMG in all frames whose loads are known.

    Args:
        result: The activations.
        known: (frames, muscles): where activations are known.
        envelopes: Linear envelopes of EMG in the time of the motion.
        sides: The side of each channel; a channel without one is compared with both sides.

    Returns:
        One agreement per channel and side with a muscle of that name.
    """
    found = []
    for column, (channel, own) in enumerate(zip(envelopes.names, sides, strict=True)):
        for side in (own,) if own else tuple(str(one) for one in Side):
            muscles = recorded_muscles(channel, side, result.muscles)
            if muscles:
                activation = channel_activation(result, known, muscles)
                one = _agreement(result.time, activation, envelopes, column, (side, muscles))
                found += [one] if one is not None else []
    return tuple(found)


def assign_sides(
    result: MuscleActivations,
    known: np.ndarray,
    envelopes: Signals,
    sides: Sequence[str | None],
    asked: str = "auto",
) -> tuple[tuple[str | None, ...], str]:
    """The side of every channel; those whose names have none are of one leg.

    Args:
        result: Activations without EMG.
        known: (frames, muscles): where activations are known.
        envelopes: Linear envelopes of EMG.
        sides: The side of each channel by its name.
        asked: ``"right"`` or ``"left"`` for channels without a side; ``"auto"`` takes the side
            whose muscles agree better with them.

    Returns:
        The sides, and a sentence on those that were chosen; empty where all names have one.
    """
    if all(sides) or not sides:
        return tuple(sides), ""
    if asked != "auto":
        return tuple(one or asked for one in sides), ""
    unnamed = [name for name, side in zip(envelopes.names, sides, strict=True) if not side]
    found = emg_agreements(result, known, envelopes, sides)
    means = {
        str(side): [
            one.best_correlation for one in found if one.side == side and one.channel in unnamed
        ]
        for side in Side
    }
    means = {side: values for side, values in means.items() if values}
    if not means:
        return tuple(sides), ""
    score = {side: float(np.mean(values)) for side, values in means.items()}
    chosen = max(score, key=lambda side: score[side])
    words = " and ".join(f"{value:.2f} {side}" for side, value in score.items())
    note = (
        f"the names of EMG channels have no side; they are compared with the {chosen} leg, which "
        f"agrees better (mean correlation {words}); --muscle-emg-side sets it"
    )
    return tuple(one or chosen for one in sides), note


def channel_activation(
    result: MuscleActivations, known: np.ndarray, muscles: Sequence[str]
) -> np.ndarray:
    """Mean activation of muscles, weighted by their maximum isometric forces.

    Args:
        result: The activations.
        known: (frames, muscles): where activations are known.
        muscles: Names of muscles.

    Returns:
        (frames,); NaN where an activation is not known.
    """
    columns = [result.muscle(name) for name in muscles]
    model = result.loads.motion.model
    strengths = {one.name: float(one.max_isometric_force) for one in model.muscles}
    weights = np.array([strengths[name] for name in muscles])
    mean = result.activations[:, columns] @ (weights / weights.sum())
    return np.where(known[:, columns].all(axis=1), mean, np.nan)


def envelope_at(envelopes: Signals, column: int, time: np.ndarray) -> np.ndarray:
    """An envelope at given times.

    Args:
        envelopes: The envelopes.
        column: Index of the channel.
        time: (times,), s.

    Returns:
        (times,); NaN outside of the recording.
    """
    values = envelopes.values[:, column]
    return np.interp(time, envelopes.time, values, left=np.nan, right=np.nan)


def _agreement(
    time: np.ndarray,
    activation: np.ndarray,
    envelopes: Signals,
    column: int,
    recorded: tuple[str, tuple[str, ...]],
) -> EmgAgreement | None:
    delays = np.arange(0.0, MAX_DELAY_S + DELAY_STEP_S / 2, DELAY_STEP_S)
    shifted = [envelope_at(envelopes, column, time - delay) for delay in delays]
    known = np.isfinite(activation) & np.isfinite(shifted).all(axis=0)
    if known.sum() < MIN_FRAMES:
        return None
    a = activation[known]
    correlations = [_correlation(a, one[known]) for one in shifted]
    best = int(np.argmax(correlations))
    emg = shifted[best][known]
    used = np.ptp(a) > MIN_ACTIVATION_RANGE
    factor = float(a @ emg / (emg @ emg)) if used and emg.any() else 0.0
    return EmgAgreement(
        channel=envelopes.names[column],
        side=recorded[0],
        muscles=recorded[1],
        frames=int(known.sum()),
        correlation=correlations[0],
        delay_s=float(delays[best]),
        best_correlation=correlations[best],
        timing_share=float(np.mean(_active(a) == _active(emg))),
        emg_factor=factor,
        rms_difference=float(np.sqrt(np.mean((a - factor * emg) ** 2))),
        peak_activation=float(a.max()),
    )


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    if np.ptp(a) <= MIN_ACTIVATION_RANGE or not np.ptp(b) > 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def _active(curve: np.ndarray) -> np.ndarray:
    return np.asarray(curve > curve.min() + ACTIVE_SHARE * np.ptp(curve))
