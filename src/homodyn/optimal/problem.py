"""An optimal-control problem: state it, transcribe and inspect it, then solve it."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Unpack

from homodyn.foundation.record import record
from homodyn.foundation.text import count_of, enumerate_names
from homodyn.optimal.nlp.transcribed_problem import TranscribedProblem, transcribe
from homodyn.optimal.solve.options import SolveOptions
from homodyn.optimal.solve.solve_status import SolveStatus
from homodyn.optimal.solve.solver import solve_nlp
from homodyn.optimal.statement.problem_statement import ProblemStatement
from homodyn.optimal.transcription.interface import Transcription
from homodyn.optimal.transcription.registry import find_transcription
from homodyn.optimal.verify.mesh_refinement import refine_mesh
from homodyn.optimal.verify.solution import DEFECT_TOLERANCE, Solution, verify


@record
class Problem(ProblemStatement):
    """Phases in sequence, parameters, and constraints between both ends of the movement.

    Attributes:
        model: The model.
        phases: The phases in the order of time.
        parameters: Unknown numbers by name.
        boundary_constraints: Constraints between the first and the last time point.
        actuated: Names of the coordinates with a torque; when left out, all but those of a floating
            base, or none where muscles act. Beside muscles such torques are reserves.
        springs: Springs with dampers across joints.
        muscles: How the muscles of the model act; None: they do not.
    """

    def transcribe(
        self, transcription: str | Transcription = "midpoint", *, guess: Solution | None = None
    ) -> TranscribedProblem:
        """The finite-dimensional form of the problem, to inspect or to solve.

        Args:
            transcription: ``"midpoint"``, ``"collocation"``, ``"multiple_shooting"``,
                ``"felis2015"``, or a `Transcription` of your own.
            guess: A solution of this problem, or of one with the same phases, on any mesh.

        Returns:
            Decision variables, bounds, guess, scales and functions.

        Raises:
            HomodynError: The transcription is unknown, or bounds or guesses do not fit the model.
        """
        scheme = find_transcription(transcription)
        return transcribe(self if guess is None else guess.warm_start(self), scheme)

    def describe(self, transcription: str | Transcription = "midpoint") -> str:
        """Sizes, sparsity, scales and terms, without solving.

        Args:
            transcription: See `transcribe`.

        Returns:
            Several lines of text.
        """
        return self.transcribe(transcription).describe()

    def solve(
        self,
        transcription: str | Transcription = "midpoint",
        *,
        guess: Solution | None = None,
        defect_tolerance: float | None = DEFECT_TOLERANCE,
        refinements: int = 0,
        **options: Unpack[SolveOptions],
    ) -> Solution:
        """Transcribe, solve and verify the problem.

        A solution counts as solved only if each interval, resimulated by forward dynamics, ends
        within ``defect_tolerance`` of the next node and violates no path constraint on the way by
        more than its tolerance.

        Args:
            transcription: See `transcribe`.
            guess: A solution of this problem, or of one with the same phases, on any mesh.
            defect_tolerance: Largest integration defect of a coordinate (rad, m); None skips the
                verification.
            refinements: How often the mesh may be refined where the verification fails. Each solve
                starts from the solution before; a time limit holds for all of them.
            options: ``tolerance``, ``max_iterations``, ``time_limit`` (s), ``initial_barrier``,
                ``barrier_update``, ``hessian``, ``solver``, ``verbose``: see `SolveOptions`.

        Returns:
            The solution; ``status`` says how the solve ended.

        Raises:
            HomodynError: An option is unknown, or bounds or guesses do not fit the model.
        """
        scheme = find_transcription(transcription)
        time_limit = options.get("time_limit")
        deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
        problem = self if guess is None else guess.warm_start(self)
        for attempt in range(refinements + 1):
            if time_limit is not None:
                options["time_limit"] = max(deadline - time.perf_counter(), 0.0)
            solution = solve_transcribed(
                transcribe(problem, scheme), defect_tolerance=defect_tolerance, **options
            )
            timed_out = time.perf_counter() >= deadline
            if solution.status is not SolveStatus.COARSE or defect_tolerance is None or timed_out:
                break
            if attempt < refinements:
                problem = refine_mesh(problem, solution, defect_tolerance)
        if refinements == 0:
            return solution
        return replace(solution, refinement=_refinement_sentence(solution, attempt))


def _refinement_sentence(solution: Solution, times: int) -> str:
    """What a requested mesh refinement did."""
    if times:
        counts = enumerate_names([f"{p.name} {p.intervals}" for p in solution.transcribed.phases])
        return f"mesh refined {count_of(times, 'time')}, intervals: {counts}"
    if solution.status.success:
        return "mesh not refined: the first solution is within the tolerances"
    return "mesh not refined: only a solution that is too coarse is refined"


def solve_transcribed(
    transcribed: TranscribedProblem,
    *,
    defect_tolerance: float | None = DEFECT_TOLERANCE,
    **options: Unpack[SolveOptions],
) -> Solution:
    """Solve a transcribed problem from its guess, and verify the result.

    Args:
        transcribed: What `Problem.transcribe` returned.
        defect_tolerance: Largest integration defect of a coordinate (rad, m); None skips the
            verification.
        options: See `SolveOptions`.

    Returns:
        The solution; ``status`` says how the solve ended.

    Raises:
        HomodynError: An option is unknown, or FATROP is chosen for a problem without stages.
    """
    return verify(solve_nlp(transcribed, **options), defect_tolerance)
