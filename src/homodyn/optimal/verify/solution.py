"""The verified solution of an optimal-control problem."""

from __future__ import annotations

import time
from dataclasses import fields
from functools import cached_property
from typing import Any, TypeVar

from homodyn.foundation.record import record
from homodyn.optimal.solve.solve_status import SolveStatus
from homodyn.optimal.solve.solver_result import SolverResult
from homodyn.optimal.solve.warm_start import with_initial_guess
from homodyn.optimal.statement.problem_statement import ProblemStatement
from homodyn.optimal.verify.diagnostics import Diagnostics, diagnose, format_diagnostics
from homodyn.optimal.verify.path_violations import PathViolation, find_path_violations
from homodyn.optimal.verify.resimulation import IntegrationDefect, resimulate

DEFECT_TOLERANCE = 0.02
"""Default of the largest integration defect of a coordinate (rad, m)."""

P = TypeVar("P", bound=ProblemStatement)


@record
class Solution(SolverResult):
    """The solution of a problem, verified by resimulation between its nodes."""

    integration_defects: tuple[IntegrationDefect, ...] = ()
    """Deviation of each resimulated interval from its last node, one record per phase."""
    path_violations: tuple[PathViolation, ...] = ()
    """Path constraints that are violated between nodes, the worst first."""
    refinement: str = ""
    """What the requested mesh refinement did; empty where none was requested."""

    @property
    def max_defect(self) -> float:
        """Largest integration defect of a coordinate (rad, m)."""
        return max((defect.max_error for defect in self.integration_defects), default=0.0)

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        text = super().sentence
        if self.status is SolveStatus.COARSE:
            text = f"{text}; {self._worst_error}"
        return f"{text}; {self.refinement}" if self.refinement else text

    @property
    def _worst_error(self) -> IntegrationDefect | PathViolation:
        """The largest error between the nodes."""
        if self.path_violations and not self.path_violations[0].tolerance_ratio <= 1.0:
            return self.path_violations[0]
        return max(self.integration_defects, key=lambda defect: defect.max_error)

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """Violations, active bounds, dominant constraints, and what to try."""
        return diagnose(self)

    def explain(self, limit: int = 8) -> str:
        """The diagnostics as text.

        Args:
            limit: Largest number of lines of each kind.

        Returns:
            Several lines of text.
        """
        return format_diagnostics(self, self.diagnostics, limit)

    def warm_start(self, problem: P) -> P:
        """A problem with this solution as its initial guess, on any mesh.

        Args:
            problem: The same problem, or one with phases of the same names.

        Returns:
            A copy of the problem.
        """
        return with_initial_guess(problem, self.phases, self.parameters)


def verify(result: SolverResult, defect_tolerance: float | None = DEFECT_TOLERANCE) -> Solution:
    """Resimulate a result; it counts as solved only if it is accurate between its nodes.

    Args:
        result: What a solver found.
        defect_tolerance: Largest integration defect of a coordinate (rad, m); None skips the
            verification.

    Returns:
        The solution, with the status ``"too coarse"`` where a defect or a violation is too large.
    """
    status = result.status
    defects: tuple[IntegrationDefect, ...] = ()
    violations: tuple[PathViolation, ...] = ()
    began = time.perf_counter()
    if status.success and defect_tolerance is not None:
        resimulations = resimulate(result.transcribed, result.phases, result.parameters)
        defects = tuple(resimulation.defect for resimulation in resimulations)
        violations = find_path_violations(result.model, resimulations, result.parameters)
        # Written so that NaN fails.
        near = all(defect.max_error <= defect_tolerance for defect in defects)
        if not near or not all(v.tolerance_ratio <= 1.0 for v in violations):
            status = SolveStatus.COARSE
    data: dict[str, Any] = {field.name: getattr(result, field.name) for field in fields(result)}
    data["status"] = status
    data["timings"] = {**result.timings, "checking": time.perf_counter() - began}
    return Solution(**data, integration_defects=defects, path_violations=violations)
