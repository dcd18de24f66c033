"""Times of nodes in a solution, for the labels of its costs and constraint rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from homodyn.optimal.solve.phase_solution import PhaseSolution
from homodyn.optimal.transcription.phase_transcriber import GUESSED_TIME

_NODE = re.compile(
    r"phase (?P<phase>'.*?'|\".*?\"), node (?P<node>\S+) of (?P<intervals>\d+)"
    rf"(?P<time> \(\S+ {GUESSED_TIME}\))"
)


def solved_location(label: str, phases: Sequence[PhaseSolution]) -> str:
    """A label of a time point with the solved time in place of the guessed one.

    The labels of a problem have times by the guessed durations of its phases, from the start of the
    phase. Durations may be free, so these are not the times of the solution.

    Args:
        label: Label of a point, such as ``"phase 'fly', node 3 of 12 (0.05 s of the guess)"``.
        phases: The solved phases.

    Returns:
        The label with the time (s) from the start of the movement; unchanged where it has no node.
    """
    found = _NODE.search(label)
    phase = next((p for p in phases if found and repr(p.name) == found["phase"]), None)
    if found is None or phase is None:
        return label
    begin, end = float(phase.time[0]), float(phase.time[-1])
    time = begin + (end - begin) * float(found["node"]) / int(found["intervals"])
    return f"{label[: found.start('time')]} ({time:.3f} s){label[found.end('time') :]}"
