"""More intervals where the movement between nodes is not what the nodes say.

The error of an interval is how far it arrives from the next node when it is run again by forward
dynamics (`between`). It falls with a power of the length of the interval that a transcription has,
so the length that is short enough can be foretold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from homodyn.optimal.between import Arrival

if TYPE_CHECKING:
    from homodyn.optimal.problem import Problem
    from homodyn.optimal.solution import Solution

ORDERS = {"shooting": 3, "collocation": 9, "forward": 5}
"""Power of the length of an interval that its error grows with, by transcription."""
SAFETY, GROWTH = 0.5, 3.0
"""Part of what is allowed between nodes that a finer mesh aims at; most growth in one go."""


class Missed(Protocol):
    """Anything that knows how far its intervals arrive from the next node."""

    @property
    def arrivals(self) -> Sequence[Arrival]:
        """One for each phase."""


def finer(
    intervals: Sequence[int], found: Missed, between: float, order: int = ORDERS["shooting"]
) -> tuple[int, ...]:
    """As many intervals as bring each phase below what is allowed between nodes (rad, m)."""
    return tuple(
        _enough(n, arrival.worst, between, order)
        for n, arrival in zip(intervals, found.arrivals, strict=True)
    )


def _enough(count: int, worst: float, between: float, order: int) -> int:
    if worst <= between:
        return count
    growth = min((worst / (SAFETY * between)) ** (1 / order), GROWTH)
    return max(count + 1, int(np.ceil(count * growth)))


def refined(problem: Problem, found: Solution, between: float) -> Problem:
    """The problem on a mesh that should do, with an answer on a coarser one for its guess."""
    order = ORDERS[found.built.transcription.name]
    counts = finer([phase.intervals for phase in problem.phases], found, between, order)
    phases = [replace(phase, intervals=n) for phase, n in zip(problem.phases, counts, strict=True)]
    return found.guess_for(replace(problem, phases=phases))
