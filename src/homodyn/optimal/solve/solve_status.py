"""How a solve ended."""

from __future__ import annotations

from enum import StrEnum


class SolveStatus(StrEnum):
    """How a solve ended."""

    SOLVED = "solved"
    ACCEPTABLE = "acceptable"
    """Feasible, and optimal to a lower tolerance."""
    INFEASIBLE = "infeasible"
    """The solver found no point that satisfies all constraints."""
    OUT_OF_ITERATIONS = "out of iterations"
    OUT_OF_TIME = "out of time"
    COARSE = "too coarse"
    """Feasible at the nodes, but the resimulation between them deviates too much."""
    NOT_A_NUMBER = "not a number"
    """A term or a row was NaN or infinite."""
    FAILED = "failed"

    @property
    def success(self) -> bool:
        """Whether the numbers are a solution."""
        return self in (SolveStatus.SOLVED, SolveStatus.ACCEPTABLE)
