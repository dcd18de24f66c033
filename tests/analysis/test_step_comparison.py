"""Comparison of bundled steps."""

import json

import pytest

from homodyn import gait
from homodyn.analysis import StepComparison


@pytest.fixture(scope="module")
def compared():
    return StepComparison.from_bundled_steps(gait.walking_model())


def test_every_step_is_evaluated_by_the_criteria_of_all(compared):
    count = len(compared.steps)
    assert count > 1
    assert compared.statuses == ("solved",) * count
    assert compared.cross_evaluation.values.shape[0] == count
    assert len(compared.min_normal_forces) == count
    weight = 9.81 * compared.model.mass
    for forces in compared.min_normal_forces:
        assert -0.05 * weight < min(forces.values()) < 0.5 * weight
    assert all(plane.variance_percent > 90 for _, plane in compared.planes)


def test_it_is_a_record(compared):
    assert len(repr(compared).splitlines()) <= 10
    assert compared.headline().startswith(f"StepComparison of {len(compared.steps)} steps: ")
    restored = StepComparison.from_dict(json.loads(json.dumps(compared.to_dict())))
    assert restored.model == compared.model
    assert [step.name for step in restored.steps] == [step.name for step in compared.steps]
    assert restored.statuses == compared.statuses
