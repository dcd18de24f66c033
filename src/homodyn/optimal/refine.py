"""More intervals where the movement between nodes is not what the nodes say.

The error of an interval is how far it arrives from the next node when it is run again by forward
dynamics (`between`), and by how much conditions are missed on the way (`lapses`). Both fall with
powers of the length of the interval that a transcription has, so the length that is short enough
can be foretold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from homodyn.optimal.between import Arrival
from homodyn.optimal.lapses import Lapse

if TYPE_CHECKING:
    from homodyn.optimal.problem import Problem
    from homodyn.optimal.solution import Solution

ORDERS = {"shooting": 3, "collocation": 9, "forward": 5}
"""Power of the length of an interval that its error grows with, by transcription."""
SLACKENING = {"shooting": 1, "collocation": 4, "forward": 2}
"""The same for what conditions are missed by, of which controls are part."""
SAFETY, GROWTH = 0.5, 3.0
"""Part of what is allowed between nodes that a finer mesh aims at; most growth in one go."""


class Missed(Protocol):
    """Anything that knows what its intervals miss."""

    @property
    def arrivals(self) -> Sequence[Arrival]:
        """How far from the next node intervals arrive: one for each phase."""

    @property
    def lapses(self) -> Sequence[Lapse]:
        """Conditions that are missed on the way."""


def finer(
    intervals: Sequence[int], found: Missed, between: float, transcription: str = "shooting"
) -> tuple[int, ...]:
    """As many intervals as bring each phase below what is allowed between nodes (rad, m)."""
    arrival, lapse = ORDERS[transcription], SLACKENING[transcription]
    counts = []
    for n, arrived in zip(intervals, found.arrivals, strict=True):
        missed = [each.share for each in found.lapses if each.phase == arrived.phase]
        growth = max(
            _growth(arrived.worst / between, arrival), _growth(max(missed, default=0.0), lapse)
        )
        counts.append(n if growth == 1.0 else max(n + 1, int(np.ceil(n * growth))))
    return tuple(counts)


def _growth(share: float, order: int) -> float:
    """How many times more intervals bring an error down from a share of what is allowed."""
    return 1.0 if share <= 1.0 else float(min((share / SAFETY) ** (1 / order), GROWTH))


def refined(problem: Problem, found: Solution, between: float) -> Problem:
    """The problem on a mesh that should do, with an answer on a coarser one for its guess."""
    name = found.built.transcription.name
    counts = finer([phase.intervals for phase in problem.phases], found, between, name)
    phases = [replace(phase, intervals=n) for phase, n in zip(problem.phases, counts, strict=True)]
    return found.guess_for(replace(problem, phases=phases))
