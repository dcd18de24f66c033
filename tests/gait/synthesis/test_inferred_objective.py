"""Weights of walking criteria inferred from steps whose weights are known."""

from dataclasses import replace

import pytest

import homodyn as hd
from homodyn.errors import HomodynError
from homodyn.gait.synthesis import (
    ReferenceStep,
    infer_objective,
    nearest_step,
    similar_walking_model,
    walking_objective,
)
from homodyn.gait.synthesis.inferred_objective import (
    BOUND_MARGIN,
    objective_of_weights,
    walk_problem,
)
from homodyn.gait.synthesis.problem import hip_height


def test_the_weights_of_a_stored_step_are_found():
    found = infer_objective(hd.gait.walking_model(), hd.gait.stored_steps()["mixed free"])
    weights = found.weights.weights
    assert found.weights.remainder < 0.01
    assert weights["torque"] / weights["angular-momentum"] == pytest.approx(1, rel=0.02)
    assert weights["head"] / weights["angular-momentum"] == pytest.approx(3, rel=0.02)
    assert weights["time"] < 0.01


def test_a_recorded_walk_may_exceed_the_bounds_of_steps():
    model = hd.gait.walking_model()
    reference = ReferenceStep.from_step(hd.gait.stored_steps()["mixed 1.5"])
    q = reference.q.copy()
    elbow, shoulder = (model.coordinate_index(n) for n in ("ElbowLeft_RY", "ShoulderRight_RY"))
    q[:, elbow], q[0, shoulder] = -2.5, 1.5
    walk = replace(reference, q=q)
    problem = walk_problem(model, walk, (6, 1, 1, 1), 0.8)
    for phase in problem.phases:
        assert phase.bounds["q"]["ElbowLeft_RY"][0] == pytest.approx(-2.5 - BOUND_MARGIN)
        names = {constraint.name for constraint in phase.constraints}
        assert "friction pyramid" in names
        assert "friction cone" not in names
    assert problem.phases[0].start["q"]["ShoulderRight_RY"][1] == pytest.approx(1.5 + BOUND_MARGIN)
    hidden = replace(walk, compared=tuple(k != elbow for k in range(model.nv)))
    bounds = walk_problem(model, hidden, (6, 1, 1, 1), None).phases[0].bounds["q"]
    assert bounds["ElbowLeft_RY"][0] > -2.5


def test_the_step_nearest_to_a_walk_that_unloads_a_foot_early_is_found():
    """The fastest bundled step as the walk: the right foot is unloaded before it leaves."""
    model = hd.gait.walking_model()
    walk = ReferenceStep.from_step(hd.gait.stored_steps()["mixed 2"])
    step, solution = nearest_step(model, walk, max_iterations=100)
    assert solution.status.success, solution.explain()
    assert step.speed == pytest.approx(2.0, abs=0.01)
    near = walk.similarity(step)
    assert near.posture < 0.01**2
    assert near.duration < 0.01**2


def test_an_objective_of_weights_is_accepted_by_the_synthesis():
    objective = objective_of_weights({"torque": 0.5, "angular-momentum": 1.0, "head": 0.0})
    assert objective.weights == walking_objective(objective.name).weights
    assert objective.weights["torque"] == 0.5


def test_the_model_of_a_person_has_his_size_and_mass():
    person = hd.catalog.heiman(height=1.65, mass=58)
    model = similar_walking_model(person)
    assert model.mass == pytest.approx(58)
    assert hip_height(model) == pytest.approx(hip_height(person), rel=1e-3)
    with pytest.raises(HomodynError, match="no coordinate"):
        similar_walking_model(hd.catalog.human36())
