"""Continuation from a known step to another one, in as many stages as needed.

A stage changes objective, speed, body and friction at once. Where that fails, the change is halved:
a step half-way in all of them is computed first, and the search continues from there. Iterations
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
    hip_height,
    synthesis_problem,
    walking_model,
)
from homodyn.gait.synthesis.step_library import STORED_HIP_HEIGHT_M, StoredStep
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

STAGE_TIME_SHARE = 0.5
"""Share of the remaining time that a stage may take where a step half-way can follow."""
REFERENCE_HEIGHT_M = 1.79
"""Stature of `walking_model`, the body of the stored steps."""

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


@dataclass(frozen=True, eq=False)
class StepGoal:
    """What a stage computes: a step of a body, for an objective, at a speed, on a ground."""

    model: Model
    objective: WalkingObjective
    speed: float | None
    friction: float | None
    halfway: bool = False
    """Whether it is only on the way to another goal."""

    @property
    def name(self) -> str:
        """Objective and speed in words."""
        pace = "" if self.speed is None else f" at {self.speed:g} m/s"
        name = f"{self.objective.name}{pace}"
        if not self.halfway:
            return name
        ground = "" if self.friction is None else f", friction {self.friction:.3g}"
        return f"half-way to {name}, {self.model.mass:.3g} kg{ground}"

    def problem(self, intervals: Sequence[int]) -> Problem:
        """The problem of the step."""
        return synthesis_problem(
            self.model,
            objective=self.objective,
            speed=self.speed,
            intervals=intervals,
            friction=self.friction,
        )

    def step(self, name: str, solution: Solution) -> StoredStep:
        """The step of a solution of this goal."""
        return stored_step(name, solution, self.objective, self.friction)

    def midway_from(self, begin: StoredStep) -> StepGoal | None:
        """The goal half-way from a step in all that changes; None where nothing changes."""
        model = _midway_model(begin, self.model)
        objective = _midway_objective(begin.objective or self.objective, self.objective)
        friction = _midway_friction(begin.friction, self.friction)
        scaled = begin.scale_to(model)
        speed = None if self.speed is None else (scaled.speed + self.speed) / 2
        same_speed = speed is None or abs(speed - scaled.speed) < MIN_SPEED_CHANGE_M_S
        same_ground = friction == self.friction
        if model is self.model and objective == self.objective and same_speed and same_ground:
            return None
        return StepGoal(model, objective, speed, friction, halfway=True)


@dataclass(eq=False)
class Continuation:
    """Solves problems of a step one from another, and records the stages."""

    intervals: tuple[int, ...]
    """Number of intervals of each phase; grows with mesh refinement."""
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
        self, begin: StoredStep, goal: StepGoal, halvings: int = MAX_HALVINGS
    ) -> Solution:
        """The step of a goal, by way of a step half-way where necessary."""
        middle = goal.midway_from(begin) if halvings else None
        share = 1.0 if middle is None else STAGE_TIME_SHARE
        solution = self.solve_stage(goal.name, begin, goal, time_share=share)
        if is_usable(solution) or middle is None or self.timed_out:
            return solution
        half = self.continue_to(begin, middle, halvings - 1)
        if not is_usable(half):
            return solution
        return self.continue_to(middle.step("middle", half), goal, halvings - 1)

    def refine(self, solution: Solution, goal: StepGoal) -> Solution:
        """The same step with more intervals in the phases with large errors between nodes."""
        tolerance = self.options.defect_tolerance
        transcription = TRANSCRIPTIONS[TRANSCRIPTION]
        for _ in range(self.options.refinements):
            done = solution.status is not SolveStatus.COARSE
            if done or tolerance is None or self.timed_out:
                break
            self.intervals = refine_intervals(self.intervals, solution, tolerance, transcription)
            name = f"{goal.name}, {sum(self.intervals)} intervals"
            finer = self.solve_stage(name, goal.step("coarse", solution), goal)
            if not is_usable(finer):
                break
            solution = finer
        return solution

    def solve_stage(
        self,
        name: str,
        begin: StoredStep,
        goal: StepGoal,
        tracking: float = 0.0,
        time_share: float = 1.0,
    ) -> Solution:
        """Solve one problem from a step, and report it."""
        stage = SynthesisStage(name, goal.objective, goal.speed, self.intervals, tracking)
        self.options.progress(stage)
        problem = goal.problem(self.intervals)
        if tracking:
            problem = _with_tracking(problem, begin.scale_to(goal.model), tracking)
        remaining = max(time_share * (self._deadline - clock.perf_counter()), 1.0)
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


def _midway_model(begin: StoredStep, model: Model) -> Model:
    """A body half-way in size and mass; the given one where they are those of the step."""
    if begin.scale_to(model) is begin:
        return model
    size = math.sqrt(begin.hip_height * hip_height(model))
    mass = math.sqrt(begin.mass * float(model.mass))
    return walking_model(REFERENCE_HEIGHT_M * size / STORED_HIP_HEIGHT_M, mass)


def _midway_friction(one: float | None, two: float | None) -> float | None:
    """The coefficient half-way between two in its inverse, which is zero without a bound."""
    if one == two or 0.0 in (one, two):
        return two
    return 2 / sum(1 / friction for friction in (one, two) if friction is not None)
