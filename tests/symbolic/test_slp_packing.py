"""A single state on vectors: the same bits as a lane of many, in fewer operations."""

import casadi as ca
import numpy as np
import pytest

from homodyn.symbolic import Scan, kernel
from homodyn.symbolic.passes.fma_contraction import contract_fma
from homodyn.symbolic.passes.loop_invariants import invariant_values
from homodyn.symbolic.passes.lowering import lower_graph
from homodyn.symbolic.passes.pipeline import lower_and_contract
from homodyn.symbolic.passes.trig_expansion import expand_trig_sums
from homodyn.symbolic.passes.trig_factoring import factor_trig_sums
from homodyn.symbolic.slp_packing import pack_program

COUNT = 11


def coupled(p, done, weights, biases, rates):
    """Phases that pull at each other; one Euler step, at rest once the first has turned enough."""
    pulls = []
    for i in range(COUNT):
        pull = rates[i]
        for j in range(COUNT):
            if i != j:
                pull += weights[i, j] * ca.sin(p[j] - p[i] - biases[i, j])
        pulls.append(pull)
    shifted = ca.if_else(done, p, p + 0.01 * ca.vertcat(*pulls))
    return {
        "p": shifted,
        "done": shifted[0] > 1.5,
        "spread": ca.mmax(p) - ca.mmin(p),
        "none": ca.SX(2, 1),
    }


SIZES = {
    "p": COUNT,
    "done": (),
    "weights": (COUNT, COUNT),
    "biases": (COUNT, COUNT),
    "rates": COUNT,
}


@pytest.fixture(scope="module")
def step():
    return kernel(coupled, SIZES)


def numbers(seed):
    rng = np.random.default_rng(seed)
    return {
        "p": rng.uniform(-1, 1, COUNT),
        "done": 0.0,
        "weights": rng.uniform(0, 1, (COUNT, COUNT)),
        "biases": rng.normal(size=(COUNT, COUNT)),
        "rates": rng.uniform(1, 2, COUNT),
    }


def test_one_state_gets_the_bits_of_a_lane_among_many(step):
    repeated = Scan(step, ("p", "done"), stop="done", packed=True)
    alone = repeated(300, numbers(3), record=("p", "spread", "none"), every=7)
    many = [numbers(seed) for seed in range(20)]
    together = repeated(
        300,
        {name: np.array([one[name] for one in many]) for name in SIZES},
        record=("p", "spread", "none"),
        every=7,
    )
    assert repeated._library("packs") is not None
    for name in ("p", "spread", "none"):
        assert np.array_equal(alone.records[name][0], together.records[name][3])
    assert np.array_equal(alone.states["p"][0], together.states["p"][3])
    assert alone.states["done"] == 1


def test_it_is_the_plain_formula_to_rounding(step):
    plain = Scan(step, ("p", "done"), stop="done")
    packed_steps = Scan(step, ("p", "done"), stop="done", packed=True)
    inputs = numbers(5)
    a, b = (one(100, inputs, record=("p",)).records["p"] for one in (plain, packed_steps))
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-13)
    assert not np.array_equal(a, b)  # sines of sums were taken apart


@pytest.mark.parametrize("lanes", ["1", "2", "4"])
def test_narrow_processors_give_the_same_bits(step, lanes, monkeypatch):
    inputs = numbers(8)
    wide = Scan(step, ("p", "done"), packed=True)(50, inputs)
    monkeypatch.setenv("HOMODYN_LANES", lanes)
    narrow = Scan(step, ("p", "done"), packed=True)(50, inputs)
    assert np.array_equal(wide.states["p"], narrow.states["p"])


def test_few_sines_are_left_and_most_operations_are_packed(step):
    program = lower_graph(step.traced.graph)
    changing = {0, 1}
    shorter = expand_trig_sums(program, changing)

    def moving_sines(one):
        fixed = invariant_values(one, changing)
        return sum(
            i.op in ("sin", "cos") and not f for i, f in zip(one.instructions, fixed, strict=True)
        )

    assert moving_sines(program) == COUNT * (COUNT - 1)
    assert moving_sines(shorter) == 2 * COUNT
    fixed = invariant_values(shorter, changing)
    shorter = contract_fma(shorter, fixed)
    packing, _ = pack_program(shorter, invariant_values(shorter, changing), 8)
    assert packing.work < 0.35 * sum(not given for given in packing.given)


def test_an_angle_that_all_sines_of_a_sum_share_is_taken_out_of_it(step):
    program = lower_graph(step.traced.graph)
    changing = {0, 1}
    factored = factor_trig_sums(program, changing)
    factored = contract_fma(factored, invariant_values(factored, changing))
    fixed = invariant_values(factored, changing)
    moving = [one.op for one, still in zip(factored.instructions, fixed, strict=True) if not still]
    assert moving.count("sin") == moving.count("cos") == COUNT
    # Four for each pair, oscillators that do not pull at themselves filled up with zeros.
    assert sum(moving.count(op) for op in ("fma", "fms", "fnma")) < 4.3 * COUNT**2
    packing, _ = pack_program(factored, fixed, 8)
    assert packing.work < 0.25 * sum(not given for given in packing.given)


def test_values_of_one_vector_do_not_wait_for_each_other(step):
    program = lower_and_contract(step.traced.graph)
    packing, stores = pack_program(program, invariant_values(program, {0, 1}), 4)
    ready = set()
    for vector in packing.vectors:
        assert all(argument in ready for argument in vector.arguments)
        assert all(source is None or source[0] in ready for source in vector.sources)
        ready.add(vector)
    anchored = {}
    for port, entries, vector in stores:
        for lane, entry in enumerate(entries):
            anchored[port, entry] = vector.lanes[lane] if len(vector.lanes) > 1 else vector.lanes[0]
    assert anchored == {(port, entry): value for port, entry, value in program.results}


def test_neighbors_may_take_the_same_number_twice():
    def shared(x):
        return {"x": ca.vertcat(x[0] * x[0], x[1] * x[1], x[2] * x[1], x[3] * x[1])}

    start = {"x": np.array([1.1, 1.2, 0.3, 0.4])}
    scanned = Scan(kernel(shared, {"x": 4}), ("x",), packed=True)(2, start)
    once = start["x"] * start["x"][[0, 1, 1, 1]]
    np.testing.assert_allclose(scanned.states["x"][0], once * once[[0, 1, 1, 1]], rtol=1e-15)


def test_unlike_parts_run_as_a_lane():
    def odd(x):
        return {"x": ca.vertcat(ca.exp(x[0]) / 3, ca.atan(x[0] * x[1]) - 1, x[0] + x[1] ** 3)}

    repeated = Scan(kernel(odd, {"x": 3}), ("x",), packed=True)
    plain = Scan(kernel(odd, {"x": 3}), ("x",))
    start = np.array([0.1, 0.2, 0.3])
    alone = repeated(5, {"x": start}).states["x"][0]
    beside = repeated(5, {"x": np.array([start, start + 0.1])}).states["x"][0]
    assert np.array_equal(alone, beside)
    # A third is had once, and quotients by three are products with it.
    np.testing.assert_allclose(alone, plain(5, {"x": start}).states["x"][0], rtol=1e-14)
    assert repeated._library("packs") is None


def test_a_very_deep_program_runs_as_a_lane():
    def deep(x):
        for _ in range(3000):
            x = ca.sin(x) + 1
        return {"x": x}

    repeated = Scan(kernel(deep, {"x": 16}), ("x",), packed=True)
    assert repeated(2, {"x": np.linspace(0, 1, 16)}).states["x"].shape == (1, 16)


@pytest.mark.parametrize("seed", range(6))
def test_any_program_keeps_its_bits_on_vectors(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    unary = [ca.sin, ca.cos, ca.tanh, ca.fabs, lambda a: -a, lambda a: ca.exp(-(a**2))]
    binary = [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / (2 + b**2),
        ca.fmin,
        lambda a, b: ca.if_else(a < b, a, b / 2),
    ]

    def scrambled(x, fixed):
        layer = [x[k] for k in range(13)]
        for _ in range(4):
            pool = [*layer, *(fixed[k] for k in range(5)), ca.SX(0.7)]
            created = []
            while len(created) < 13:
                # Runs of one operation, as in a network, with arguments in and out of order.
                length = int(rng.integers(1, 8))
                operation = binary[rng.integers(len(binary))]
                single = unary[rng.integers(len(unary))]
                first, second = rng.integers(0, len(pool) - 7, 2)
                jumps = rng.random() < 0.4
                for k in range(length):
                    a = pool[rng.integers(len(pool))] if jumps else pool[first + k]
                    created.append(single(operation(a, pool[second + k])))
            layer = created[:13]
        return {"x": ca.vertcat(*layer), "seen": ca.vertcat(*layer[3:6], x[2], fixed[1], 4.0)}

    monkeypatch.setattr("homodyn.symbolic.scalar_codegen.MAX_VECTOR_OPS_PER_INSTRUCTION", 1e9)
    repeated = Scan(kernel(scrambled, {"x": 13, "fixed": 5}), ("x",), packed=True)
    inputs = {"x": rng.normal(size=(2, 13)), "fixed": rng.normal(size=(2, 5))}
    both = repeated(20, inputs, record=("seen",))
    alone = repeated(20, {name: array[1] for name, array in inputs.items()}, record=("seen",))
    assert repeated._library("packs") is not None
    assert np.array_equal(alone.states["x"][0], both.states["x"][1])
    assert np.array_equal(alone.records["seen"][0], both.records["seen"][1])
