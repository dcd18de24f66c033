"""Weights of walking criteria inferred from steps whose weights are known."""

import pytest

import homodyn as hd
from homodyn.errors import HomodynError
from homodyn.gait.synthesis import infer_objective, similar_walking_model, walking_objective
from homodyn.gait.synthesis.inferred_objective import objective_of_weights
from homodyn.gait.synthesis.problem import hip_height


def test_the_weights_of_a_stored_step_are_found():
    found = infer_objective(hd.gait.walking_model(), hd.gait.stored_steps()["mixed free"])
    weights = found.weights.weights
    assert found.weights.remainder < 0.01
    assert weights["torque"] / weights["angular-momentum"] == pytest.approx(1, rel=0.02)
    assert weights["head"] / weights["angular-momentum"] == pytest.approx(3, rel=0.02)
    assert weights["time"] < 0.01


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
