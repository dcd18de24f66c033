"""Kernels known by a text: derived when there is no library, and never when there is one."""

import subprocess
import time

import casadi as ca
import numpy as np
import pytest

from homodyn.symbolic import build_queue, cache
from homodyn.symbolic.compiler import find_compiler
from homodyn.symbolic.lazy_kernel import DerivedGraph, LazyKernel
from homodyn.symbolic.trace import Port

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HOMODYN_TIER", raising=False)


def wave(counted, text="wave"):
    """sin(x_k) y as three numbers, and the entries of a diagonal matrix."""

    def derive():
        counted.append(text)
        x, y = ca.SX.sym("x", 3), ca.SX.sym("y")
        graph = ca.Function("wave", [x, y], [ca.sin(x) * y, ca.cos(x)])
        return DerivedGraph(graph, np.array([[0, 1, 2], [0, 1, 2]]))

    ports = [Port("x", (3,)), Port("y", ())]
    return LazyKernel("wave", (text,), ports, derive)


X = np.random.default_rng(5).normal(size=(11, 3))
Y = np.linspace(1.0, 2.0, 11)[:, None]


def expected():
    return np.sin(X) * Y, np.cos(X)


def test_without_a_library_the_virtual_machine_answers():
    counted = []
    kernel = wave(counted)
    for got, wanted in zip(kernel(X, Y), expected(), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-14)
    assert counted == ["wave"]
    assert not kernel.compiled


@needs_compiler
def test_a_cached_library_answers_and_knows_its_places_without_deriving_anything():
    counted = []
    wave(counted).compile()
    assert counted == ["wave"]
    counted.clear()
    kernel = wave(counted)
    assert kernel.compiled
    np.testing.assert_array_equal(kernel.entries, [[0, 1, 2], [0, 1, 2]])
    for got, wanted in zip(kernel(X, Y), expected(), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-14)
    assert counted == []


@needs_compiler
def test_another_text_is_another_kernel():
    wave([]).compile()
    assert not wave([], "another").compiled


@needs_compiler
def test_inputs_with_one_row_are_those_of_all_states():
    kernel = wave([]).compile()
    np.testing.assert_allclose(kernel(X, Y[:1])[0], np.sin(X) * Y[0], rtol=1e-14)


@needs_compiler
def test_native_code_takes_over_once_another_process_has_built_it(monkeypatch):
    monkeypatch.setenv("HOMODYN_BACKGROUND", "")
    monkeypatch.setattr("homodyn.symbolic.lazy_kernel.INTERPRETED_SECONDS_BEFORE_BUILD", 0.0)
    kernel = wave([])
    before = kernel(X, Y)
    assert not kernel.compiled
    ends = time.perf_counter() + 60
    while not kernel.compiled and time.perf_counter() < ends:
        time.sleep(0.05)
    assert kernel.compiled
    np.testing.assert_allclose(kernel(X, Y)[0], before[0], rtol=1e-14)
    while build_queue.pending_jobs() and time.perf_counter() < ends:
        time.sleep(0.05)
    assert build_queue.pending_jobs() == 0


def test_nothing_is_started_where_that_is_turned_off(monkeypatch):
    def never(*_, **__):
        raise AssertionError("a process was started")

    monkeypatch.setenv("HOMODYN_BACKGROUND", "off")
    monkeypatch.setattr(subprocess, "Popen", never)
    monkeypatch.setattr("homodyn.symbolic.lazy_kernel.INTERPRETED_SECONDS_BEFORE_BUILD", 0.0)
    kernel = wave([])
    for _ in range(3):
        kernel(X, Y)
    assert not (cache.folder() / build_queue.QUEUE).exists()


@needs_compiler
def test_a_job_that_cannot_be_read_does_not_stop_the_others():
    queue = cache.folder() / build_queue.QUEUE
    queue.mkdir(parents=True)
    (queue / "broken.json").write_text("{")
    kernel = wave([])
    job = kernel._native.job(find_compiler())
    (queue / f"{job.key}.json").write_text(job.to_text())
    build_queue.drain_queue()
    assert build_queue.pending_jobs() == 0
    assert wave([]).compiled
