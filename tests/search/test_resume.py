"""A study that is killed and resumed has the same database as an uninterrupted one."""

import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from homodyn.errors import SearchError
from homodyn.search import MMPSO, Job, Objective, Pool, SearchParameter, Study, run
from homodyn.search.jobs import ExecutionSettings
from homodyn.search.studies.study import IDENTITY_COLUMNS

FORK = multiprocessing.get_context("fork")

JOB = """
name = "camel"
iterations = 6
seed = 5
[optimizer]
kind = "pso"
population = 10
[[parameter]]
name = "x"
lower = -2
upper = 2
[[parameter]]
name = "y"
lower = -1
upper = 1
[[objective]]
name = "f"
[evaluate]
python = "grade.py:grade"
repeats = 2
[run]
where = "pool"
workers = 2
"""
GRADE = """
import time
import numpy as np
from homodyn.search.optimizers.benchmark_functions import six_hump
def grade(parameters, seed):
    time.sleep(0)
    if parameters["x"] > 1.8:
        raise ValueError("too far")
    noise = np.random.default_rng(seed).normal()
    return float(six_hump(np.array([parameters["x"], parameters["y"]]))) + noise
"""


def structured_job():
    return Job(
        [SearchParameter("x", -2, 2), SearchParameter("y", -1, 1)],
        [Objective("f")],
        name="structures",
        pools=[Pool("p", {"one": ("x",), "two": ("x", "y")})],
        optimizer=MMPSO(20, explore=0.1),
        iterations=60,
        run=ExecutionSettings(where="serial"),
    )


def grade_structure(parameters, structure, seed):
    time.sleep(0.0002)
    return abs(parameters["x"]) + parameters.get("y", 1.0) + (seed % 100) / 100


def identity(path):
    """The columns that identify a study, read without Homodyn."""
    database = sqlite3.connect(path)
    assert database.execute("pragma integrity_check").fetchone() == ("ok",)
    found = {}
    for table, columns in IDENTITY_COLUMNS.items():
        names = ", ".join(f'"{name}"' for name in columns)
        found[table] = database.execute(
            f"select {names} from {table} order by {columns[0]}, {columns[1]}"
        ).fetchall()
    database.close()
    return found


def run_structured(path):
    run(structured_job(), grade_structure, database=path)


def test_killed_at_random_points_in_one_process(tmp_path):
    whole, parts = tmp_path / "whole.db", tmp_path / "parts.db"
    start = time.monotonic()
    run_structured(whole)
    seconds = time.monotonic() - start
    generator = random.Random(3)
    killed = 0
    for _ in range(8):
        process = FORK.Process(target=run_structured, args=(parts,))
        process.start()
        process.join(generator.uniform(0.02, 0.35 * seconds))
        if process.exitcode is None:
            process.kill()
            killed += 1
        process.join()
    assert killed >= 3
    run_structured(parts)
    assert identity(parts) == identity(whole)
    assert len(identity(parts)["candidate"]) == 1200
    assert Study.open(parts).fingerprint() == Study.open(whole).fingerprint()


def command(*words):
    return [sys.executable, "-m", "homodyn", "search", *words]


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def recorded(path):
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            (count,) = database.execute("select count(*) from candidate").fetchone()
    except sqlite3.Error:
        return 0
    return count


def test_killed_and_resumed_with_a_pool(tmp_path):
    """Killed at a random candidate of each half; a run in one process is the reference."""
    (tmp_path / "grade.py").write_text(GRADE)
    whole, parts = tmp_path / "whole.toml", tmp_path / "parts.toml"
    whole.write_text(JOB)
    # Slower, so that it is killed in the middle; the values are equal.
    parts.write_text(JOB.replace("grade.py", "slow.py"))
    (tmp_path / "slow.py").write_text(GRADE.replace("sleep(0)", "sleep(0.02)"))
    reference = tmp_path / "whole.db"
    from homodyn.search import read_job

    run(read_job(whole), database=reference, folder=tmp_path, where="serial")
    generator = random.Random(11)
    for command_name, minimum in (
        ("run", generator.randint(1, 24)),
        ("resume", generator.randint(25, 45)),
    ):
        process = subprocess.Popen(
            command(command_name, str(parts)),
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 300
        while recorded(tmp_path / "parts.db") < minimum and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert minimum <= recorded(tmp_path / "parts.db") < 60
    finished = subprocess.run(
        command("resume", str(parts)), env=environment(), capture_output=True, text=True, timeout=90
    )
    assert finished.returncode == 0, finished.stderr
    assert "finished after 6 generations" in finished.stdout
    assert identity(tmp_path / "parts.db") == identity(reference)


def test_two_processes_on_one_study_do_not_disturb_each_other(tmp_path):
    path, whole = tmp_path / "a.db", tmp_path / "whole.db"
    run_structured(whole)
    first = FORK.Process(target=run_structured, args=(path,))
    first.start()
    deadline = time.monotonic() + 300
    while recorded(path) < 40 and time.monotonic() < deadline:
        time.sleep(0.005)
    with pytest.raises(SearchError, match=rf"is being run by process {first.pid} on"):
        run_structured(path)
    # Reading is possible while another process runs the study.
    assert len(Study.open(path).generations()) >= 1
    first.join()
    assert first.exitcode == 0
    assert identity(path) == identity(whole)
    assert not (tmp_path / "a.db.lock").exists()


def test_many_processes_at_once_leave_one_study(tmp_path):
    path, whole = tmp_path / "a.db", tmp_path / "whole.db"
    run_structured(whole)
    crowd = [FORK.Process(target=run_structured, args=(path,)) for _ in range(5)]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join()
    assert sum(process.exitcode == 0 for process in crowd) >= 1
    assert identity(path) == identity(whole)
