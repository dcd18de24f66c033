"""Fast paths of scans have the bits of the general path."""

import casadi as ca
import numpy as np
import pytest

from homodyn.symbolic import Assumption, FastPath, Scan, kernel


@pytest.mark.parametrize("count", [1, 5, 70])
def test_the_fast_path_has_the_bits_of_the_general_path(count):
    """Where nothing folds at one, the choices of the step are known."""

    def step(x, n, done):
        grown = x * 1.01 + 0.001 * ca.sin(x)
        folds = grown > 1
        # A product that is chosen from does not join with the sum after it.
        shifted = ca.if_else(folds, 0, 0.01 * n) * 0.3 + grown
        over = n >= 3
        return {
            "x": ca.if_else(done, x, ca.if_else(folds, shifted - 1, shifted)),
            "n": ca.if_else(done, n, n + folds),
            "done": ca.logic_or(done, over),
            "open": n < 3,
            "over": over,
            "unfolded": ca.logic_not(folds),
            "folds": folds,
        }

    created = kernel(step, {"x": (), "n": (), "done": ()})
    zero = np.zeros(count)
    inputs = {"x": np.linspace(0.2, 0.9, count), "n": zero, "done": zero}
    way = FastPath((Assumption("open", "over", (0.0,)), Assumption("unfolded", "folds", (0.0,))))
    names = ("x", "n", "done")
    steps = [Scan(created, names, "done", packed=True, fast_path=one) for one in (None, way)]
    for record in ((), names):
        long, short = (one(900, inputs, record=record) for one in steps)
        assert long.states["n"].min() >= 3
        assert long.states["done"].all()
        for name in names:
            assert np.array_equal(short.states[name], long.states[name])
        for name in record:
            assert np.array_equal(short.records[name], long.records[name])
