"""Common angles are factored out of sums of sines."""

import casadi as ca
import numpy as np
import pytest

from homodyn.symbolic import Scan, kernel
from homodyn.symbolic.passes.lowering import lower_graph
from homodyn.symbolic.passes.trig_factoring import factor_trig_sums

COUNT = 11


def _no_bias(i, j, p, r, w):
    return w[i, j] * r[j] * ca.sin(p[j] - p[i])


def _turned_round(i, j, p, r, w):
    return -r[j] * ca.sin(p[i] - p[j] + w[i, j]) * w[j, i]


def _cosines(i, j, p, r, w):
    return ca.cos(p[i] + p[j] - w[i, j])


def _two_ways(i, j, p, r, w):
    return w[i, j] * ca.sin(p[j] - p[i]) - 0.3 * r[j] * ca.sin(p[j] - p[i] - w[j, i])


def _three_angles(i, j, p, r, w):
    return w[i, j] * ca.cos(r[j] + p[j] - p[i]) + ca.sin(2 * p[i] - p[j])


PULLS = [_no_bias, _turned_round, _cosines, _two_ways, _three_angles]


@pytest.mark.parametrize("pull", PULLS)
def test_sums_of_sines_in_factors_are_the_sums_as_written(pull):
    def step(p, r, w):
        rates = [
            sum((pull(i, j, p, r, w) for j in range(COUNT) if j != i), 1 + 0.1 * r[i])
            for i in range(COUNT)
        ]
        return {"p": p + 0.01 * ca.vertcat(*rates), "r": r + 0.01 * ca.sin(p)}

    created = kernel(step, {"p": COUNT, "r": COUNT, "w": (COUNT, COUNT)})
    changing = {0, 1}
    program = lower_graph(created.traced.graph)
    assert factor_trig_sums(program, changing) is not program
    rng = np.random.default_rng(6)
    inputs = {
        "p": rng.normal(size=COUNT),
        "r": rng.normal(size=COUNT),
        "w": rng.normal(size=(COUNT, COUNT)),
    }
    plain, factored = (
        Scan(created, ("p", "r"), packed=packed)(50, inputs) for packed in (False, True)
    )
    for name in ("p", "r"):
        np.testing.assert_allclose(factored.states[name], plain.states[name], rtol=0, atol=1e-12)
