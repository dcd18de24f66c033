"""Searches on a Dask scheduler and workers that run as processes on loopback."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from homodyn.errors import SearchError
from homodyn.foundation.executors.dask_cluster import DaskExecutor
from homodyn.search import PSO, run
from homodyn.search.evaluation import EvaluationStatus
from homodyn.search.jobs import EvaluationSettings, ExecutionSettings
from support.search_objectives import (
    broken_on_marked_node,
    camel,
    camel_job,
    deadly_once,
    slow_camel,
)
from support.waiting import until

distributed = pytest.importorskip("distributed")


def job(**named):
    fields = {"optimizer": PSO(12), "iterations": 4, **named}
    return camel_job(**fields)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Machines:
    """A scheduler and workers as separate processes."""

    def __init__(self):
        port = free_port()
        self.address = f"tcp://127.0.0.1:{port}"
        self.processes = [
            self._start("distributed.cli.dask_scheduler", f"--port={port}", "--host=127.0.0.1")
        ]
        self.client = None
        deadline = time.monotonic() + 300
        while self.client is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError, TimeoutError):
                self.client = distributed.Client(self.address, timeout=5, set_as_default=False)

    def _start(self, module, *words, **environment):
        command = [sys.executable, "-m", module, *words, "--no-dashboard"]
        return subprocess.Popen(
            command,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
                "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "60s",
                **environment,
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def add(self, name, **environment):
        process = self._start(
            "distributed.cli.dask_worker",
            self.address,
            f"--name={name}",
            "--nthreads=1",
            "--nworkers=1",
            "--no-nanny",
            # The first import takes longer than the searches below.
            "--preload=homodyn.search.evaluation.worker",
            "--host=127.0.0.1",
            **environment,
        )
        self.processes.append(process)
        return process

    def names(self):
        return {w["name"] for w in self.client.scheduler_info(n_workers=-1)["workers"].values()}

    def expect(self, *names):
        deadline = time.monotonic() + 300
        while self.names() != set(names) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert self.names() == set(names)

    def close(self):
        if self.client is not None:
            self.client.close()
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def machines():
    several = Machines()
    try:
        several.add("anna")
        several.add("berta")
        several.expect("anna", "berta")
        yield several
    finally:
        several.close()


def test_a_cluster_finds_what_one_process_finds(machines):
    alone = run(job(run=ExecutionSettings(where="serial")), camel).study
    result = run(job(), slow_camel, where=machines.address)
    assert result.study.fingerprint() == alone.fingerprint()
    nodes = {node for piece in result.study.all_candidates() for node in piece.node}
    assert nodes == {"anna", "berta"}


def test_a_run_on_a_cluster_is_stopped_and_resumed(machines, tmp_path):
    described = job(iterations=8)
    alone = run(described, camel, where="serial").study
    flag = tmp_path / "resumed"

    def waits_when_it_is_not_resumed(parameters):
        # However fast or slow the machine is, the first run ends by its time limit.
        while parameters["x"] > 0 and not flag.exists():
            time.sleep(0.05)
        return camel(parameters)

    database = tmp_path / "a.db"
    stopped = run(
        described,
        waits_when_it_is_not_resumed,
        where=machines.address,
        database=database,
        stop_after=0.6,
    )
    assert stopped.status == "stopped"
    flag.touch()
    whole = run(described, waits_when_it_is_not_resumed, where=machines.address, database=database)
    assert whole.status == "finished"
    assert whole.study.fingerprint() == alone.fingerprint()


def test_functions_of_this_process_are_sent_to_the_cluster(machines):
    offset = 3.0
    result = run(job(iterations=1), lambda p: p["x"] + offset, where=machines.address)
    assert result.failed == 0


def test_a_hanging_candidate_is_stopped_on_a_cluster(machines):
    def looping(parameters):
        while parameters["x"] > 1:
            pass
        return parameters["x"]

    described = job(iterations=1, evaluate=EvaluationSettings(time_limit=2.0))
    result = run(described, looping, where=machines.address)
    rows = result.study.candidates(0)
    assert (rows.values[:, 0] > 1).any()
    assert ((rows.status == EvaluationStatus.SLOW) == (rows.values[:, 0] > 1)).all()
    machines.expect("anna", "berta")


def test_a_missing_scheduler_is_reported(machines):
    address = f"tcp://127.0.0.1:{free_port()}"
    from homodyn.foundation.executors import dask_cluster as cluster

    cluster.SCHEDULER_TIMEOUT_S, before = 1.0, cluster.SCHEDULER_TIMEOUT_S
    try:
        with pytest.raises(SearchError, match="no Dask scheduler answers"):
            run(job(), camel, where=address)
    finally:
        cluster.SCHEDULER_TIMEOUT_S = before


def test_two_clients_share_a_worker_by_priority_and_cost(machines, tmp_path):
    # All tasks wait on one worker before the first one starts, so that neither the load of the
    # machine nor measured times influence their order.
    gate, log = tmp_path / "gate", tmp_path / "log"

    def wait_for_gate():
        while not gate.exists():
            time.sleep(0.01)

    def append(name):
        with log.open("a") as file:
            file.write(f"{name}\n")

    def tasks_on(dask_worker):
        return len(dask_worker.state.tasks)

    blocker = machines.client.submit(wait_for_gate, workers=["anna"], pure=False)
    until(lambda: blocker.key in str(machines.client.processing()), "the gate", patience=300.0)
    costs, counts = {"low": 3.0, "high": 1.0}, {"low": 8, "high": 72}
    clients = {
        name: DaskExecutor(machines.address, priority=priority, label=name)
        for name, priority in (("low", 1.0), ("high", 3.0))
    }
    try:
        futures = [
            client.submit(append, name, cost=costs[name], avoid={"berta"})
            for name, client in clients.items()
            for _ in range(counts[name])
        ]
        workers = machines.client.scheduler_info(n_workers=-1)["workers"]
        (anna,) = [address for address, info in workers.items() if info["name"] == "anna"]
        everything = 1 + sum(counts.values())
        until(
            lambda: machines.client.run(tasks_on, workers=[anna])[anna] >= everything,
            "tasks on the worker",
            patience=300.0,
        )
        gate.touch()
        for future in futures:
            future.result(timeout=300)
    finally:
        gate.touch()
        for client in clients.values():
            client.shutdown()
    order = log.read_text().split()
    assert {name: order.count(name) for name in counts} == counts
    # A task starts when its client has had the time of its earlier tasks divided by the priority.
    virtual = {"low": iter(np.arange(8) * 3.0 / 1.0), "high": iter(np.arange(72) * 1.0 / 3.0)}
    starts = [next(virtual[name]) for name in order]
    assert starts == sorted(starts)
    # Three times the priority is three times the time: 9 tasks of 1 s to one task of 3 s.
    half = order[: len(order) // 2]
    assert half.count("high") * 1.0 == pytest.approx(3.0 * half.count("low") * 3.0, rel=0.25)


def test_workers_join_leave_and_are_killed(machines, tmp_path):
    alone = run(job(iterations=15), camel, where="serial").study

    flag = tmp_path / "joined"

    def add_and_kill_worker():
        extra = machines.add("clara")
        try:
            until(lambda: "clara" in machines.names(), "worker clara", patience=300.0)
            joined.append(True)
        finally:
            flag.touch()
        time.sleep(0.3)
        extra.kill()

    joined: list[bool] = []

    def grade(parameters):
        # The search lasts until the new worker has joined, however long its start takes.
        while not flag.exists():
            time.sleep(0.05)
        time.sleep(0.05)
        return camel(parameters)

    thread = threading.Thread(target=add_and_kill_worker)
    thread.start()
    result = run(job(iterations=15), grade, where=machines.address)
    thread.join()
    assert joined == [True]
    assert result.failed == 0
    assert result.study.fingerprint() == alone.fingerprint()
    machines.expect("anna", "berta")


def test_candidates_of_a_worker_that_ends_are_evaluated_by_others(machines, tmp_path):
    machines.add("dora")
    machines.expect("anna", "berta", "dora")
    described = job(evaluate=EvaluationSettings(settings={"flag": str(tmp_path / "ended")}))
    result = run(described, deadly_once, where=machines.address)
    assert (tmp_path / "ended").exists()
    assert result.failed == 0
    deadline = time.monotonic() + 300
    while len(machines.names()) != 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(machines.names()) == 2


def test_a_node_that_always_fails_is_excluded_and_named(machines):
    good = sorted(machines.names())
    machines.add("broken", HOMODYN_TEST_BROKEN_NODE="1")
    machines.expect("broken", *good)
    described = job(iterations=10)
    alone = run(described, camel, where="serial").study
    result = run(described, broken_on_marked_node, where=machines.address)
    assert result.failed == 0
    assert result.study.fingerprint() == alone.fingerprint()
    (note,) = [note for note in result.notes if "is excluded" in note]
    assert "node broken is excluded" in note
    assert "no simulator on this node" in note
    nodes = {node for piece in result.study.all_candidates() for node in piece.node}
    assert "broken" not in nodes


def test_a_candidate_that_fails_on_every_node_fails(machines):
    def picky(parameters):
        if parameters["x"] > 1:
            raise RuntimeError("fell over")
        return camel(parameters)

    result = run(job(), picky, where=machines.address)
    rows = result.study.candidates(0, 4)
    assert ((rows.status == EvaluationStatus.FAILED) == (rows.values[:, 0] > 1)).all()
    assert not any("is excluded" in note for note in result.notes if "broken" not in note)
    assert np.isfinite(rows.results[rows.status == EvaluationStatus.OK]).all()
