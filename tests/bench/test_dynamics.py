"""The benchmark of dynamics: what is measured is what a plain call computes."""

import numpy as np

from homodyn.bench.dynamics import _law, both_feet
from homodyn.catalog import heiman
from homodyn.dynamics import constrained_dynamics, inverse_dynamics


def test_calls_that_reuse_their_arrays_give_the_results_of_plain_calls():
    model = heiman()
    q = model.random(np.random.default_rng(0), 8)
    rest = np.zeros((8, model.nv))
    feet = both_feet()
    measured = _law(constrained_dynamics, model, (q, rest, rest), feet)
    plain = constrained_dynamics(model, q, rest, rest, feet)
    for _ in range(3):
        found = measured(slice(8)).acceleration
        np.testing.assert_allclose(found, plain.acceleration, rtol=1e-12, atol=1e-12)
    torques = _law(inverse_dynamics, model, (q, rest, rest))
    for _ in range(3):
        np.testing.assert_array_equal(torques(slice(8)), inverse_dynamics(model, q, rest, rest))
