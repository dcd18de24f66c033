"""How human a gait is: mean curves of its cycles beside normative ones, by numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.gait.events import find_events
from homodyn.gait.gait_cycles import GaitCycles
from homodyn.gait.motion_cycles import cycles
from homodyn.gait.norms import NormativeCurve, normative_curve
from homodyn.model.side import Side
from homodyn.motion import FOOT_OFF, FOOT_STRIKE, Event, Motion

COMPARED_ANGLES = ("hip flexion", "knee flexion", "ankle dorsiflexion")
"""Sagittal angles that are correlated with normative ones."""
DOUBLE_PEAK_DIP = 0.05
"""Dip between two peaks of vertical force that counts as two peaks (body weights)."""
MIN_SWING_S = 0.2
"""A foot that leaves the ground for a shorter time bounces; it does not swing."""
SMOOTHING_POINTS = 5
"""Points of a cycle (of 101) over which forces are averaged before peaks are counted."""


@record
class NormComparison(Record):
    """Numbers of a gait that normative data have too."""

    cycles: int
    """Complete cycles of both sides."""
    stance_share: float
    """Mean share of a cycle with the foot on the ground."""
    double_support_share: float
    """Mean share of a cycle with both feet on the ground."""
    peak_force: float
    """Largest vertical force of a foot on the mean cycle (body weights)."""
    force_peaks: int
    """Peaks of the vertical force on the mean cycle of stance: people have two."""
    swing_knee_flexion: float
    """Largest knee flexion on the mean cycle (deg)."""
    correlations: dict[str, float]
    """Correlation of the mean cycle with the normative one, by angle."""
    source: str
    """Study and group of the normative curves."""

    def headline(self) -> str:
        """The numbers in a line."""
        angles = ", ".join(f"{name} {r:.2f}" for name, r in self.correlations.items())
        return (
            f"NormComparison: stance {100 * self.stance_share:.0f} %, peak force "
            f"{self.peak_force:.2f} body weights in {self.force_peaks} peaks, knee "
            f"{self.swing_knee_flexion:.0f} deg; r of {angles}"
        )


def compare_with_norms(
    motion: Motion,
    events: Sequence[Event] | None = None,
    *,
    source: str = "schwartz2008",
    group: str = "free",
) -> NormComparison:
    """Compare the cycles of a walk with normative curves.

    Args:
        motion: A recorded, simulated or computed walk; forces need its contact forces.
        events: Foot strikes and foot offs; found by `find_events` when left out.
        source: Study of the normative curves.
        group: Its group.

    Returns:
        The numbers; NaN for those of forces where the motion has none.

    Raises:
        CaptureError: The motion has no complete cycle.
    """
    found = merge_bounces(find_events(motion) if events is None else events)
    angles = {name: _mean_cycle(motion, name, found) for name in COMPARED_ANGLES}
    curves = {name: normative_curve(name, group=group, source=source) for name in angles}
    force = _mean_force(motion, found)
    stance, double = _supports(found)
    return NormComparison(
        _cycle_count(motion, found),
        stance,
        double,
        float(np.nan if force is None else force.max()),
        0 if force is None else _peak_count(force),
        float(angles["knee flexion"].max()),
        {name: _correlation(angle, curves[name]) for name, angle in angles.items()},
        f"{source}, {group}",
    )


def merge_bounces(events: Sequence[Event]) -> tuple[Event, ...]:
    """Events without foot offs that are followed by a strike of the same foot within 0.2 s.

    Args:
        events: Foot strikes and foot offs.

    Returns:
        The events that begin and end stances, in order of time.
    """
    kept: list[Event] = []
    for side in (Side.RIGHT, Side.LEFT):
        for event in sorted((e for e in events if e.side is side), key=lambda e: e.time):
            before = next((e for e in reversed(kept) if e.side is side), None)
            bounced = (
                before is not None
                and before.label == FOOT_OFF
                and event.label == FOOT_STRIKE
                and event.time - before.time < MIN_SWING_S
            )
            if bounced and before is not None:
                kept.remove(before)
            else:
                kept.append(event)
    return tuple(sorted(kept, key=lambda event: event.time))


def _cycle_count(motion: Motion, events: Sequence[Event]) -> int:
    return sum(
        int(cycles(motion, f"{side.value} knee flexion", events, side.value).complete.sum())
        for side in (Side.RIGHT, Side.LEFT)
    )


def _mean_cycle(motion: Motion, name: str, events: Sequence[Event]) -> np.ndarray:
    """Mean over the complete cycles of both sides, (points,), deg."""
    both = [
        _complete(cycles(motion, f"{side.value} {name}", events, side.value))
        for side in (Side.RIGHT, Side.LEFT)
    ]
    rows = np.concatenate(both)
    if not len(rows):
        raise CaptureError("the motion has no complete gait cycle to compare with norms")
    return np.asarray(rows.mean(axis=0))


def _complete(found: GaitCycles) -> np.ndarray:
    return np.asarray(found.values[found.complete])


def _mean_force(motion: Motion, events: Sequence[Event]) -> np.ndarray | None:
    """Mean vertical force of a foot over the cycle (body weights)."""
    if not motion.contact_forces:
        return None
    weight = motion.model.mass * float(np.linalg.norm(motion.model.gravity))
    rows = []
    for side in (Side.RIGHT, Side.LEFT):
        own = [force for force in motion.contact_forces if force.side is side]
        if own:
            total = np.sum([force.force[:, 2] for force in own], axis=0) / weight
            rows.append(_complete(cycles(motion.time, total, events, side.value)))
    found = np.concatenate(rows) if rows else np.empty((0, 1))
    return np.asarray(found.mean(axis=0)) if len(found) else None


def _supports(events: Sequence[Event]) -> tuple[float, float]:
    """Mean shares of stance and of double support."""
    intervals: dict[Side, list[tuple[float, float]]] = {Side.RIGHT: [], Side.LEFT: []}
    strides = []
    for side, found in intervals.items():
        own = sorted((e for e in events if e.side is side), key=lambda e: e.time)
        strikes = [e.time for e in own if e.label == FOOT_STRIKE]
        offs = [e.time for e in own if e.label == FOOT_OFF]
        strides += list(np.diff(strikes))
        for strike in strikes:
            later = [off for off in offs if off > strike]
            if later:
                found.append((strike, later[0]))
    if not strides:
        return float("nan"), float("nan")
    stride = float(np.mean(strides))
    lengths = [b - a for found in intervals.values() for a, b in found]
    overlaps = [
        min(b, d) - max(a, c)
        for a, b in intervals[Side.RIGHT]
        for c, d in intervals[Side.LEFT]
        if min(b, d) > max(a, c)
    ]
    stance = float(np.mean(lengths)) / stride if lengths else float("nan")
    double = 2 * float(np.mean(overlaps)) / stride if overlaps else 0.0
    return stance, double


def _peak_count(force: np.ndarray) -> int:
    """Peaks of a smoothed force that stand out by `DOUBLE_PEAK_DIP`."""
    from scipy.signal import find_peaks

    kernel = np.ones(SMOOTHING_POINTS) / SMOOTHING_POINTS
    smooth = np.convolve(np.concatenate([[0.0], force, [0.0]]), kernel, mode="same")
    peaks, _ = find_peaks(smooth, prominence=DOUBLE_PEAK_DIP)
    return len(peaks)


def _correlation(angle: np.ndarray, norm: NormativeCurve) -> float:
    percent = np.linspace(0.0, 100.0, len(angle))
    return float(np.corrcoef(angle, norm.at(percent))[0, 1])
