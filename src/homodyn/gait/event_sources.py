"""Differences between event sources: systematic errors of kinematic events against forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.motion import Event

EVENT_MATCH_WINDOW_S = 0.12
"""Events of two sources within this time (s) are the same event."""
MIN_COMPARED_STEPS = 2
"""Steps seen by both sources from which a systematic difference is known."""
MAX_DIFFERENCE_SPREAD_S = 0.01
"""Largest deviation (s) from the median at which a difference counts as systematic."""


@record
class SourceDifference(Record):
    """How much later forces show a kind of event than kinematics, in the steps that both show."""

    differences: np.ndarray
    """(steps,), s: time by forces minus time by kinematics."""

    @property
    def offset(self) -> float:
        """s: median difference; 0 without a step that both sources show."""
        return float(np.median(self.differences)) if len(self.differences) else 0.0

    @property
    def systematic(self) -> bool:
        """Whether all of two or more differences are within 10 ms of their median."""
        deviations = np.abs(self.differences - self.offset)
        return len(deviations) >= MIN_COMPARED_STEPS and bool(
            deviations.max() <= MAX_DIFFERENCE_SPREAD_S
        )

    def headline(self) -> str:
        """Offset, range and number of steps."""
        if not len(self.differences):
            return "no step shows both"
        ms = 1000 * self.differences
        spread = f" ({ms.min():+.0f} to {ms.max():+.0f} ms)" if len(ms) > 1 else ""
        return f"{1000 * self.offset:+.0f} ms{spread} in {count_of(len(ms), 'step')}"

    def shift(self, events: Sequence[Event]) -> list[Event]:
        """Shift kinematic events by a systematic difference.

        Args:
            events: Kinematic events of one kind.

        Returns:
            The events, with the shift in their descriptions; unchanged without a systematic
            difference.
        """
        if not self.systematic:
            return list(events)
        by = f"shifted by {1000 * self.offset:+.0f} ms"
        return [
            replace(e, time=e.time + self.offset, description=f"{e.description}, {by}")
            for e in events
        ]


def compare_sources(
    forces: Sequence[Sequence[Event]], kinematics: Sequence[Sequence[Event]]
) -> SourceDifference:
    """Compare events of one kind by forces with those by kinematics.

    Args:
        forces: Events by forces of each side.
        kinematics: Events by kinematics of each side, in the same order of sides.

    Returns:
        The differences of the events that both sources show within 0.12 s.
    """
    differences = []
    for by_force, by_kinematics in zip(forces, kinematics, strict=True):
        for event in by_force:
            gaps = [event.time - other.time for other in by_kinematics]
            nearest = min(gaps, key=abs, default=np.inf)
            if abs(nearest) <= EVENT_MATCH_WINDOW_S:
                differences.append(nearest)
    return SourceDifference(np.array(differences, dtype=float))


def mixed_source_note(label: str, events: Sequence[Event], difference: SourceDifference) -> str:
    """A sentence on events of one kind from sources with different timing.

    Args:
        label: Label of the events: ``"Foot Strike"``.
        events: Events of this kind of both sides.
        difference: Difference of the sources.

    Returns:
        The sentence; empty when kinematic events are not mixed with others.
    """
    counts: dict[str, int] = {}
    for event in events:
        source = event.description.partition(":")[0]
        counts[source] = counts.get(source, 0) + 1
    if len(counts) < 2 or "kinematics" not in counts:
        return ""
    listed = " and ".join(f"{count} from {_NAMES.get(s, s)}" for s, count in counts.items())
    start = f"{label}: {listed}"
    if "forces" not in counts:
        return f"{start}; their timing may differ by some 40 ms, as no forces relate them."
    difference_text = f"forces minus kinematics is {difference.headline()} that show both"
    if not len(difference.differences):
        difference_text = "no step shows both"
    if difference.systematic:
        return f"{start}; {difference_text}, and the kinematic events are shifted by it."
    return (
        f"{start}; {difference_text}, and the kinematic events are not corrected: durations from "
        "one source to the other may be wrong by some 40 ms. Give the events of the recording "
        "(recorded=trial.events) where there are any."
    )


_NAMES = {"recorded": "the recording"}
