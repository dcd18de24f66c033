"""Solver loops inside traced functions."""

import casadi as ca
import numpy as np
import pytest

from homodyn.errors import KernelError
from homodyn.symbolic import Kernel, Scan, jacobian
from homodyn.symbolic.solver_loop import iterate
from homodyn.symbolic.trace import trace

MAX_TURNS = 60


def heron(a):
    """Square root by Newton's method, with the number of iterations that were needed."""
    x, count, flag, value = (ca.SX.sym(name) for name in ("x", "count", "flag", "value"))
    after = (x + value / x) / 2
    body = ca.Function(
        "heron",
        [ca.vertcat(x, count, flag), value],
        [ca.vertcat(after, count + 1, ca.fabs(after * after - value) > 1e-12 * value)],
    )
    return iterate(body, ca.vertcat(a, 0.0, 1.0), a, MAX_TURNS)


def traced_root():
    def function(a, b):
        shift = ca.sin(b) + a * a
        state = heron(a + 1.0)
        return {"root": state[0] + shift, "turns": state[1], "shift": shift, "zero": ca.SX(1, 1)}

    return trace(function, {"a": (), "b": ()}, {"root": (), "turns": (), "shift": (), "zero": ()})


def test_each_state_iterates_as_often_as_it_needs():
    a = np.concatenate([np.zeros(20), np.geomspace(1e-3, 1e12, 45)])
    b = np.linspace(-2, 2, len(a))
    exact = np.sqrt(a + 1) + np.sin(b) + a**2
    for kernel in (Kernel(traced_root(), mapping=True), Kernel(traced_root(), mapping=True)):
        result = kernel(a=a, b=b)
        np.testing.assert_allclose(result["root"], exact, rtol=1e-12)
        np.testing.assert_array_equal(result["zero"], 0)
        assert result["turns"].min() == 1
        assert 20 < result["turns"].max() < MAX_TURNS
        kernel.compile()


def test_the_bits_do_not_depend_on_neighbors_and_tiers_agree():
    kernel = Kernel(traced_root(), mapping=True).compile()
    if not kernel.compiled:
        pytest.skip("no C compiler")
    a = np.geomspace(1e-3, 1e12, 45)
    together = kernel(a=a, b=np.zeros(45))
    alone = [kernel(a=np.asarray(x), b=np.asarray(0.0)) for x in a]
    interpreted = kernel.as_interpreted()(a=a, b=np.zeros(45))
    for name in ("root", "turns"):
        np.testing.assert_array_equal(together[name], [one[name] for one in alone])
        np.testing.assert_allclose(together[name], interpreted[name], rtol=1e-14)


def scan_kernel():
    def step(x, gain):
        state = heron(x * gain)
        return {"x": 1.0 + state[0], "turns": state[1]}

    return Kernel(trace(step, {"x": (), "gain": ()}, {"x": (), "turns": ()}), mapping=True)


def test_a_scan_repeats_its_loop_in_every_step():
    gain = np.geomspace(0.1, 1e6, 21)
    results = {}
    for native in (True, False):
        scan = Scan(scan_kernel(), ["x"])
        result = scan(7, {"x": np.ones(21), "gain": gain}, record=["turns"], native=native)
        x = np.ones(21)
        for _ in range(7):
            x = 1 + np.sqrt(x * gain)
        np.testing.assert_allclose(result.states["x"], x, rtol=1e-12)
        results[native] = result
    scan = Scan(scan_kernel(), ["x"])
    one = scan(7, {"x": 1.0, "gain": gain[3]}, record=["turns"])
    np.testing.assert_array_equal(one.states["x"][0], results[True].states["x"][3])
    np.testing.assert_array_equal(one.records["turns"][0], results[True].records["turns"][3])
    assert np.ptp(results[True].records["turns"]) > 2


def test_an_unsolvable_state_ends_at_the_limit_and_nan_ends_at_once():
    kernel = Kernel(traced_root(), mapping=True)
    result = kernel(a=np.array([-3.0, np.nan, 1.0]), b=np.zeros(3))
    np.testing.assert_array_equal(result["turns"][:2], [MAX_TURNS, 1])
    assert np.isnan(result["root"][1])


def test_what_has_no_loop_is_refused():
    with pytest.raises(KernelError, match="being traced"):
        heron(ca.SX.sym("a"))
    with pytest.raises(KernelError, match="second"):
        trace(lambda a: heron(a) + heron(2 * a), {"a": ()})
    with pytest.raises(KernelError, match="no derivatives"):
        jacobian(Kernel(traced_root(), mapping=True), "root", "a")
    with pytest.raises(KernelError, match="packed"):
        Scan(scan_kernel(), ["x"], packed=True)
