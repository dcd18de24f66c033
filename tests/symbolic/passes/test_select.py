"""Conditional terms become one select."""

import casadi as ca
import numpy as np

from homodyn.symbolic import Scan, kernel
from homodyn.symbolic.passes.lowering import lower_graph
from homodyn.symbolic.passes.select import form_selects
from support.programs import operation_counts


def test_a_choice_is_one_operation():
    def bounced(x, v):
        down = ca.logic_and(x < 0, ca.logic_not(v > 0))
        return {"x": ca.if_else(down, -x, x + v), "v": ca.if_else(down, ca.log(-x), v)}

    created = kernel(bounced, {"x": (), "v": ()})
    counted = operation_counts(form_selects(lower_graph(created.traced.graph)))
    assert counted["choose"] == 2
    assert not counted["if_else_zero"]
    rng = np.random.default_rng(2)
    inputs = dict(zip("xv", rng.normal(size=(2, 40)), strict=True))
    plain, short = (Scan(created, ("x", "v"), packed=p)(7, inputs).states for p in (False, True))
    assert np.all(np.isfinite(short["x"]))
    for name in "xv":
        assert np.array_equal(plain[name], short[name])
