"""Loop-invariant values are computed once, divisions by them become products."""

import casadi as ca
import numpy as np

from homodyn.symbolic import Scan, kernel
from homodyn.symbolic.passes.loop_invariants import hoist_loop_invariants, invariant_values
from homodyn.symbolic.passes.lowering import lower_graph
from homodyn.symbolic.passes.strength_reduction import reduce_strength
from support.programs import operation_counts


def test_loop_invariants_are_computed_once():
    def step(x, p):
        return {"x": x / p[0] + ca.sin(p[1]) * ca.exp(p[0])}

    created = kernel(step, {"x": (), "p": 2})
    program = lower_graph(created.traced.graph)
    program = reduce_strength(program, invariant_values(program, {0}))
    rest, before = hoist_loop_invariants(program, invariant_values(program, {0}), 2)
    assert operation_counts(rest) == {"input": 3, "mul": 1, "add": 1}
    assert len(before.results) == 2
    p = np.random.default_rng(3).uniform(1, 2, size=(20, 2))
    plain, hoist = (
        Scan(created, ("x",), packed=packed)(9, {"x": np.ones(20), "p": p}).states["x"]
        for packed in (False, True)
    )
    np.testing.assert_allclose(hoist, plain, rtol=1e-14)
    # Inputs that are given anew for every step are not taken out.
    rows = np.repeat(p[:, None], 3, axis=1)
    rows[:, 1] = 1.5
    sampled = [
        Scan(created, ("x",), packed=packed)(3, {"x": np.ones(20)}, sampled={"p": rows})
        for packed in (False, True)
    ]
    np.testing.assert_allclose(sampled[0].states["x"], sampled[1].states["x"], rtol=1e-14)
