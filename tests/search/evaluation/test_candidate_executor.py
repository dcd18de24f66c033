import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from homodyn.errors import SearchError
from homodyn.search import PSO, run
from homodyn.search.evaluation import EvaluationStatus
from homodyn.search.jobs import EvaluationSettings, ExecutionSettings
from homodyn.search.stopwatch import Stopwatch
from support.search_objectives import (
    camel,
    camel_batch,
    camel_job,
    child_environment,
    deadly,
    deadly_once,
    greedy,
    hanging,
    slow_camel,
    uninterruptible,
)


def job(**named):
    fields = {
        "optimizer": PSO(12),
        "iterations": 3,
        "run": ExecutionSettings(where="pool", workers=2),
        **named,
    }
    return camel_job(**fields)


def statuses_by_x(study):
    pieces = list(study.all_candidates())
    x = np.concatenate([piece.values[:, 0] for piece in pieces])
    return x, np.concatenate([piece.status for piece in pieces])


@pytest.fixture(scope="module")
def alone():
    return run(job(run=ExecutionSettings(where="serial")), camel).study


def test_a_pool_finds_what_one_process_finds_to_the_bit(alone):
    assert run(job(), slow_camel).study.fingerprint() == alone.fingerprint()


def test_lambdas_and_closures_are_sent_to_workers(alone):
    offset = 0.0
    assert run(job(), lambda p: camel(p) + offset).study.fingerprint() == alone.fingerprint()


def test_batches_are_sent_in_blocks():
    described = job(evaluate=EvaluationSettings(batch=True), optimizer=PSO(100))
    alone = run(described, camel_batch, where="serial").study.fingerprint()
    assert run(described, camel_batch).study.fingerprint() == alone


def test_a_kernel_in_a_file_is_built_by_every_worker(tmp_path):
    (tmp_path / "bowl.py").write_text(
        "from homodyn.symbolic import kernel\n"
        "bowl = kernel(lambda p: (p[0] - 1) ** 2 + p[1] ** 2, p=2)\n"
    )
    described = job(evaluate=EvaluationSettings(python="bowl.py:bowl"), optimizer=PSO(40))
    there = run(described, folder=tmp_path)
    here = run(described, folder=tmp_path, where="serial")
    assert there.failed == 0
    assert there.study.fingerprint() == here.study.fingerprint()


def test_only_the_candidate_that_ends_its_process_fails():
    result = run(job(), deadly)
    x, status = statuses_by_x(result.study)
    assert (x > 1).any()
    assert ((status == EvaluationStatus.CRASHED) == (x > 1)).all()
    assert any("submitted again" in note for note in result.notes)


def test_candidates_of_a_killed_process_are_evaluated_again(alone, tmp_path):
    flag = tmp_path / "killed"
    described = job(evaluate=EvaluationSettings(settings={"flag": str(flag)}))
    result = run(described, deadly_once)
    assert flag.exists()
    assert result.failed == 0
    assert any("a worker process ended" in note for note in result.notes)
    a, b = (study.candidates(0, 3) for study in (result.study, alone))
    np.testing.assert_array_equal(a.values, b.values)
    np.testing.assert_array_equal(a.results, b.results)


def test_workers_killed_from_outside_are_replaced(tmp_path):
    # The tests themselves are a process: only children of this run are looked for.
    import psutil

    def kill_some():
        deadline = time.monotonic() + 300
        killed = killed_in = 0
        while killed < 2 and time.monotonic() < deadline:
            time.sleep(0.3)
            # A candidate whose worker is lost twice counts as failed, so the first is completed.
            if killed and generations[-1] < killed_in + 2:
                continue
            with contextlib.suppress(psutil.Error):
                # Grandchildren: processes that the fork server has forked.
                for child in psutil.Process().children(recursive=True):
                    if child.pid not in before and child.ppid() != os.getpid():
                        child.kill()
                        killed, killed_in = killed + 1, generations[-1]
                        break
        kills.append(killed)

    kills: list[int] = []
    generations = [0]
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    thread = threading.Thread(target=kill_some)
    described = job(iterations=30)
    thread.start()
    result = run(described, slow_camel, progress=lambda at: generations.append(at.generation))
    thread.join()
    assert kills[0] == 2
    assert result.status == "finished"
    assert result.failed == 0
    expected = run(described, camel, where="serial").study.fingerprint()
    assert result.study.fingerprint() == expected


@pytest.mark.parametrize(
    "grade", [hanging, uninterruptible], ids=["sleeping", "blocking exceptions"]
)
def test_a_candidate_that_hangs_is_stopped_and_the_others_continue(grade):
    described = job(
        iterations=1, optimizer=PSO(6), seed=3, evaluate=EvaluationSettings(time_limit=2.0)
    )
    result = run(described, grade)
    x, status = statuses_by_x(result.study)
    assert (x > 1).sum() == 1
    assert ((status == EvaluationStatus.SLOW) == (x > 1)).all()
    assert (status[x <= 1] == EvaluationStatus.OK).all()


def test_a_candidate_that_takes_all_memory_is_stopped():
    result = run(job(iterations=1, evaluate=EvaluationSettings(memory_limit=1000)), greedy)
    x, status = statuses_by_x(result.study)
    assert (x > 1).any()
    assert ((status == EvaluationStatus.MEMORY) == (x > 1)).all()


def test_functions_that_cannot_be_sent_are_refused():
    lock = threading.Lock()

    def grade(parameters):
        with lock:
            return camel(parameters)

    with pytest.raises(SearchError, match="cannot be sent to other processes"):
        run(job(), grade)


def test_no_process_outlives_the_run(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, sys, time
            from homodyn.search import minimize, PSO

            def grade(p):
                open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
                time.sleep(0.2)
                return p["x"]

            if __name__ == "__main__":
                minimize(grade, {"x": (0, 1)}, iterations=1000, optimizer=PSO(8),
                         run={"workers": 2}, where="pool")
            """
        )
    )
    marks = tmp_path / "marks"
    marks.mkdir()
    process = subprocess.Popen([sys.executable, str(script), str(marks)], env=child_environment())
    deadline = time.monotonic() + 300
    while len(list(marks.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    workers = [int(path.name) for path in marks.iterdir()]
    assert len(workers) == 2
    deadline = time.monotonic() + 300
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(alive, workers))


def test_a_run_that_is_stopped_ends_its_worker_processes(tmp_path, capfd, monkeypatch):
    def endless(parameters):
        (tmp_path / str(os.getpid())).touch()
        time.sleep(60)
        return camel(parameters)

    def has_workers(stopwatch):
        return stopwatch.remaining < float("inf") and any(tmp_path.iterdir())

    # The time limit is reached when a worker evaluates, however long its start takes.
    monkeypatch.setattr(Stopwatch, "expired", property(has_workers))
    result = run(job(), endless, stop_after=3600.0)
    assert result.status == "stopped"
    assert not result.study.statuses()
    workers = [int(path.name) for path in tmp_path.iterdir()]
    assert workers
    deadline = time.monotonic() + 300
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, workers))
    assert "Error" not in capfd.readouterr().err


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
