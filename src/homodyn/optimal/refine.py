"""More intervals where the movement between nodes is not what the nodes say.

The error of an interval is how far it arrives from the next node when it is run again by forward
dynamics (`between`). It falls with a power of the length of the interval that a transcription has,
so the length that is short enough can be foretold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from homodyn.optimal.problem import Problem
    from homodyn.optimal.solution import Solution

ORDERS = {"shooting": 3, "collocation": 9, "forward": 5}
"""Power of the length of an interval that its error grows with, by transcription."""
SAFETY, GROWTH = 0.7, 2.0
"""Part of what is allowed between nodes that a finer mesh aims at; most growth in one go."""


def finer(
    intervals: Sequence[int], found: Solution, between: float, order: int = ORDERS["shooting"]
) -> tuple[int, ...]:
    """As many intervals as bring each phase below what is allowed between nodes (rad, m)."""
    growth = [(arrival.worst / (SAFETY * between)) ** (1 / order) for arrival in found.arrivals]
    return tuple(
        max(n, int(np.ceil(n * min(g, GROWTH)))) for n, g in zip(intervals, growth, strict=True)
    )


def refined(problem: Problem, found: Solution, between: float) -> Problem:
    """The problem on a mesh that should do, with an answer on a coarser one for its guess."""
    order = ORDERS[found.built.transcription.name]
    counts = finer([phase.intervals for phase in problem.phases], found, between, order)
    phases = [
        # At least one more where it was not enough, else the next answer would be this one.
        replace(phase, intervals=max(n, phase.intervals + (arrival.worst > between)))
        for phase, n, arrival in zip(problem.phases, counts, found.arrivals, strict=True)
    ]
    return found.guess_for(replace(problem, phases=phases))
