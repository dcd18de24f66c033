"""The weights of walking criteria that explain a step, recorded or synthesized.

A synthesized step satisfies the conditions of optimality for its own weights. A recorded walk is
first brought to the nearest periodic step that obeys the laws of motion and of contact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.gait.synthesis.continuation import REFERENCE_HEIGHT_M
from homodyn.gait.synthesis.ground_contact import GROUND_FRICTION
from homodyn.gait.synthesis.problem import (
    CRITERIA,
    TRANSCRIPTION,
    WALKING_OBJECTIVES,
    WalkingObjective,
    check_coordinates,
    criterion_terms,
    hip_height,
    synthesis_problem,
    walking_model,
)
from homodyn.gait.synthesis.reference_step import ReferenceStep
from homodyn.gait.synthesis.step_library import (
    STORED_HIP_HEIGHT_M,
    StoredStep,
    nearest_stored_step,
)
from homodyn.gait.synthesis.synthesis_result import stored_step
from homodyn.model import Model
from homodyn.optimal import (
    PathConstraint,
    Problem,
    Solution,
    friction_cone,
    friction_pyramid,
    track_coordinates,
)
from homodyn.optimal.inverse_optimal_control import InferredWeights, infer_weights
from homodyn.optimal.solve.warm_start import ResampledSeries

REFERENCE_WEIGHT = 100.0
"""Weight (1/s) of squared distances (rad, m) from a recorded walk."""
REGULARIZATION = WalkingObjective("regularization", torque=0.01)
"""What decides about torques that the recorded walk leaves open."""
DURATION_TOLERANCE = 0.25
"""Largest deviation of the durations of phases from those of the initial step, as a fraction."""
NEAREST_TOLERANCE = 1e-5
"""Tolerance of the solver."""
BOUND_MARGIN = 0.05
"""Margin of bounds around a recorded walk that exceeds them (rad, m)."""
CONE_NAME = friction_cone(1.0).name
"""Name of the friction cones of a step."""


@record
class InferredObjective(Record):
    """The objective that explains a step best."""

    step: StoredStep
    """The step that is explained."""
    objective: WalkingObjective
    """The criteria with their weights; that of the criterion with the largest share is one."""
    weights: InferredWeights
    """Weights and remainders."""
    solution: Solution | None = None
    """The solve of the step nearest to a recorded walk; None for a synthesized step."""

    def headline(self) -> str:
        """Objective and remainder."""
        return f"InferredObjective: {self.objective.name}; remainder {self.weights.remainder:.3f}"


def infer_objective(
    model: Model, step: StoredStep, *, free_speed: bool = True
) -> InferredObjective:
    """The weights of the four criteria for which a step is nearest to optimal.

    Args:
        model: The model of the step.
        step: The step, which satisfies the constraints of `synthesis_problem`.
        free_speed: Whether the speed was chosen for the criteria, or given.

    Returns:
        The objective.
    """
    problem = synthesis_problem(
        model,
        objective=step.objective or WALKING_OBJECTIVES["mixed"],
        speed=None if free_speed else step.speed,
        intervals=step.intervals,
        friction=step.friction,
    )
    return _infer(step, problem)


def _infer(step: StoredStep, problem: Problem) -> InferredObjective:
    """The weights for which a step is nearest to optimal under the constraints of a problem."""
    found = infer_weights(step.warm_start(problem), criterion_terms(), step.transcription)
    return InferredObjective(step, objective_of_weights(found.weights), found)


def objective_of_weights(weights: Mapping[str, float]) -> WalkingObjective:
    """The weighted sum of criteria, with a name that `walking_objective` accepts.

    Args:
        weights: Weights by criterion.

    Returns:
        The objective.
    """
    kept = {name: weights[name] for name in CRITERIA if weights.get(name, 0.0) > 0}
    name = "+".join(f"{weight:.6g}*{criterion}" for criterion, weight in kept.items())
    return WalkingObjective(name, **{key.replace("-", "_"): w for key, w in kept.items()})


def similar_walking_model(model: Model) -> Model:
    """The `walking_model` with the hip height and the mass of a scaled model.

    Args:
        model: HeiMan, scaled to a person.

    Returns:
        The model.

    Raises:
        HomodynError: The model has not the coordinates of HeiMan.
    """
    check_coordinates(model)
    size = hip_height(model) / STORED_HIP_HEIGHT_M
    return walking_model(REFERENCE_HEIGHT_M * size, float(model.mass))


def nearest_step(
    model: Model,
    reference: ReferenceStep,
    *,
    friction: float | None = GROUND_FRICTION,
    max_iterations: int = 200,
) -> tuple[StoredStep, Solution]:
    """The periodic step nearest to a recorded walk, among those that mechanics allows.

    Args:
        model: The model of the person.
        reference: The recorded walk.
        friction: Coefficient of friction.
        max_iterations: Largest number of iterations.

    Returns:
        The step and the solution; ``solution.status`` says whether it was found.
    """
    begin = _initial_step(model, reference)
    problem = walk_problem(model, reference, begin.intervals, friction)
    solution = _tracking_problem(begin.warm_start(problem), reference).solve(
        TRANSCRIPTION,
        max_iterations=max_iterations,
        tolerance=NEAREST_TOLERANCE,
        barrier_update="adaptive",
        defect_tolerance=None,
    )
    return stored_step(f"nearest to {reference.name}", solution, REGULARIZATION, friction), solution


def explain_walk(
    model: Model, reference: ReferenceStep, *, friction: float | None = GROUND_FRICTION
) -> InferredObjective:
    """The weights of the criteria that explain a recorded walk.

    Args:
        model: The model of the person.
        reference: The recorded walk.
        friction: Coefficient of friction.

    Returns:
        The objective; ``solution.status`` says whether the nearest step was found.
    """
    step, solution = nearest_step(model, reference, friction=friction)
    problem = walk_problem(model, reference, step.intervals, friction)
    return replace(_infer(step, problem), solution=solution)


def walk_problem(
    model: Model, reference: ReferenceStep, intervals: Sequence[int], friction: float | None
) -> Problem:
    """The constraints of a step at the speed of a recorded walk, which its postures satisfy.

    The bounds of coordinates are widened where the walk exceeds them. Friction cones are pyramids:
    a recorded foot may be unloaded at any time, and at its tip a cone has no derivative, so that a
    solver does not converge there.

    Args:
        model: The model of the person.
        reference: The recorded walk.
        intervals: Number of intervals of each phase.
        friction: Coefficient of friction; None for no bound.

    Returns:
        The problem; its objective is the regularization of torques.
    """
    problem = synthesis_problem(
        model,
        objective=REGULARIZATION,
        speed=_forward_speed(model, reference),
        intervals=intervals,
        friction=friction,
    )
    phases = []
    for phase in problem.phases:
        bounds = {**phase.bounds, "q": _widen(phase.bounds["q"], model, reference.q, reference)}
        start = dict(phase.start)
        if "q" in start:
            start["q"] = _widen(start["q"], model, reference.q[:1], reference)
        constraints = [
            _pyramid(constraint, friction) if constraint.name == CONE_NAME else constraint
            for constraint in phase.constraints
        ]
        phases.append(replace(phase, bounds=bounds, start=start, constraints=constraints))
    return replace(problem, phases=phases)


def _initial_step(model: Model, reference: ReferenceStep) -> StoredStep:
    """The stored step of the nearest speed, scaled to the person."""
    speed = _forward_speed(model, reference)
    return nearest_stored_step(WALKING_OBJECTIVES["mixed"], speed, model).scale_to(model)


def _forward_speed(model: Model, reference: ReferenceStep) -> float:
    """Mean speed of the pelvis of a recorded walk (m/s)."""
    forward = model.coordinate_index("Pelvis_TX")
    return float((reference.q[-1, forward] - reference.q[0, forward]) / reference.duration)


def _pyramid(cone: PathConstraint, friction: float | None) -> PathConstraint:
    """The friction pyramid of the feet of a friction cone, at the same place."""
    assert friction is not None
    pyramid = friction_pyramid(friction, *cone.labels)
    return replace(pyramid, when=cone.when, tolerance=cone.tolerance)


def _widen(
    ranges: Mapping[str, float | tuple[float, float]],
    model: Model,
    recorded: np.ndarray,
    reference: ReferenceStep,
) -> dict[str, float | tuple[float, float]]:
    """Bounds of coordinates that contain a walk, in the coordinates that markers show."""
    widened = dict(ranges)
    for name, bound in ranges.items():
        k = model.coordinate_index(name)
        if isinstance(bound, tuple) and (not reference.compared or reference.compared[k]):
            low = min(bound[0], float(recorded[:, k].min()) - BOUND_MARGIN)
            high = max(bound[1], float(recorded[:, k].max()) + BOUND_MARGIN)
            widened[name] = (low, high)
    return widened


def _tracking_problem(guessed: Problem, reference: ReferenceStep) -> Problem:
    """A problem of a step with the distance from a recorded walk as a term of each phase."""
    ends = np.cumsum([phase.duration_guess for phase in guessed.phases])
    starts = ends - [phase.duration_guess for phase in guessed.phases]
    shown = np.array(reference.compared or (True,) * guessed.model.nv, dtype=float)
    phases = []
    for phase, start, end in zip(guessed.phases, starts, ends, strict=True):
        low, high = phase.duration_bounds
        guess = phase.duration_guess * reference.duration / ends[-1]
        shortest = max(low, guess * (1 - DURATION_TOLERANCE))
        longest = max(min(high, guess * (1 + DURATION_TOLERANCE)), shortest)
        part = ResampledSeries(
            np.linspace(0.0, 1.0, len(reference.q)),
            reference.q,
            start / ends[-1],
            (end - start) / ends[-1],
        )
        tracked = REFERENCE_WEIGHT * track_coordinates(part, scale=shown)
        phases.append(
            replace(
                phase,
                duration=(shortest, longest),
                terms=[*phase.terms, tracked],
                guess={**phase.guess, "duration": float(np.clip(guess, shortest, longest))},
            )
        )
    return replace(guessed, phases=phases)
