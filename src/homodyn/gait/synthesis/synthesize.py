"""Synthesis of an optimal step, starting from a stored one, in as many stages as needed.

A stage changes objective and speed at once. Where that fails, the change is halved: a step half-way
in the weights and in the speed is computed first, and the synthesis continues from there.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from homodyn.catalog.heiman_tables import walking_bounds
from homodyn.errors import HomodynError, NoSolution
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of, unknown_name
from homodyn.gait.synthesis.criteria import stride_events, stride_motion
from homodyn.gait.synthesis.problem import (
    INTERVALS,
    MAX_PHASE_DURATION_S,
    MIN_PHASE_DURATION_S,
    STEP_LENGTH_BOUNDS_M,
    STEP_PHASES,
    TRANSCRIPTION,
    WALKING_OBJECTIVES,
    WalkingObjective,
    synthesis_problem,
    walking_model,
    walking_objective,
)
from homodyn.gait.synthesis.stored_steps import StoredStep, nearest_stored_step, stored_steps
from homodyn.model import Model
from homodyn.motion import Motion, MotionSource
from homodyn.optimal import (
    TRANSCRIPTIONS,
    IntegrationDefect,
    ObjectiveTerm,
    PathViolation,
    Solution,
    SolveStatus,
    track_coordinates,
)
from homodyn.optimal.solve.warm_start import ResampledSeries
from homodyn.optimal.verify.mesh_refinement import refine_intervals
from homodyn.optimal.verify.path_violations import find_path_violations
from homodyn.optimal.verify.resimulation import resimulate

TRACKING_WEIGHT = 3.0
"""Weight (1/s) of squared distances (rad, m) from a walk that leads to a first periodic step."""
MAX_HALVINGS = 3
"""How often the change from one step to the next is halved at most."""
SOLVER_TOLERANCE = 1e-5
"""Of the optimality of a step; its constraints are satisfied to 1e-4 of their units or better."""
MAX_REFINEMENTS = 2
"""How often the mesh is refined at most."""
MOTION_STEPS = 4
"""Steps of the motion: two whole strides of each foot between its strikes."""
WARM_START_BARRIER = 1e-3
"""Initial barrier parameter where the guess is an optimal step already."""


@record
class SynthesisStage(Record):
    """One problem of a synthesis, and how its solve ended."""

    name: str
    """Objective, speed and mesh in words."""
    objective: WalkingObjective
    """Weights of the criteria."""
    speed: float | None
    """m/s; None where it is free."""
    intervals: tuple[int, ...]
    """Number of intervals of each phase."""
    tracking: float = 0.0
    """Weight of the distance from the initial step (1/s)."""
    status: SolveStatus | None = None
    """How the solve ended; None before it."""
    iterations: int = 0
    """Iterations of the solver."""
    seconds: float = 0.0
    """Time of the solve (s)."""
    sentence: str = ""
    """The result in one sentence."""

    def __str__(self) -> str:
        how = "not solved yet" if self.status is None else str(self.status)
        iterations = count_of(self.iterations, "iteration")
        return f"{self.name}: {how}, {iterations}, {self.seconds:.1f} s"

    def headline(self) -> str:
        """Name, status and time."""
        return f"SynthesisStage {self}"


@record
class Synthesis(Record):
    """An optimal step, and the stages of its computation."""

    objective: WalkingObjective
    """Weights of the criteria."""
    speed: float | None
    """m/s, as requested; None where it was free."""
    solution: Solution
    """The solution of the last stage."""
    stages: tuple[SynthesisStage, ...]
    """All stages."""

    def headline(self) -> str:
        """Objective, status, step length, duration and speed."""
        return f"Synthesis: {self.sentence}"

    @property
    def model(self) -> Model:
        """The model that walks."""
        return self.solution.model

    @property
    def seconds(self) -> float:
        """Time of all stages (s)."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def step(self) -> StoredStep:
        """The step by itself, in the form in which steps are stored."""
        pace = "free" if self.speed is None else f"{self.speed:g}"
        return stored_step(f"{self.objective.name} {pace}", self.solution, self.objective)

    @property
    def motion(self) -> Motion:
        """Two strides: the step and its mirror images in sequence, with events.

        ``motion.result`` is this synthesis.
        """
        step = self.step
        motion = stride_motion(self.model, step, steps=MOTION_STEPS)
        return replace(
            motion,
            events=tuple(stride_events(step, steps=MOTION_STEPS)),
            source=MotionSource.OPTIMIZED,
            method=self.sentence,
            result=self,
        )

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        step = self.step
        return (
            f"{self.objective.name}: {self.solution.status} in "
            f"{count_of(len(self.stages), 'stage')} and {self.seconds:.0f} s; step of "
            f"{step.parameters['length']:.3f} m in {step.duration:.3f} s, {step.speed:.3f} m/s"
        )

    def explain(self, limit: int = 4) -> str:
        """Stages, violated constraints, and what to try.

        Args:
            limit: Largest number of lines of each kind.

        Returns:
            Several lines of text.
        """
        lines = [str(stage) for stage in self.stages]
        counts: dict[str, int] = {}
        for violation in self.solution.violations:
            kind = violation.constraint.split(":")[0]
            counts[kind] = counts.get(kind, 0) + 1
        if counts:
            ranked = sorted(counts.items(), key=lambda pair: -pair[1])
            lines.append("violated: " + ", ".join(f"{kind} ({n})" for kind, n in ranked))
        return "\n".join([*lines, self.solution.explain(limit)])


Progress = Callable[[SynthesisStage], None]


def _no_progress(stage: SynthesisStage) -> None:
    """Ignore a stage."""


@dataclass(frozen=True)
class SynthesisOptions:
    """Options of a synthesis.

    Attributes:
        intervals: Number of intervals of the four phases; when left out those of the initial step,
            or as many more as its integration defects require.
        time_limit: Time limit of the whole synthesis (s).
        max_iterations: Largest number of iterations of each stage.
        defect_tolerance: Largest integration defect of a coordinate (rad, m); None skips the
            verification.
        refinements: How often the mesh may be refined.
        progress: Called with each stage before and after it.
    """

    intervals: Sequence[int] | None = None
    time_limit: float = 300.0
    max_iterations: int = 200
    defect_tolerance: float | None = 0.02
    refinements: int = MAX_REFINEMENTS
    progress: Progress = _no_progress


def synthesize(
    model: Model | None = None,
    *,
    speed: float | None = None,
    objective: str | WalkingObjective = "mixed",
    start: StoredStep | str | None = None,
    friction: float | None = None,
    options: SynthesisOptions | None = None,
) -> Motion:
    """Predict walking by optimal control, without a recording.

    Args:
        model: HeiMan, scaled to any person; `walking_model` when left out.
        speed: Speed (m/s); free when left out.
        objective: Name in `WALKING_OBJECTIVES`, a weighted sum such as ``"torque+3*head"``, or an
            objective.
        start: The stored step to start from; the nearest one when left out.
        friction: Coefficient of friction; no friction cone when left out.
        options: Mesh, limits and progress.

    Returns:
        Two periodic strides of both feet, with foot strikes and foot offs; ``motion.result`` is the
        `Synthesis` with the solution and all stages.

    Raises:
        HomodynError: The model, the objective, the speed or the initial step is unknown.
        NoSolution: No step was found, or the bounds exclude the speed.
    """
    synthesis = synthesize_step(
        model, speed=speed, objective=objective, start=start, friction=friction, options=options
    )
    if not _is_usable(synthesis.solution):
        raise NoSolution(f"no step was found: {synthesis.explain()}")
    return synthesis.motion


def synthesize_step(
    model: Model | None = None,
    *,
    speed: float | None = None,
    objective: str | WalkingObjective = "mixed",
    start: StoredStep | str | None = None,
    friction: float | None = None,
    options: SynthesisOptions | None = None,
) -> Synthesis:
    """Compute an optimal periodic step with mirror symmetry.

    Args:
        model: HeiMan, scaled to any person; `walking_model` when left out.
        speed: Speed (m/s); free when left out.
        objective: Name in `WALKING_OBJECTIVES`, a weighted sum such as ``"torque+3*head"``, or an
            objective.
        start: The stored step to start from (``"walk"`` is the synthetic walk); the nearest one
            when left out.
        friction: Coefficient of friction; no friction cone when left out.
        options: Mesh, limits and progress.

    Returns:
        The step, with all stages; ``solution.status`` says how the last solve ended.

    Raises:
        HomodynError: The model, the objective, the speed or the initial step is unknown.
        NoSolution: The bounds exclude the speed.
    """
    options = options or SynthesisOptions()
    target = walking_objective(objective)
    check_speed(speed)
    model = walking_model() if model is None else model
    begin = _initial_step(start, target, speed)
    tolerance = options.defect_tolerance
    mesh = first_mesh(model, begin, tolerance) if options.intervals is None else options.intervals
    search = _Search(model, tuple(mesh), friction, options)
    mixed = WALKING_OBJECTIVES["mixed"]
    if begin.objective is None:
        solution = search.solve_stage("nearest to the walk", begin, mixed, None, TRACKING_WEIGHT)
        if _is_usable(solution):
            begin = stored_step("first", solution, mixed)
            solution = search.solve_stage("mixed", begin, mixed, None)
            begin = stored_step("second", solution, mixed)
        if target == mixed and speed is None:
            solution = search.refine(solution, target, speed)
            return Synthesis(target, speed, solution, tuple(search.stages))
    solution = search.continue_to(begin, target, speed, MAX_HALVINGS)
    solution = search.refine(solution, target, speed)
    return Synthesis(target, speed, solution, tuple(search.stages))


def first_mesh(model: Model, begin: StoredStep, defect_tolerance: float | None) -> tuple[int, ...]:
    """The number of intervals that a step like the stored one needs."""
    if begin.objective is None or defect_tolerance is None:
        return INTERVALS
    if begin.transcription != TRANSCRIPTION:
        return INTERVALS
    intervals = begin.intervals
    problem = synthesis_problem(model, objective=begin.objective, intervals=intervals)
    transcribed = begin.warm_start(problem).transcribe(TRANSCRIPTION)
    parameters = {name: float(transcribed.guess[k]) for name, k in transcribed.parameters.items()}
    resimulations = resimulate(transcribed, begin.phases, parameters)
    errors = _StepErrors(
        tuple(r.defect for r in resimulations),
        find_path_violations(model, resimulations, parameters),
    )
    return refine_intervals(intervals, errors, defect_tolerance, transcribed.transcription)


@dataclass(frozen=True, eq=False)
class _StepErrors:
    """Errors of a stored step between its nodes."""

    integration_defects: tuple[IntegrationDefect, ...]
    path_violations: tuple[PathViolation, ...]


def check_speed(speed: float | None) -> None:
    """Refuse speeds that are not positive, or that the bounds of a step exclude."""
    if speed is None:
        return
    if not (np.isfinite(speed) and speed > 0):
        raise HomodynError(f"a speed is a positive number of m/s, got {speed!r}")
    shortest = STEP_LENGTH_BOUNDS_M[0]
    longest = min(STEP_LENGTH_BOUNDS_M[1], walking_bounds("synthesis")["Pelvis_TX"][1])
    count = len(STEP_PHASES)
    quickest, slowest = count * MIN_PHASE_DURATION_S, count * MAX_PHASE_DURATION_S
    if not shortest / slowest <= speed <= longest / quickest:
        raise NoSolution(
            f"no step at {speed:g} m/s: steps are {shortest:g} to {longest:g} m long and last "
            f"{quickest:g} to {slowest:g} s, so speeds are between {shortest / slowest:.2g} and "
            f"{longest / quickest:.2g} m/s; for running write a Problem of your own"
        )


def _initial_step(
    start: StoredStep | str | None, objective: WalkingObjective, speed: float | None
) -> StoredStep:
    if isinstance(start, StoredStep):
        return start
    if start is None:
        return nearest_stored_step(objective, speed)
    if start not in stored_steps():
        raise HomodynError(unknown_name("stored step", start, stored_steps()))
    return stored_steps()[start]


def stored_step(name: str, solution: Solution, objective: WalkingObjective) -> StoredStep:
    """The step of a solution; its speed is that of the pelvis, whether it was free or not."""
    first, last = solution.phases[0], solution.phases[-1]
    forward = solution.model.coordinate_index("Pelvis_TX")
    travel = float(last.q[-1, forward] - first.q[0, forward])
    parameters = {"speed": travel / float(last.time[-1])} | solution.parameters
    return StoredStep(name, solution.phases, parameters, objective)


def _is_usable(solution: Solution) -> bool:
    """Whether a solution can be the guess of the next stage."""
    return solution.status.success or solution.status is SolveStatus.COARSE


@dataclass(eq=False)
class _Search:
    """The stages so far, and the remaining time."""

    model: Model
    intervals: tuple[int, ...]
    friction: float | None
    options: SynthesisOptions

    def __post_init__(self) -> None:
        self.stages: list[SynthesisStage] = []
        self.began = clock.perf_counter()

    @property
    def remaining(self) -> float:
        """Remaining time (s)."""
        return self.options.time_limit - (clock.perf_counter() - self.began)

    def continue_to(
        self, begin: StoredStep, target: WalkingObjective, speed: float | None, halvings: int
    ) -> Solution:
        """The step for an objective and a speed, by way of a step half-way where necessary."""
        solution = self.solve_stage(_stage_name(target, speed), begin, target, speed)
        if _is_usable(solution) or not halvings or self.remaining <= 0:
            return solution
        middle = _midway_objective(begin.objective or target, target)
        pace = None if speed is None else (begin.speed + speed) / 2
        if middle == target and (pace is None or abs(pace - begin.speed) < 1e-6):
            return solution
        half = self.continue_to(begin, middle, pace, halvings - 1)
        if not _is_usable(half):
            return solution
        return self.continue_to(stored_step("middle", half, middle), target, speed, halvings - 1)

    def refine(self, solution: Solution, target: WalkingObjective, speed: float | None) -> Solution:
        """The same step with more intervals in the phases with large errors between nodes."""
        tolerance = self.options.defect_tolerance
        transcription = TRANSCRIPTIONS[TRANSCRIPTION]
        for _ in range(self.options.refinements):
            done = solution.status is not SolveStatus.COARSE
            if done or tolerance is None or self.remaining <= 0:
                break
            self.intervals = refine_intervals(self.intervals, solution, tolerance, transcription)
            begin = stored_step("coarse", solution, target)
            name = f"{_stage_name(target, speed)}, {sum(self.intervals)} intervals"
            finer = self.solve_stage(name, begin, target, speed)
            if not _is_usable(finer):
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
            terms = _tracking_terms(begin, tracking)
            phases = [
                replace(phase, terms=[*phase.terms, term])
                for phase, term in zip(problem.phases, terms, strict=True)
            ]
            problem = replace(problem, phases=phases)
        solution = begin.warm_start(problem).solve(
            TRANSCRIPTION,
            time_limit=max(self.remaining, 1.0),
            max_iterations=self.options.max_iterations,
            tolerance=SOLVER_TOLERANCE,
            defect_tolerance=self.options.defect_tolerance,
            initial_barrier=None if begin.objective is None else WARM_START_BARRIER,
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
