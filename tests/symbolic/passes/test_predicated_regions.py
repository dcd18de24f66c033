"""Work under a condition is skipped where no lane needs it."""

import casadi as ca
import numpy as np

from homodyn.symbolic import Assumption, FastPath, Scan, kernel


def test_work_under_a_condition_is_behind_a_branch_and_keeps_the_bits():
    def step(x, v, where):
        # A spring that pulls beyond one only, twice in a step; a sine that counts always.
        pulled = ca.if_else(where > 0, ca.sqrt(x * x + 1) / (1 + v * v) * (x - 1) ** 3, 0)
        half = x + 0.1 * (v - pulled)
        again = ca.if_else(where > 0, ca.sqrt(half * half + 1) / (3 + half) * (half - 1) ** 3, 0)
        calm = ca.fabs(v) < 1e3
        late = ca.if_else(where > 0, ca.logic_not(ca.sqrt(half * half) < v), 0)
        return {
            "x": half + 0.01 * ca.sin(half) + 0.001 * late,
            "v": 0.9 * v - 0.1 * again,
            "calm": calm,
            "wild": ca.logic_not(calm),
        }

    created = kernel(step, {"x": (), "v": (), "where": ()})
    way = FastPath((Assumption("calm", "wild", (0.0,)),))
    guarded = Scan(created, ("x", "v"), packed=True, fast_path=way)
    text = dict(guarded._codegen.generate("lanes hoisted", 4).files)["quick0.c"]
    assert text.count("if (v_any(") == 2
    plain = Scan(created, ("x", "v"), packed=True)
    rng = np.random.default_rng(9)
    x, v = rng.normal(size=(2, 64))
    for where in (np.zeros(64), np.ones(64), (np.arange(64) % 3 == 0).astype(float)):
        inputs = {"x": x, "v": v, "where": where}
        one, other = (each(50, inputs).states for each in (guarded, plain))
        for name in "xv":
            assert np.array_equal(one[name], other[name])
