"""Sine and cosine of atan2 become quotients."""

import casadi as ca
import numpy as np

from homodyn.symbolic import Scan, kernel
from homodyn.symbolic.passes.atan2_elimination import eliminate_atan2
from homodyn.symbolic.passes.lowering import lower_graph
from support.programs import operation_counts


def test_sines_and_cosines_of_atan2_become_quotients():
    def turned(x, y):
        angle = ca.atan2(y, x)
        # The length is there already, squared the other way round.
        return {"x": ca.cos(angle), "y": ca.sin(-angle) + ca.sqrt(x * x + y * y)}

    created = kernel(turned, {"x": (), "y": ()})
    counted = operation_counts(eliminate_atan2(lower_graph(created.traced.graph)))
    assert not {"atan2", "sin", "cos"} & counted.keys()
    assert counted["sqrt"] == counted["div"] == 1
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 50))
    x[:4], y[:4] = [0, 0, 1, -1], [0, 2, 0, 0]
    found = Scan(created, ("x", "y"), packed=True)(1, {"x": x, "y": y}).states
    angle = np.arctan2(y, x)
    np.testing.assert_allclose(found["x"], np.cos(angle), rtol=0, atol=1e-15)
    np.testing.assert_allclose(found["y"], np.hypot(x, y) - np.sin(angle), rtol=0, atol=4e-15)
