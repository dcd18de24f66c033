import sys
import textwrap
import time

import pytest

from homodyn.search import Goal, Job, Objective, SearchParameter, run
from homodyn.search.evaluation import EvaluationStatus
from homodyn.search.evaluation.evaluator import Evaluator
from homodyn.search.jobs import EvaluationSettings
from support.search_objectives import SPACE, tasks


def program(tmp_path, text):
    path = tmp_path / "simulator.py"
    path.write_text(
        "import json, os, sys, time\ntask = json.load(sys.stdin)\n" + textwrap.dedent(text)
    )
    return (sys.executable, "-S", str(path))


def evaluate(command, count=1, **named):
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
    outcome = evaluate(command, 2, settings={"offset": 100}, name="mine")
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
    ("text", "message"),
    [
        ("sys.exit('no world')", "ended with code 1: no world"),
        ("print('hello')", "wrote 'hello'; expected JSON"),
        ("print('[1]')", "did not write a JSON object"),
        ('print(\'{"status": "failure", "message": "fell"}\')', "fell"),
        ('print(\'{"id": "x", "fitness": {}}\')', "wrote the result of task 'x'"),
        ("print('{}')", "without an object 'fitness'"),
        ("os.kill(os.getpid(), 11)", "was ended by signal 11"),
    ],
)
def test_failures_of_programs_are_reported(tmp_path, text, message):
    outcome = evaluate(program(tmp_path, text))
    assert outcome.status[0] == EvaluationStatus.FAILED
    assert message in outcome.messages[0]


def test_a_program_may_write_anything_to_stderr_and_need_not_read_its_input(tmp_path):
    path = tmp_path / "deaf.py"
    path.write_text(
        "import os\nos.write(2, b'caf\\xe9 ' * 50000)\n"
        'os.write(1, b\'{"fitness": {"f": 2.5}, "data": {"place": "caf\\xe9"}}\')\n'
    )
    outcome = evaluate((sys.executable, "-S", str(path)), settings={"long": "x" * 300_000})
    assert outcome.status[0] == EvaluationStatus.OK, outcome.messages
    assert outcome.results[0, 0] == 2.5


def test_a_program_that_writes_without_end_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("homodyn.search.evaluation.program.MAX_OUTPUT_BYTES", 2 * 2**20)
    outcome = evaluate(program(tmp_path, "while True: print('warning: step rejected')"))
    assert outcome.status[0] == EvaluationStatus.FAILED
    assert "wrote more than 2 MB" in outcome.messages[0]


def test_a_missing_program_is_reported():
    outcome = evaluate(("no-such-simulator",))
    assert outcome.status[0] == EvaluationStatus.FAILED
    assert "cannot be started" in outcome.messages[0]


def test_a_slow_program_is_ended_with_its_child_processes(tmp_path):
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
    outcome = evaluate(command, time_limit=1.0)
    assert outcome.status[0] == EvaluationStatus.SLOW
    time.sleep(3.5)
    assert not flag.exists()


def test_a_greedy_program_is_stopped(tmp_path):
    outcome = evaluate(program(tmp_path, "b = bytearray(2 * 10**9)"), memory_limit=500)
    assert outcome.status[0] == EvaluationStatus.MEMORY
