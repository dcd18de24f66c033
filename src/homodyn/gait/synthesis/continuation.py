"""Continuation from a known step to another objective and speed, in as many stages as needed.

A stage changes objective and speed at once. Where that fails, the change is halved: a step half-way
in the weights and in the speed is computed first, and the search continues from there. Iterations
bound each stage and halvings their number, so that results do not depend on how busy the machine
is; a time limit applies only where one is given.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from homodyn.foundation.record import Record, record
from homodyn.gait.synthesis.problem import (
    TRANSCRIPTION,
    WalkingObjective,
    synthesis_problem,
)
from homodyn.gait.synthesis.step_library import StoredStep
from homodyn.gait.synthesis.synthesis_result import SynthesisStage, stored_step
from homodyn.model import Model
from homodyn.optimal import (
    TRANSCRIPTIONS,
    ObjectiveTerm,
    Problem,
    Solution,
    SolveStatus,
    track_coordinates,
)
from homodyn.optimal.solve.warm_start import ResampledSeries
from homodyn.optimal.verify.mesh_refinement import refine_intervals

MAX_HALVINGS = 3
"""How often the change from one step to the next is halved at most."""
SOLVER_TOLERANCE = 1e-5
"""Of the optimality of a step; its constraints are satisfied to 1e-4 of their units or better."""
MAX_REFINEMENTS = 2
"""How often the mesh is refined at most."""
WARM_START_BARRIER = 1e-3
"""Initial barrier parameter where the guess is an optimal step already."""
MIN_SPEED_CHANGE_M_S = 1e-6
"""Smaller changes of speed are not halved."""

Progress = Callable[[SynthesisStage], None]


def _no_progress(stage: SynthesisStage) -> None:
    """Ignore a stage."""


@record
class SynthesisOptions(Record):
    """Options of a synthesis."""

    intervals: Sequence[int] | None = None
    """Number of intervals of the four phases; when left out those of the initial step, or as many
    more as its integration defects require."""
    max_iterations: int = 200
    """Largest number of iterations of each stage."""
    time_limit: float | None = None
    """Time limit of the whole synthesis (s); none when left out."""
    defect_tolerance: float | None = 0.02
    """Largest integration defect of a coordinate (rad, m); None skips the verification."""
    refinements: int = MAX_REFINEMENTS
    """How often the mesh may be refined."""
    progress: Progress = _no_progress
    """Called with each stage before and after it."""

    _transient: ClassVar[tuple[str, ...]] = ("progress",)


def is_usable(solution: Solution) -> bool:
    """Whether a solution can be the guess of the next stage."""
    return solution.status.success or solution.status is SolveStatus.COARSE


@dataclass(eq=False)
class Continuation:
    """Solves problems of a step one from another, and records the stages."""

    model: Model
    intervals: tuple[int, ...]
    """Number of intervals of each phase; grows with mesh refinement."""
    friction: float | None
    options: SynthesisOptions
    stages: list[SynthesisStage] = field(default_factory=list)

    def __post_init__(self) -> None:
        limit = self.options.time_limit
        self._deadline = math.inf if limit is None else clock.perf_counter() + limit

    @property
    def timed_out(self) -> bool:
        """Whether the time limit has passed."""
        return clock.perf_counter() >= self._deadline

    def continue_to(
        self,
        begin: StoredStep,
        target: WalkingObjective,
        speed: float | None,
        halvings: int = MAX_HALVINGS,
    ) -> Solution:
        """The step for an objective and a speed, by way of a step half-way where necessary."""
        solution = self.solve_stage(_stage_name(target, speed), begin, target, speed)
        if is_usable(solution) or not halvings or self.timed_out:
            return solution
        middle = _midway_objective(begin.objective or target, target)
        pace = None if speed is None else (begin.speed + speed) / 2
        if middle == target and (pace is None or abs(pace - begin.speed) < MIN_SPEED_CHANGE_M_S):
            return solution
        half = self.continue_to(begin, middle, pace, halvings - 1)
        if not is_usable(half):
            return solution
        return self.continue_to(stored_step("middle", half, middle), target, speed, halvings - 1)

    def refine(self, solution: Solution, target: WalkingObjective, speed: float | None) -> Solution:
        """The same step with more intervals in the phases with large errors between nodes."""
        tolerance = self.options.defect_tolerance
        transcription = TRANSCRIPTIONS[TRANSCRIPTION]
        for _ in range(self.options.refinements):
            done = solution.status is not SolveStatus.COARSE
            if done or tolerance is None or self.timed_out:
                break
            self.intervals = refine_intervals(self.intervals, solution, tolerance, transcription)
            begin = stored_step("coarse", solution, target)
            name = f"{_stage_name(target, speed)}, {sum(self.intervals)} intervals"
            finer = self.solve_stage(name, begin, target, speed)
            if not is_usable(finer):
                break
            solution = finer
        return solution

    def solve_stage(
        self,
        name: str,
        begin: StoredStep,
        target: WalkingObjective,
        speed: float | None,
        tracking: float = 0.0,
    ) -> Solution:
        """Solve one problem from a step, and report it."""
        stage = SynthesisStage(name, target, speed, self.intervals, tracking)
        self.options.progress(stage)
        problem = synthesis_problem(
            self.model,
            objective=target,
            speed=speed,
            intervals=self.intervals,
            friction=self.friction,
        )
        if tracking:
            problem = _with_tracking(problem, begin, tracking)
        remaining = max(self._deadline - clock.perf_counter(), 1.0)
        solution = begin.warm_start(problem).solve(
            TRANSCRIPTION,
            time_limit=remaining if math.isfinite(remaining) else None,
            max_iterations=self.options.max_iterations,
            tolerance=SOLVER_TOLERANCE,
            defect_tolerance=self.options.defect_tolerance,
            initial_barrier=None if begin.objective is None else WARM_START_BARRIER,
            barrier_update="monotone" if begin.objective is None else "adaptive",
        )
        timings = solution.timings
        stage = replace(
            stage,
            status=solution.status,
            iterations=solution.iterations,
            seconds=timings["preparing"] + timings["solving"],
            sentence=solution.sentence,
        )
        self.stages.append(stage)
        self.options.progress(stage)
        return solution


def _with_tracking(problem: Problem, begin: StoredStep, weight: float) -> Problem:
    """The problem with the distance from a step as a further term of each phase."""
    phases = [
        replace(phase, terms=[*phase.terms, term])
        for phase, term in zip(problem.phases, _tracking_terms(begin, weight), strict=True)
    ]
    return replace(problem, phases=phases)


def _tracking_terms(begin: StoredStep, weight: float) -> list[ObjectiveTerm]:
    return [
        weight * track_coordinates(ResampledSeries(p.time, p.q, p.time[0], p.duration))
        for p in begin.phases
    ]


def _midway_objective(one: WalkingObjective, two: WalkingObjective) -> WalkingObjective:
    """The objective half-way between two others."""
    if one == two:
        return two
    weights = {
        name.replace("-", "_"): (one.weights[name] + two.weights[name]) / 2 for name in one.weights
    }
    return WalkingObjective(f"half-way to {two.name}", **weights)


def _stage_name(target: WalkingObjective, speed: float | None) -> str:
    return target.name if speed is None else f"{target.name} at {speed:g} m/s"
