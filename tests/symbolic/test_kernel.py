"""Kernels: batch shapes, tiers, bits that depend on nothing but the state."""

import os
import subprocess
import sys
import threading

import casadi as ca
import numpy as np
import pytest
import scipy.special

from homodyn.errors import KernelError
from homodyn.symbolic import Kernel, kernel
from homodyn.symbolic.codegen import generate
from homodyn.symbolic.compiler import find_compiler
from homodyn.symbolic.passes.pipeline import lower_and_contract

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HOMODYN_TIER", raising=False)


def pendulum(q, v, gain):
    energy = 0.5 * v[0] ** 2 - 9.81 * ca.cos(q[0])
    force = ca.vertcat(ca.sin(q) * v, gain * q / (1 + q**2))
    return energy, force, ca.horzcat(q, v)


SHAPES = {"q": 2, "v": 2, "gain": ()}


def expected(q, v, gain):
    energy = 0.5 * v[..., 0] ** 2 - 9.81 * np.cos(q[..., 0])
    tail = gain[..., None] * q / (1 + q**2)
    force = np.concatenate(np.broadcast_arrays(np.sin(q) * v, tail), axis=-1)
    return energy, force, np.stack(np.broadcast_arrays(q, v), axis=-1)


BOTH_TIERS = [
    pytest.param(False, id="interpreted"),
    pytest.param(True, id="compiled", marks=needs_compiler),
]


def created(compiled: bool, function=pendulum, shapes=SHAPES) -> Kernel:
    result = kernel(function, shapes)
    return result.compile() if compiled else result


@pytest.mark.parametrize("compiled", BOTH_TIERS)
@pytest.mark.parametrize("batch", [(), (1,), (3,), (8,), (17,), (2, 5), (0,), (3, 0, 2), (1000,)])
def test_any_leading_batch_shape_is_answered(compiled, batch):
    rng = np.random.default_rng(1)
    q, v, gain = rng.normal(size=(*batch, 2)), rng.normal(size=(*batch, 2)), rng.normal(size=batch)
    function = created(compiled)
    assert function.compiled == compiled
    for got, wanted in zip(function(q, v, gain), expected(q, v, gain), strict=True):
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("compiled", BOTH_TIERS)
def test_batches_broadcast_and_need_not_be_contiguous(compiled):
    rng = np.random.default_rng(2)
    function = created(compiled)
    q = rng.normal(size=(4, 1, 2))
    v = rng.normal(size=(5, 2))
    wanted = expected(q, v, np.array(0.3))
    for got, want in zip(function(q, v, 0.3), wanted, strict=True):
        np.testing.assert_allclose(got, np.broadcast_to(want, got.shape), rtol=1e-14, atol=1e-14)
    wide = rng.normal(size=(30, 6))
    views = [wide[:, 1:3], wide[::-1, 2:4], wide[::3, ::2][:, :2], np.asfortranarray(wide)[:, :2]]
    for view in views:
        got = function(view, view, np.float32(0.5))
        for a, b in zip(got, expected(view, view, np.array(0.5)), strict=True):
            np.testing.assert_allclose(a, np.broadcast_to(b, a.shape), rtol=1e-14, atol=1e-14)


def test_arguments_go_by_name_too():
    function = created(False)
    q, v = np.ones(2), np.zeros(2)
    np.testing.assert_array_equal(function(q, gain=2, v=v)[1], function(q, v, 2)[1])


def test_a_mapping_of_outputs_comes_back_as_one():
    function = kernel(lambda x: {"twice": 2 * x, "sum": ca.sum1(x)}, x=3)
    result = function(np.arange(3.0))
    assert result["sum"] == 3.0
    np.testing.assert_array_equal(result["twice"], [0, 2, 4])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(3), np.zeros(2), 0), r"input 'q' has shape \(3,\), \(\.\.\., 2\) is needed"),
        ((np.zeros(2), np.zeros((2, 3)), 0), r"input 'v'"),
        ((np.zeros((2, 2)), np.zeros((3, 2)), 0), r"do not broadcast: q \(2,\), v \(3,\)"),
        ((np.zeros(2),), r"takes 3 arguments \(q, v, gain\), not 1"),
        ((np.zeros(2) * 1j, np.zeros(2), 0), r"complex128, real numbers are needed"),
        ((np.array(["a", "b"]), np.zeros(2), 0), r"real numbers are needed"),
    ],
)
def test_a_call_that_does_not_fit_says_what_would(arguments, message):
    with pytest.raises(KernelError, match=message):
        created(False)(*arguments)


@pytest.mark.parametrize("name", ["two  words, and more", "null", "ÅÄ", "__", ""])
def test_any_name_will_do(name):
    assert kernel(lambda x: 2 * x, x=1, name=name)(np.ones(1)) == 2.0


def test_unknown_argument_names_are_listed():
    with pytest.raises(KernelError, match="missing: gain, unknown or given twice: gian"):
        created(False)(np.zeros(2), np.zeros(2), gian=1)


def test_a_function_of_other_symbols_is_refused():
    stray = ca.SX.sym("stray")
    with pytest.raises(KernelError, match="stray"):
        kernel(lambda x: x * stray, x=2)


@needs_compiler
@pytest.mark.parametrize("lanes", ["1", "2", "4", "8"])
def test_bits_depend_neither_on_lanes_nor_threads_nor_position(monkeypatch, lanes):
    rng = np.random.default_rng(3)
    states = 4001
    q, v = rng.normal(size=(states, 2)) * 3, rng.normal(size=(states, 2))
    reference = created(True, wild, SHAPES)(q, v, 0.7)
    monkeypatch.setenv("HOMODYN_LANES", lanes)
    function = created(True, wild, SHAPES)
    for threads in ("1", "2"):
        monkeypatch.setenv("HOMODYN_THREADS", threads)
        assert function(q, v, 0.7).tobytes() == reference.tobytes()
    for k in (0, 1, 7, 8, 2000, states - 1):
        assert function(q[k], v[k], 0.7).tobytes() == reference[k].tobytes()
    shifted = function(q[3:50], v[3:50], np.full(47, 0.7))
    assert shifted.tobytes() == reference[3:50].tobytes()


def wild(q, v, gain):
    """Every kind of elementary function, and products that can be fused."""
    x, y = q[0], v[1]
    terms = [ca.sin(x), ca.cos(y), ca.tan(x), ca.asin(ca.tanh(x)), ca.acos(ca.tanh(y)), ca.atan(x)]
    terms += [ca.atan2(x, y), ca.exp(x), ca.log(1 + x * x), ca.sqrt(1 + y * y), ca.fabs(x) ** gain]
    terms += [ca.fmod(x, 0.3), ca.floor(x * 10), ca.ceil(y), ca.sign(x), ca.fmin(x, y)]
    terms += [ca.fmax(x, y), ca.if_else(x < y, x, y * y), x * y + gain, x - y * gain, x * x - y]
    terms += [ca.sinh(x), ca.cosh(y), ca.erf(x), ca.log1p(x * x), ca.expm1(y), ca.hypot(x, y)]
    return ca.vertcat(*terms)


@needs_compiler
def test_tiers_agree_on_every_elementary_function():
    rng = np.random.default_rng(4)
    q, v = rng.normal(size=(500, 2)) * 2, rng.normal(size=(500, 2))
    interpreted = created(False, wild)(q[:, None], v[:, None], 1.3)
    np.testing.assert_allclose(
        created(True, wild)(q[:, None], v[:, None], 1.3), interpreted, rtol=1e-14, atol=1e-15
    )


UNARY = "neg exp log sqrt sq twice sin cos tan asin acos atan not floor ceil fabs sign erf inv sinh"
UNARY += " cosh tanh asinh acosh atanh log1p expm1 erfinv"
BINARY = (
    "add sub mul div pow constpow lt le eq ne and or fmod copysign if_else_zero fmin fmax atan2"
)
BINARY += " hypot remainder"


def test_the_lists_of_operations_are_complete():
    from homodyn.symbolic.passes.lowering import OPERATIONS

    assert set(OPERATIONS.values()) == set(UNARY.split()) | set(BINARY.split())


@needs_compiler
def test_each_operation_gives_the_same_on_both_tiers():
    def all_of_them(x, y):
        one = [ca.SX.unary(getattr(ca, f"OP_{name.upper()}"), x) for name in UNARY.split()]
        two = [ca.SX.binary(getattr(ca, f"OP_{name.upper()}"), x, y) for name in BINARY.split()]
        return ca.vertcat(*one, *two)

    rng = np.random.default_rng(6)
    special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan]
    x, y = (part.ravel() for part in np.meshgrid(special, special))
    x = np.concatenate([x, rng.uniform(-1, 1, 100), rng.normal(size=100) * 20])
    y = np.concatenate([y, rng.uniform(-1, 1, 100), rng.normal(size=100) * 3])
    interpreted = kernel(all_of_them, x=(), y=())(x, y)
    compiled = kernel(all_of_them, x=(), y=()).compile()(x, y)
    names = [*UNARY.split(), *BINARY.split()]
    # CasADi's own erfinv is good to 1e-6 only.
    interpreted[:, names.index("erfinv")] = scipy.special.erfinv(x)
    for k, name in enumerate(names):
        np.testing.assert_allclose(
            compiled[:, k], interpreted[:, k], rtol=1e-13, atol=1e-300, err_msg=name
        )


@needs_compiler
def test_a_large_batch_pays_for_compiling_and_a_single_call_does_not():
    function = created(False)
    function(np.zeros(2), np.zeros(2), 1.0)
    assert not function.compiled
    function(np.zeros((200_000, 2)), np.zeros(2), 1.0)
    assert function.compiled


@needs_compiler
def test_many_small_calls_compile_in_the_background():
    function = created(False)
    states = np.zeros((2000, 2))
    for _ in range(200):
        function(states, states, 1.0)
        if function._native.build_thread is not None:
            break
    assert function._native.build_thread is not None
    function._native.build_thread.join()
    assert function.compiled


@needs_compiler
def test_threads_may_call_one_kernel_at_once():
    rng = np.random.default_rng(5)
    for compiled in (False, True):
        function = created(compiled)
        q = rng.normal(size=(40, 200, 2))
        wanted = [function(x, x, 1.0)[1] for x in q]
        got: list = [None] * len(q)

        def work(start, function=function, got=got, q=q):
            for k in range(start, len(q), 4):
                got[k] = function(q[k], q[k], 1.0)[1]

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for a, b in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(a, b)


def test_without_a_compiler_the_interpreter_serves_and_one_line_says_so(tmp_path):
    """In a process of its own: the remark is made once for each."""
    script = """
import warnings, numpy as np
from homodyn.symbolic import kernel, machine
assert machine().compiler is None
k = kernel(lambda x: x * x, x=2)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    k.compile()
    for _ in range(3):
        assert (k(np.full((100000, 2), 3.0)) == 9.0).all()
assert not k.compiled
assert len(said) == 1, said
assert "no C compiler" in str(said[0].message)
"""
    empty = tmp_path / "bin"
    empty.mkdir()
    environment = {**os.environ, "PATH": str(empty), "CC": ""}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@needs_compiler
def test_a_long_function_is_cut_into_pieces_that_agree_with_the_interpreter():

    def long(x):
        for _ in range(4):
            x = 0.1 * (x @ x) + x
        return x

    function = kernel(long, x=(14, 14))
    assert len(lower_and_contract(function.traced.graph)) > 10_000
    assert (
        len(
            generate(
                lower_and_contract(function.traced.graph), function.inputs, function.outputs, 8
            ).files
        )
        > 8
    )
    x = np.random.default_rng(0).normal(size=(20, 14, 14)) * 0.1
    wanted = function(x)
    np.testing.assert_allclose(function.compile()(x), wanted, rtol=1e-12, atol=1e-15)
    assert function.compiled


@needs_compiler
def test_memory_of_a_batch_stays_within_three_times_its_arrays():
    script = """
import resource, numpy as np, casadi as ca
from homodyn.symbolic import kernel
k = kernel(lambda x, y: ca.vertcat(x + y, ca.sin(x)), x=50, y=50).compile()
x = np.ones((200_000, 50)); y = np.ones((200_000, 50))
small = k(x[:100], y[:100])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
out = k(x, y)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
grown = (after - before) * 1024
arrays = x.nbytes + y.nbytes + out.nbytes
assert x.nbytes + y.nbytes + grown <= 3 * arrays, (grown, arrays)
assert grown <= 1.2 * out.nbytes, (grown, out.nbytes)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_an_interpreted_twin_stays_interpreted_and_agrees() -> None:
    usual = kernel(lambda x: ca.sin(x) * x, x=3)
    twin = usual.as_interpreted()
    usual.compile()
    x = np.random.default_rng(0).normal(size=(2000, 3))
    assert np.allclose(twin(x), usual(x), rtol=1e-14)
    assert not twin.compile().compiled
