"""Programs of repeated kernels in other forms: the same values in fewer operations."""

from collections import Counter

import casadi as ca
import numpy as np
import pytest

from homodyn.symbolic import Assumption, FastPath, Scan, kernel
from homodyn.symbolic.passes.atan2_elimination import eliminate_atan2
from homodyn.symbolic.passes.loop_invariants import hoist_loop_invariants, invariant_values
from homodyn.symbolic.passes.lowering import lower_graph
from homodyn.symbolic.passes.partial_evaluation import PartialEvaluator
from homodyn.symbolic.passes.select import form_selects
from homodyn.symbolic.passes.strength_reduction import reduce_strength
from homodyn.symbolic.program import eliminate_dead_code


def operations(program):
    return Counter(instruction.op for instruction in program.instructions)


def test_directions_are_had_by_division():
    def turned(x, y):
        angle = ca.atan2(y, x)
        # The length is there already, squared the other way round.
        return {"x": ca.cos(angle), "y": ca.sin(-angle) + ca.sqrt(x * x + y * y)}

    made = kernel(turned, {"x": (), "y": ()})
    counted = operations(eliminate_atan2(lower_graph(made.traced.graph)))
    assert not {"atan2", "sin", "cos"} & counted.keys()
    assert counted["sqrt"] == counted["div"] == 1
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 50))
    x[:4], y[:4] = [0, 0, 1, -1], [0, 2, 0, 0]
    found = Scan(made, ("x", "y"), packed=True)(1, {"x": x, "y": y}).states
    angle = np.arctan2(y, x)
    np.testing.assert_allclose(found["x"], np.cos(angle), rtol=0, atol=1e-15)
    np.testing.assert_allclose(found["y"], np.hypot(x, y) - np.sin(angle), rtol=0, atol=4e-15)


def test_choices_are_one_operation():
    def bounced(x, v):
        down = ca.logic_and(x < 0, ca.logic_not(v > 0))
        return {"x": ca.if_else(down, -x, x + v), "v": ca.if_else(down, ca.log(-x), v)}

    made = kernel(bounced, {"x": (), "v": ()})
    counted = operations(form_selects(lower_graph(made.traced.graph)))
    assert counted["choose"] == 2
    assert not counted["if_else_zero"]
    rng = np.random.default_rng(2)
    inputs = dict(zip("xv", rng.normal(size=(2, 40)), strict=True))
    plain, short = (Scan(made, ("x", "v"), packed=p)(7, inputs).states for p in (False, True))
    assert np.all(np.isfinite(short["x"]))
    for name in "xv":
        assert np.array_equal(plain[name], short[name])


def test_what_does_not_change_is_computed_once():
    def step(x, p):
        return {"x": x / p[0] + ca.sin(p[1]) * ca.exp(p[0])}

    made = kernel(step, {"x": (), "p": 2})
    program = lower_graph(made.traced.graph)
    program = reduce_strength(program, invariant_values(program, {0}))
    rest, before = hoist_loop_invariants(program, invariant_values(program, {0}), 2)
    assert operations(rest) == {"input": 3, "mul": 1, "add": 1}
    assert len(before.results) == 2
    p = np.random.default_rng(3).uniform(1, 2, size=(20, 2))
    plain, hoist = (
        Scan(made, ("x",), packed=packed)(9, {"x": np.ones(20), "p": p}).states["x"]
        for packed in (False, True)
    )
    np.testing.assert_allclose(hoist, plain, rtol=1e-14)
    # Inputs that are given anew for every step are not taken out.
    rows = np.repeat(p[:, None], 3, axis=1)
    rows[:, 1] = 1.5
    sampled = [
        Scan(made, ("x",), packed=packed)(3, {"x": np.ones(20)}, sampled={"p": rows})
        for packed in (False, True)
    ]
    np.testing.assert_allclose(sampled[0].states["x"], sampled[1].states["x"], rtol=1e-14)


@pytest.mark.parametrize("count", [1, 5, 70])
def test_a_shortcut_gives_the_bits_of_the_long_way(count):
    """Where nothing folds at one, the choices of the step are known."""

    def step(x, n, done):
        grown = x * 1.01 + 0.001 * ca.sin(x)
        folds = grown > 1
        # A product that is chosen from does not join with the sum after it.
        moved = ca.if_else(folds, 0, 0.01 * n) * 0.3 + grown
        over = n >= 3
        return {
            "x": ca.if_else(done, x, ca.if_else(folds, moved - 1, moved)),
            "n": ca.if_else(done, n, n + folds),
            "done": ca.logic_or(done, over),
            "open": n < 3,
            "over": over,
            "unfolded": ca.logic_not(folds),
            "folds": folds,
        }

    made = kernel(step, {"x": (), "n": (), "done": ()})
    zero = np.zeros(count)
    inputs = {"x": np.linspace(0.2, 0.9, count), "n": zero, "done": zero}
    way = FastPath((Assumption("open", "over", (0.0,)), Assumption("unfolded", "folds", (0.0,))))
    names = ("x", "n", "done")
    steps = [Scan(made, names, "done", packed=True, fast_path=one) for one in (None, way)]
    for record in ((), names):
        long, short = (one(900, inputs, record=record) for one in steps)
        assert long.states["n"].min() >= 3
        assert long.states["done"].all()
        for name in names:
            assert np.array_equal(short.states[name], long.states[name])
        for name in record:
            assert np.array_equal(short.records[name], long.records[name])


def test_known_conditions_are_decided_and_nothing_else_changes():
    def chosen(x, y):
        left = x > y
        both = ca.logic_and(left, ca.logic_not(y > 0))
        return {"left": left, "a": ca.if_else(left, x * y + 1, y / x), "b": both, "c": left + x}

    program = form_selects(lower_graph(kernel(chosen, {"x": (), "y": ()}).traced.graph))
    left, a, b, c = (value for _, _, value in sorted(program.results))
    for truth in (1.0, 0.0):
        known = PartialEvaluator(program)
        found = known.specialize({left: truth}, [a, b, c])
        part = eliminate_dead_code(
            known.instructions, [(0, k, value) for k, value in enumerate(found)]
        )
        counted = operations(part)
        assert not counted["choose"]
        assert counted["mul"] == counted["not"] == truth
        assert counted["div"] == 1 - truth
    # The same values under other assumptions stand in one program.
    known = PartialEvaluator(program)
    free, decided = (known.specialize(given, [a])[0] for given in ({}, {left: 1.0}))
    assert known.instructions[free].arguments[1] == decided


def test_records_go_into_a_given_array():
    made = kernel(lambda x: {"x": 0.5 * x}, {"x": 2})
    kept = np.zeros((4, 2))
    Scan(made, ("x",))(3, {"x": np.ones(2)}, record=["x"], out={"x": kept[1:]})
    assert kept.tolist() == [[0, 0], [0.5, 0.5], [0.25, 0.25], [0.125, 0.125]]


def test_what_counts_under_a_condition_is_left_out_where_no_lane_meets_it():
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

    made = kernel(step, {"x": (), "v": (), "where": ()})
    way = FastPath((Assumption("calm", "wild", (0.0,)),))
    guarded = Scan(made, ("x", "v"), packed=True, fast_path=way)
    text = dict(guarded._codegen.generate("lanes hoisted", 4).files)["quick0.c"]
    assert text.count("if (v_any(") == 2
    plain = Scan(made, ("x", "v"), packed=True)
    rng = np.random.default_rng(9)
    x, v = rng.normal(size=(2, 64))
    for where in (np.zeros(64), np.ones(64), (np.arange(64) % 3 == 0).astype(float)):
        inputs = {"x": x, "v": v, "where": where}
        one, other = (each(50, inputs).states for each in (guarded, plain))
        for name in "xv":
            assert np.array_equal(one[name], other[name])
