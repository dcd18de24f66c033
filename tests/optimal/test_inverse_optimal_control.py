"""Weights of criteria recovered from movements that minimize a known combination of them."""

import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn.errors import HomodynError
from homodyn.model import Assembly, Body, joints
from homodyn.optimal.inverse_optimal_control import smallest_combination


def speed_squared(point):
    return 0.5 * point.v[0] ** 2


CRITERIA = {
    "torque": oc.torque(),
    "energy": oc.ObjectiveTerm("energy", speed_squared, squared=False),
    "acceleration": oc.acceleration(),
}


def problem(weights, limit=np.inf):
    box = Body("box", 2.0, (0, 0, 0), 0.1 * np.eye(3))
    block = Assembly("block").add(box, joints.prismatic("x")).model()
    move = oc.Phase(
        "move",
        duration=1.0,
        terms=[weight * CRITERIA[name] for name, weight in weights.items()],
        bounds={"v": {"box": (-limit, limit)}},
        start={"q": {"box": 0.0}, "v": {"box": 0.0}},
        end={"q": {"box": 1.0}, "v": {"box": 0.0}},
        intervals=20,
    )
    return oc.Problem(block, [move])


@pytest.mark.parametrize("limit", [np.inf, 1.3])
def test_weights_of_a_solution_are_recovered(limit):
    stated = problem({"torque": 1.0, "energy": 200.0}, limit)
    solution = stated.solve(tolerance=1e-9)
    chosen = {name: CRITERIA[name] for name in ("torque", "energy")}
    found = oc.infer_weights(stated, chosen, movement=solution)
    assert found.remainder < 1e-3
    assert found.weights["energy"] / found.weights["torque"] == pytest.approx(200, rel=0.02)
    assert sum(found.shares.values()) == pytest.approx(1)


def test_a_movement_that_nothing_explains_has_a_remainder():
    stated = problem({"torque": 1.0, "energy": 200.0})
    solution = stated.solve(tolerance=1e-9)
    found = oc.infer_weights(stated, {"torque": CRITERIA["torque"]}, movement=solution)
    assert found.remainder > 0.05
    assert found.weights == {"torque": 1.0}
    assert found.single["torque"] == pytest.approx(found.remainder)


def test_criteria_that_cannot_matter_are_refused():
    stated = problem({"torque": 1.0})
    with pytest.raises(HomodynError, match="0 criteria"):
        oc.infer_weights(stated, {})
    constant = oc.ObjectiveTerm("one", lambda point: 0 * point.v[0] + 1.0, squared=False)
    with pytest.raises(HomodynError, match="'one' does not depend"):
        oc.infer_weights(stated, {"one": constant, "torque": CRITERIA["torque"]})


def test_the_smallest_combination_is_the_nearest_point_of_the_hull():
    rng = np.random.default_rng(3)
    for _ in range(20):
        vectors = rng.normal(size=(5, 4)) + 0.7
        found = smallest_combination(vectors)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1)
        others = rng.dirichlet(np.ones(4), size=2000)
        assert np.linalg.norm(vectors @ found) <= np.linalg.norm(others @ vectors.T, axis=1).min()
