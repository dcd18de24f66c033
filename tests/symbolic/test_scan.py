"""Steps repeated in native code, against the same steps called one by one."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.symbolic import Scan, kernel


def swing(q, v, t, push, gain):
    """A chain of pendulums, one step of semi-implicit Euler."""
    a = -9.81 * ca.sin(q) - gain * v + push
    speed = v + 0.01 * a
    return {
        "q": q + 0.01 * speed,
        "v": speed,
        "t": t + 0.01,
        "energy": ca.dot(v, v) / 2 - 9.81 * ca.sum1(ca.cos(q)),
        "height": -ca.cos(q),
        "zero": ca.SX(2, 1),
    }


SIZES = {"q": 3, "v": 3, "t": (), "push": 3, "gain": ()}


@pytest.fixture(scope="module")
def step():
    return kernel(swing, SIZES)


def one_by_one(step, steps, inputs, sampled, every):
    """The loop in Python over the compiled kernel."""
    step.compile()
    now = dict(inputs)
    kept = []
    for k in range(steps):
        rows = sampled.shape[-2]
        now["push"] = sampled[..., k // -(-steps // rows), :]
        result = step(**now)
        if k % every == 0:
            kept.append(result)
        now.update({name: result[name] for name in ("q", "v", "t")})
    return now, kept


@pytest.mark.parametrize("lanes", [1, 3, 8, 21, 150])
def test_steps_in_native_code_are_those_taken_one_by_one(step, lanes):
    rng = np.random.default_rng(lanes)
    inputs = {
        "q": rng.normal(size=(lanes, 3)),
        "v": rng.normal(size=(lanes, 3)),
        "t": np.zeros(lanes),
        "gain": rng.uniform(0, 1, lanes),
    }
    push = rng.normal(size=(lanes, 5, 3))
    repeated = Scan(step, ("q", "v", "t"))
    assert repeated.compiled
    scanned = repeated(
        23, inputs, sampled={"push": push}, record=("energy", "height", "zero"), every=4
    )
    final, kept = one_by_one(step, 23, inputs, push, 4)
    for name in ("q", "v", "t"):
        assert np.array_equal(scanned.states[name], final[name])
    for name in ("energy", "height", "zero"):
        assert scanned.records[name].shape[:2] == (lanes, 6)
        expected = np.stack([result[name] for result in kept], axis=1)
        assert np.array_equal(scanned.records[name], expected)


def test_bits_depend_neither_on_threads_nor_on_neighbors(step):
    rng = np.random.default_rng(0)
    lanes = 77
    inputs = {
        "q": rng.normal(size=(lanes, 3)),
        "v": np.zeros(3),
        "t": 0.0,
        "gain": rng.uniform(0, 1, lanes),
        "push": np.zeros(3),
    }
    repeated = Scan(step, ("q", "v", "t"))
    one = repeated(200, inputs, record=("energy",), threads=1)
    two = repeated(200, inputs, record=("energy",), threads=2)
    assert np.array_equal(one.states["q"], two.states["q"])
    assert np.array_equal(one.records["energy"], two.records["energy"])
    for lane in (0, 7, 76):
        alone = {**inputs, "q": inputs["q"][lane], "gain": inputs["gain"][lane]}
        single = repeated(200, alone, record=("energy",))
        assert np.array_equal(single.states["q"][0], one.states["q"][lane])
        assert np.array_equal(single.records["energy"][0], one.records["energy"][lane])


def test_without_a_compiler_the_virtual_machine_takes_the_steps(step, monkeypatch):
    rng = np.random.default_rng(1)
    inputs = {"q": rng.normal(size=(9, 3)), "v": np.zeros(3), "t": 0.0, "gain": 0.1}
    push = rng.normal(size=(4, 3))
    arguments = {"sampled": {"push": push}, "record": ("energy",), "every": 3}
    native = Scan(step, ("q", "v", "t"))(50, inputs, **arguments)
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")
    slow = Scan(step, ("q", "v", "t"))
    assert not slow.compiled
    scanned = slow(50, inputs, **arguments)
    np.testing.assert_allclose(scanned.states["q"], native.states["q"], atol=1e-12)
    np.testing.assert_allclose(scanned.records["energy"], native.records["energy"], atol=1e-11)


def test_lanes_that_stand_still_are_left_alone(monkeypatch):
    def countdown(n, done):
        running = done == 0
        left = ca.if_else(running, n - 1, n)
        return {"n": left, "done": ca.if_else(left <= 0, 1.0, done), "seen": n}

    step = kernel(countdown, n=(), done=())
    starts = np.arange(1.0, 31.0)
    inputs = {"n": starts, "done": 0.0}
    scanned = Scan(step, ("n", "done"), stop="done")(1000, inputs, record=("seen",), every=10)
    assert np.all(scanned.states["n"] == 0)
    assert np.all(scanned.states["done"] == 1)
    expected = np.maximum(starts[:, None] - 10.0 * np.arange(100), 0)
    assert np.array_equal(scanned.records["seen"], expected)


@pytest.mark.parametrize("native", [True, False])
def test_a_last_look_leaves_the_states_where_they_were(step, native):
    inputs = {"q": np.ones((9, 3)), "v": np.zeros(3), "t": 0.0, "gain": 0.1, "push": np.zeros(3)}
    repeated = Scan(step, ("q", "v", "t"))
    plain = repeated(7, inputs, native=native)
    looked = repeated(8, inputs, native=native, peek_last_step=True, record=("energy",))
    assert np.array_equal(looked.states["q"], plain.states["q"])
    assert looked.records["energy"].shape == (9, 8)


def test_no_steps_give_back_the_states(step):
    inputs = {"q": np.ones((4, 3)), "v": np.zeros(3), "t": 0.0, "gain": 0.1, "push": np.zeros(3)}
    scanned = Scan(step, ("q", "v", "t"))(0, inputs, record=("energy",))
    assert np.array_equal(scanned.states["q"], np.ones((4, 3)))
    assert scanned.records["energy"].shape == (4, 0)


def test_what_does_not_fit_is_refused(step):
    with pytest.raises(hd.KernelError, match="no output 'gain'"):
        Scan(step, ("gain",))
    fits = {"q": np.ones(3), "v": np.ones(3), "t": 0.0, "gain": 0.1, "push": np.zeros(3)}
    repeated = Scan(step, ("q", "v", "t"))
    with pytest.raises(hd.KernelError, match=r"input 'q' has shape \(4,\)"):
        repeated(3, {**fits, "q": np.ones(4)})
    with pytest.raises(hd.KernelError, match="different batch sizes: 5, 7"):
        repeated(3, {**fits, "q": np.ones((5, 3)), "v": np.ones((7, 3))})
    with pytest.raises(hd.KernelError, match="takes q, v, t, push, gain"):
        repeated(3, {"q": np.ones(3)})
    grown = kernel(lambda x: {"x": ca.vertcat(x, x)}, x=2)
    with pytest.raises(hd.KernelError, match="must keep its shape"):
        Scan(grown, ("x",))


def test_records_go_into_a_given_array():
    created = kernel(lambda x: {"x": 0.5 * x}, {"x": 2})
    kept = np.zeros((4, 2))
    Scan(created, ("x",))(3, {"x": np.ones(2)}, record=["x"], out={"x": kept[1:]})
    assert kept.tolist() == [[0, 0], [0.5, 0.5], [0.25, 0.25], [0.125, 0.125]]
