import sys
from pathlib import Path

import numpy as np
import pytest

from homodyn.errors import SearchError
from homodyn.search import PSO, read_job, run
from homodyn.search.jobs.job_xml import job_from_xml

# The structure of the sample in section 3.4.2 of van den Kieboom 2014.
SAMPLE = """<?xml version="1.0" encoding="utf-8"?>
<job name="example">
  <optimizer name="pso">
    <setting name="population-size">40</setting>
    <setting name="max-iterations">200</setting>
    <setting name="max-velocity">0.6</setting>
    <boundaries>
      <boundary name="speed" min="100" max="1000"/>
    </boundaries>
    <parameters>
      <parameter name="left" boundary="speed"/>
      <parameter name="right" boundary="speed"/>
    </parameters>
    <fitness>
      <!-- two figures as one -->
      <expression>radius - from_origin</expression>
    </fitness>
  </optimizer>
  <dispatcher name="codyn">
    <setting name="world">$OPTIMIZATION_JOB_PATH/simulator/impedance</setting>
    <setting name="max-time">10</setting>
  </dispatcher>
</job>
"""


def test_the_sample_is_read(monkeypatch, tmp_path):
    monkeypatch.delenv("OPTIMIZATION_JOB_PATH", raising=False)
    path = tmp_path / "job.xml"
    path.write_text(SAMPLE)
    job = read_job(path)
    assert job.name == "example"
    assert job.optimizer == PSO(40, max_velocity=0.6)
    assert job.iterations == 200
    assert job.space.lower.tolist() == [100, 100]
    assert job.space.upper.tolist() == [1000, 1000]
    assert job.evaluate.program == ("codyn",)
    assert job.evaluate.settings == {"world": f"{tmp_path}/simulator/impedance", "max-time": "10"}


def test_the_fitness_expression_is_maximized():
    goal = job_from_xml(SAMPLE, Path("job.xml")).goal
    assert goal.names == ("radius", "from_origin")
    score = goal.score(np.array([[3.0, 1.0], [9.0, 8.0]]))
    assert score.value.tolist() == [-2, -1]
    assert score.best() == 0


def test_environment_variables_expand(monkeypatch):
    monkeypatch.setenv("OPTIMIZATION_JOB_PATH", "/elsewhere")
    job = job_from_xml(SAMPLE, Path("job.xml"))
    assert job.evaluate.settings["world"] == "/elsewhere/simulator/impedance"


def test_the_job_runs_with_a_dispatcher(tmp_path):
    dispatcher = tmp_path / "dispatcher.py"
    dispatcher.write_text(
        "import json, sys\n"
        "task = json.load(sys.stdin)\n"
        "p = task['parameters']\n"
        "assert task['settings']['max-time'] == '10'\n"
        "print(json.dumps({'id': task['id'], 'status': 'success', 'fitness':\n"
        "    {'radius': p['left'], 'from_origin': p['right']}}))\n"
    )
    text = SAMPLE.replace(">40<", ">3<").replace(">200<", ">2<")
    command = f'<setting name="command">{sys.executable} -S {dispatcher}</setting>'
    text = text.replace('<setting name="world">', command + '<setting name="world">')
    result = run(job_from_xml(text, tmp_path / "job.xml"), where="serial")
    assert result.failed == 0, result.study.candidates(0).message
    best = result.best
    assert best.value == best.parameters["right"] - best.parameters["left"]


def test_bounds_are_expressions_and_pools_are_read():
    text = SAMPLE.replace('min="100" max="1000"', 'min="-2 * 50" max="10 ^ 3"').replace(
        "</parameters>",
        '</parameters><pools><pool name="form"><group name="one">left</group>'
        '<group name="two">left right</group></pool></pools>',
    )
    job = job_from_xml(text.replace('name="pso"', 'name="pmpso"'), Path("job.xml"))
    assert job.space.lower.tolist() == [-100, -100]
    assert job.optimizer.kind == "mmpso"
    assert job.space.subspaces == 2


def test_all_errors_are_reported_with_their_lines():
    text = (
        SAMPLE.replace('name="pso"', 'name="magic"')
        .replace(">40<", ">forty<")
        .replace('name="max-velocity"', 'name="speed-limit"')
        .replace(
            'boundary="speed"/>\n      <parameter name="right"',
            'boundary="sped"/>\n      <parameter name="right"',
        )
        .replace("radius -", "radius - -*")
        .replace("$OPTIMIZATION_JOB_PATH", "$NO_SUCH_VARIABLE")
    )
    with pytest.raises(SearchError) as caught:
        job_from_xml(text, Path("job.xml"))
    lines = [int(text.split(":")[0].removeprefix("line ")) for text in caught.value.reasons]
    assert lines == [3, 4, 6, 11, 16, 20]


def test_inconsistencies_are_reported_with_their_lines_too():
    text = (
        SAMPLE.replace(">40<", ">0<")
        .replace(">200<", ">-1<")
        .replace(">0.6<", ">6<")
        .replace('min="100"', 'min="2000"')
        .replace('name="right"', 'name="left"')
        .replace("radius - from_origin", "3")
        .replace(
            "</parameters>",
            '</parameters><pools>\n<pool name="form">\n<group name="one">leg</group></pool>'
            "</pools>",
        )
    )
    with pytest.raises(SearchError, match="7 errors") as caught:
        job_from_xml(text, Path("job.xml"))
    errors = [text.split(": ", 1) for text in caught.value.reasons]
    assert [int(line.removeprefix("line ")) for line, _ in errors] == [4, 5, 6, 8, 12, 15, 16]
    words = ["population", "iterations", "max_velocity", "min (2000)", "'left'", "'leg'", "objecti"]
    for word, (_, sentence) in zip(words, errors, strict=True):
        assert word in sentence


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<job>", "line 1: no element found"),
        ("<work/>", "expected <job>, not <work>"),
        ('<!DOCTYPE job [<!ENTITY a "b">]><job>&a;</job>', "entity declarations are not accepted"),
    ],
)
def test_files_that_are_not_jobs_are_refused(text, message):
    with pytest.raises(SearchError, match=message):
        job_from_xml(text, Path("job.xml"))
