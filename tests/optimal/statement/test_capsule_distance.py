"""Distances between capsules against brute force and finite differences."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
import homodyn.optimal as oc
from homodyn.errors import ModelError
from homodyn.optimal.statement.capsule_distance import segment_distance


def brute(a, b, c, d, count=201):
    s = np.linspace(0, 1, count)
    one, two = a + s[:, None] * (b - a), c + s[:, None] * (d - c)
    return np.linalg.norm(one[:, None] - two[None], axis=-1).min()


@pytest.fixture(scope="module")
def distance():
    ends = [ca.SX.sym(name, 3) for name in "abcd"]
    value = segment_distance(*ends)
    return ca.Function("distance", ends, [value, ca.gradient(value, ends[0])])


def test_segments_are_as_far_apart_as_their_nearest_points(distance):
    rng = np.random.default_rng(3)
    for _ in range(60):
        ends = rng.normal(size=(4, 3))
        assert float(distance(*ends)[0]) == pytest.approx(brute(*ends), abs=2e-3)
        assert float(distance(*ends)[0]) <= brute(*ends) + 1e-9


def test_parallel_and_touching_segments_have_a_distance(distance):
    along = np.array([1.0, 0, 0])
    aside = np.array([0, 0.3, 0])
    assert float(distance(0 * along, along, aside, along + aside)[0]) == pytest.approx(0.3)
    ahead = 2 * along
    assert float(distance(0 * along, along, ahead, ahead + along)[0]) == pytest.approx(1.0)
    assert np.isfinite(np.array(distance(-along, along, -aside, aside)[1])).all()


def test_gradient_is_that_of_finite_differences(distance):
    rng = np.random.default_rng(5)
    for _ in range(20):
        ends = rng.normal(size=(4, 3))
        _, gradient = distance(*ends)
        for k in range(3):
            step = np.zeros(3)
            step[k] = 1e-6
            ahead, behind = (float(distance(ends[0] + h, *ends[1:])[0]) for h in (step, -step))
            assert float(gradient[k]) == pytest.approx((ahead - behind) / 2e-6, abs=1e-5)


def test_shanks_touch_when_a_leg_crosses_the_other():
    model = hd.catalog.heiman()
    q = ca.SX.sym("q", model.nq)
    point = oc.TimePoint(model, q, q, q, q, ca.SX(0, 1))
    distance = ca.Function("distance", [q], [oc.capsule_distance(point, "ShankRight", "ShankLeft")])
    pose = model.neutral()
    radii = {c.name: float(c.radius) for c in model.capsules}
    width = 2 * abs(float(hd.dynamics.position(model, pose, "ShankRight")[1]))
    expected = width - radii["ShankRight"] - radii["ShankLeft"]
    assert float(distance(pose)) == pytest.approx(expected, abs=1e-9)
    pose[model.coordinate_index("HipRight_RX")] = 0.3
    assert float(distance(pose)) < 0
    with pytest.raises(ModelError, match="no capsule 'Shank'"):
        oc.capsule_distance(point, "Shank", "ShankLeft")
