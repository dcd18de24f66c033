"""The background builder: announced, limited in time, and easy to turn off."""

import subprocess
import time

import casadi as ca
import pytest

from homodyn.symbolic import build_queue, cache
from homodyn.symbolic.codegen import CSource
from homodyn.symbolic.compiler import CompileFailed, build, find_compiler
from homodyn.symbolic.trace import Port

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_CACHE", str(tmp_path))
    return tmp_path


def job(key="0" * 64):
    x = ca.SX.sym("x", 2)
    graph = ca.Function("square", [x], [x * x])
    return build_queue.BuildJob(key, graph, (Port("x", (2,)),), [1, 1, 2, 0])


def test_a_started_builder_is_announced_in_one_line(monkeypatch, capsys):
    monkeypatch.setenv("HOMODYN_BACKGROUND", "")
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda *arguments, **named: started.append(arguments))
    assert build_queue.submit(job())
    assert len(started) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert "HOMODYN_BACKGROUND=off" in printed.err
    assert "10 min at most" in printed.err


def test_a_turned_off_builder_neither_starts_nor_prints(monkeypatch, capsys):
    monkeypatch.setenv("HOMODYN_BACKGROUND", "off")
    assert not build_queue.submit(job())
    assert capsys.readouterr().err == ""


@needs_compiler
def test_the_builder_leaves_jobs_that_it_has_no_time_for():
    queue = cache.folder() / build_queue.QUEUE
    queue.mkdir()
    (queue / f"{job().key}.json").write_text(job().to_text())
    build_queue.drain_queue(seconds=0.0)
    assert build_queue.pending_jobs() == 1
    build_queue.drain_queue()
    assert build_queue.pending_jobs() == 0
    assert cache.find(job().key) is not None


@needs_compiler
def test_a_compiler_run_ends_at_the_deadline(tmp_path):
    source = CSource((("kernel.c", "int run(void) { return 0; }\n"),))
    with pytest.raises(CompileFailed, match="the time limit has passed"):
        build(source, find_compiler(), tmp_path / "x.so", 1, deadline=time.monotonic() - 1)
