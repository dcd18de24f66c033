import sys
import textwrap
import time

import pytest

from homodyn.search import (
    EvaluationSettings,
    EvaluationStatus,
    Goal,
    Job,
    Objective,
    SearchParameter,
    run,
)
from homodyn.search.evaluation import Evaluator
from support.search_objectives import SPACE, tasks


def program(tmp_path, text):
    path = tmp_path / "simulator.py"
    path.write_text(
        "import json, os, sys, time\ntask = json.load(sys.stdin)\n" + textwrap.dedent(text)
    )
    return (sys.executable, "-S", str(path))


def judged(command, count=1, **named):
    return Evaluator(SPACE, Goal("f"), program=command, **named)(tasks(count))


def test_a_task_goes_in_and_a_result_comes_out(tmp_path):
    command = program(
        tmp_path,
        """
        p = task["parameters"]
        value = p["x"] + 10 * p["y"] + float(task["settings"]["offset"])
        print(json.dumps({"id": task["id"], "status": "success", "fitness": {"f": value},
                          "data": {"who": task["dispatcher"], "seed": task["seed"]}}))
        """,
    )
    outcome = judged(command, 2, settings={"offset": 100}, name="mine")
    values = tasks(2).values
    assert outcome.results[:, 0] == pytest.approx(values @ [1, 10] + 100)
    assert '"who": "mine"' in outcome.data[0]


def test_a_job_is_run_by_a_program(tmp_path):
    command = program(
        tmp_path,
        """
        p = task["parameters"]
        print(json.dumps({"fitness": {"f": p["x"] ** 2}}))
        """,
    )
    job = Job(
        [SearchParameter("x", -2, 2)],
        [Objective("f")],
        iterations=2,
        optimizer={"kind": "pso", "population": 4},
        evaluate=EvaluationSettings(program=command),
        run={"where": "serial"},
    )
    result = run(job)
    assert result.evaluations == 8
    assert result.best.objectives["f"] == pytest.approx(result.best.parameters["x"] ** 2)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sys.exit('no world')", "ended with code 1: no world"),
        ("print('hello')", "did not answer with JSON but with 'hello'"),
        ("print('[1]')", "did not answer with a JSON object"),
        ('print(\'{"status": "failure", "message": "fell"}\')', "fell"),
        ('print(\'{"id": "x", "fitness": {}}\')', "answered task 'x'"),
        ("print('{}')", "without an object 'fitness'"),
        ("os.kill(os.getpid(), 11)", "was ended by signal 11"),
    ],
)
def test_programs_that_fail_are_told(tmp_path, text, told):
    outcome = judged(program(tmp_path, text))
    assert outcome.status[0] == EvaluationStatus.FAILED
    assert told in outcome.messages[0]


def test_a_program_may_write_anything_to_its_errors_and_need_not_listen(tmp_path):
    path = tmp_path / "deaf.py"
    path.write_text(
        "import os\nos.write(2, b'caf\\xe9 ' * 50000)\n"
        'os.write(1, b\'{"fitness": {"f": 2.5}, "data": {"place": "caf\\xe9"}}\')\n'
    )
    outcome = judged((sys.executable, "-S", str(path)), settings={"long": "x" * 300_000})
    assert outcome.status[0] == EvaluationStatus.OK, outcome.messages
    assert outcome.results[0, 0] == 2.5


def test_a_program_that_writes_without_end_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("homodyn.search.program.MAX_ANSWER_BYTES", 2 * 2**20)
    start = time.monotonic()
    outcome = judged(program(tmp_path, "while True: print('warning: step rejected')"))
    assert outcome.status[0] == EvaluationStatus.FAILED
    assert "wrote more than 2 MB" in outcome.messages[0]
    assert time.monotonic() - start < 30


def test_a_program_that_is_not_there_is_told():
    outcome = judged(("no-such-simulator",))
    assert outcome.status[0] == EvaluationStatus.FAILED
    assert "cannot be started" in outcome.messages[0]


def test_a_slow_program_is_ended_with_all_it_started(tmp_path):
    flag = tmp_path / "alive"
    command = program(
        tmp_path,
        f"""
        import subprocess
        subprocess.Popen([sys.executable, "-S", "-c",
            "import time; time.sleep(3); open({str(flag)!r}, 'w')"])
        time.sleep(60)
        """,
    )
    start = time.monotonic()
    outcome = judged(command, time_limit=1.0)
    assert outcome.status[0] == EvaluationStatus.SLOW
    assert time.monotonic() - start < 20
    time.sleep(3.5)
    assert not flag.exists()


def test_a_greedy_program_is_stopped(tmp_path):
    outcome = judged(program(tmp_path, "b = bytearray(2 * 10**9)"), memory_limit=500)
    assert outcome.status[0] == EvaluationStatus.MEMORY
