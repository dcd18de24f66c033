"""Mesh refinement: more intervals where the movement between nodes deviates from the nodes.

The error of an interval is its integration defect (`resimulation`), and the violation of path
constraints along the way (`path_violations`). Both fall with a power of the interval length that
depends on the transcription, so a sufficient length can be extrapolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np

from homodyn.optimal.statement.problem_statement import ProblemStatement
from homodyn.optimal.transcription.interface import Transcription
from homodyn.optimal.verify.path_violations import PathViolation
from homodyn.optimal.verify.resimulation import IntegrationDefect
from homodyn.optimal.verify.solution import Solution

TARGET_SHARE, MAX_GROWTH = 0.5, 3.0
"""Share of the tolerance that a finer mesh aims at; largest growth of a mesh at once."""

P = TypeVar("P", bound=ProblemStatement)


class MeshErrors(Protocol):
    """Errors of a mesh between its nodes."""

    @property
    def integration_defects(self) -> Sequence[IntegrationDefect]:
        """Integration defects, one per phase."""

    @property
    def path_violations(self) -> Sequence[PathViolation]:
        """Violations of path constraints between the nodes."""


def refine_intervals(
    intervals: Sequence[int],
    errors: MeshErrors,
    defect_tolerance: float,
    transcription: Transcription,
) -> tuple[int, ...]:
    """Numbers of intervals that bring the errors of each phase below their tolerances.

    Args:
        intervals: Number of intervals of each phase.
        errors: Defects and violations on this mesh.
        defect_tolerance: Largest integration defect of a coordinate (rad, m).
        transcription: The transcription, whose orders are used to extrapolate.

    Returns:
        Number of intervals of each phase.
    """
    counts = []
    for n, defect in zip(intervals, errors.integration_defects, strict=True):
        ratios = [v.tolerance_ratio for v in errors.path_violations if v.phase == defect.phase]
        growth = max(
            _growth(defect.max_error / defect_tolerance, transcription.defect_order),
            _growth(max(ratios, default=0.0), transcription.violation_order),
        )
        counts.append(n if growth == 1.0 else max(n + 1, int(np.ceil(n * growth))))
    return tuple(counts)


def _growth(ratio: float, order: int) -> float:
    """Factor of the number of intervals that reduces an error of this ratio to its tolerance."""
    return 1.0 if ratio <= 1.0 else float(min((ratio / TARGET_SHARE) ** (1 / order), MAX_GROWTH))


def refine_mesh(problem: P, solution: Solution, defect_tolerance: float) -> P:
    """The problem on a finer mesh, with a solution on a coarser one as its guess."""
    transcription = solution.transcribed.transcription
    intervals = [phase.intervals for phase in problem.phases]
    counts = refine_intervals(intervals, solution, defect_tolerance, transcription)
    phases = [replace(phase, intervals=n) for phase, n in zip(problem.phases, counts, strict=True)]
    return solution.warm_start(replace(problem, phases=phases))
