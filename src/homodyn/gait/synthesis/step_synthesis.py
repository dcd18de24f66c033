"""Synthesis of an optimal periodic step, starting from a stored one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from homodyn.catalog.heiman_tables import walking_bounds
from homodyn.errors import HomodynError, NoSolution
from homodyn.foundation.text import unknown_name
from homodyn.gait.synthesis.continuation import (
    Continuation,
    Progress,
    StepGoal,
    SynthesisOptions,
    is_usable,
)
from homodyn.gait.synthesis.ground_contact import GROUND_FRICTION
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
from homodyn.gait.synthesis.step_library import StoredStep, nearest_stored_step, stored_steps
from homodyn.gait.synthesis.synthesis_result import Synthesis
from homodyn.model import Model
from homodyn.motion import Motion
from homodyn.optimal import IntegrationDefect, PathViolation
from homodyn.optimal.verify.mesh_refinement import refine_intervals
from homodyn.optimal.verify.path_violations import find_path_violations
from homodyn.optimal.verify.resimulation import resimulate

TRACKING_WEIGHT = 3.0
"""Weight (1/s) of squared distances (rad, m) from a walk that leads to a first periodic step."""


def synthesize(
    model: Model | None = None,
    *,
    speed: float | None = None,
    objective: str | WalkingObjective = "mixed",
    start: StoredStep | str | None = None,
    friction: float | None = GROUND_FRICTION,
    options: SynthesisOptions | None = None,
    progress: Progress | None = None,
) -> Motion:
    """Predict walking by optimal control, without a recording.

    Args:
        model: HeiMan, scaled to any person; `walking_model` when left out.
        speed: Speed (m/s); free when left out.
        objective: Name in `WALKING_OBJECTIVES`, a weighted sum such as ``"torque+3*head"``, or an
            objective.
        start: The stored step to start from; the nearest one when left out.
        friction: Coefficient of friction, which bounds ground forces and the impulses at touchdown;
            None for no such bounds.
        options: Mesh and limits.
        progress: Called with each `SynthesisStage` before and after it, instead of
            ``options.progress``; an exception that it raises ends the synthesis.

    Returns:
        Two periodic strides of both feet, with torques, ground forces, foot strikes and foot offs;
        ``motion.result`` is the `Synthesis` with the solution and all stages.

    Raises:
        HomodynError: The model, the objective, the speed or the initial step is unknown.
        NoSolution: No step was found, or the bounds exclude the speed.
    """
    options = options or SynthesisOptions()
    if progress is not None:
        options = replace(options, progress=progress)
    synthesis = synthesize_step(
        model, speed=speed, objective=objective, start=start, friction=friction, options=options
    )
    if not is_usable(synthesis.solution):
        raise NoSolution(f"no step was found: {synthesis.explain()}")
    return synthesis.motion


def synthesize_step(
    model: Model | None = None,
    *,
    speed: float | None = None,
    objective: str | WalkingObjective = "mixed",
    start: StoredStep | str | None = None,
    friction: float | None = GROUND_FRICTION,
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
        friction: Coefficient of friction, which bounds ground forces and the impulses at touchdown;
            None for no such bounds.
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
    begin = _initial_step(start, target, speed, model)
    tolerance = options.defect_tolerance
    mesh = first_mesh(model, begin, tolerance) if options.intervals is None else options.intervals
    search = Continuation(tuple(mesh), options)
    goal = StepGoal(model, target, speed, friction)
    if begin.objective is None:
        mixed = replace(goal, objective=WALKING_OBJECTIVES["mixed"], speed=None)
        solution = search.solve_stage("nearest to the walk", begin, mixed, TRACKING_WEIGHT)
        if is_usable(solution):
            solution = search.solve_stage("mixed", mixed.step("first", solution), mixed)
            begin = mixed.step("second", solution)
        if target == mixed.objective and speed is None:
            solution = search.refine(solution, goal)
            return Synthesis(target, speed, solution, tuple(search.stages), friction)
    solution = search.refine(search.continue_to(begin, goal), goal)
    return Synthesis(target, speed, solution, tuple(search.stages), friction)


def first_mesh(model: Model, begin: StoredStep, defect_tolerance: float | None) -> tuple[int, ...]:
    """The number of intervals that a step like the stored one needs.

    A step of another body obeys other equations of motion; its own mesh is taken then.
    """
    if begin.objective is None or defect_tolerance is None:
        return INTERVALS
    if begin.transcription != TRANSCRIPTION:
        return INTERVALS
    intervals = begin.intervals
    if begin.scale_to(model) is not begin:
        return intervals
    problem = synthesis_problem(
        model, objective=begin.objective, intervals=intervals, friction=begin.friction
    )
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
    start: StoredStep | str | None,
    objective: WalkingObjective,
    speed: float | None,
    model: Model,
) -> StoredStep:
    """The step to start from."""
    if isinstance(start, StoredStep):
        return start
    if start is None:
        return nearest_stored_step(objective, speed, model)
    if start not in stored_steps():
        raise HomodynError(unknown_name("stored step", start, stored_steps()))
    return stored_steps()[start]
