"""Jobs whose candidates are simulated by a network: objectives against closed forms."""

import numpy as np
import pytest

from homodyn.errors import SearchError
from homodyn.search import Goal, Space, read_job, run
from homodyn.search.evaluation.network_evaluation import NetworkEvaluation, NetworkRuns
from homodyn.search.jobs.job_xml import job_from_xml

NETWORK = """
rate = 1
node "tank" {
    level = 1
    level' = "RATE"
}
"""
JOB = """
name = "tank"
iterations = 25
[optimizer]
kind = "pso"
population = 12
[[parameter]]
name = "rate"
lower = 0.1
upper = 3.0
[[objective]]
name = "miss"
[evaluate]
network = "tank.cdn"
[evaluate.formulas]
miss = "(tank.level - 0.5) ^ 2"
[evaluate.settings]
duration = 1.0
dt = 0.01
"""
XML = """<job name="tank">
  <optimizer name="pso">
    <setting name="population-size">12</setting>
    <setting name="max-iterations">20</setting>
    <parameters><parameter name="rate" min="0.1" max="3"/></parameters>
    <fitness><expression>0 - abs(tank.level - 0.5)</expression></fitness>
  </optimizer>
  <dispatcher name="codyn">
    <setting name="world">$OPTIMIZATION_JOB_PATH/tank.cdn</setting>
    <setting name="max-time">1</setting>
    <setting name="dt">0.01</setting>
  </dispatcher>
</job>
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tank.cdn").write_text(NETWORK.replace("RATE", "-rate * level"))
    (tmp_path / "job.toml").write_text(JOB)
    return tmp_path


def evaluation(folder, formulas, **settings):
    goal = Goal(objectives=tuple(formulas) or ("tank.level",), combine="sum")
    runs = NetworkRuns(folder / "tank.cdn", formulas, {"duration": 1.0, "dt": 0.01, **settings})
    return NetworkEvaluation(runs, Space({"rate": (0.1, 3.0)}), goal)


def test_values_are_those_of_the_closed_form(folder):
    rates = np.linspace(0.1, 3.0, 9)
    found = evaluation(folder, {"square": "tank.level ^ 2", "end": "t_end"})(rates[:, None])
    order = 0.02 * np.exp(-rates) * rates**2  # of an integrator of first order
    assert np.all(np.abs(np.sqrt(found[:, 0]) - np.exp(-rates)) < order + 1e-3)
    assert found[:, 1] == pytest.approx(1.0)
    assert evaluation(folder, {})(rates[:, None])[:, 0] == pytest.approx(np.sqrt(found[:, 0]))


def test_a_job_finds_the_rate(folder):
    found = run(read_job(folder / "job.toml"), folder=folder)
    assert found.best.parameters["rate"] == pytest.approx(np.log(2), abs=0.02)
    assert found.failed == 0


def test_the_codyn_dispatcher_of_an_xml_job_is_a_network(folder, monkeypatch):
    monkeypatch.delenv("OPTIMIZATION_JOB_PATH", raising=False)
    (folder / "job.xml").write_text(XML)
    job = read_job(folder / "job.xml")
    assert job.evaluate.network == f"{folder}/tank.cdn"
    assert not job.evaluate.program
    assert run(job).best.parameters["rate"] == pytest.approx(np.log(2), abs=0.02)


def test_runs_that_diverge_fail(folder):
    """A planted run that overflows is a failure, not a candidate."""
    (folder / "tank.cdn").write_text(NETWORK.replace("RATE", "level ^ rate"))
    found = evaluation(folder, {"high": "tank.level"}, duration=8.0)(np.array([[0.5], [3.0]]))
    assert np.isfinite(found[0, 0])
    assert np.isnan(found[1, 0])


def test_errors_say_what_is_accepted(folder):
    with pytest.raises(SearchError, match="duration"):
        NetworkEvaluation(
            NetworkRuns(folder / "tank.cdn"), Space({"rate": (0.1, 3.0)}), Goal(objectives="x")
        )
    with pytest.raises(SearchError, match=r"no variable 'tank\.volume'"):
        evaluation(folder, {"cost": "tank.volume"})(np.array([[1.0]]))
    with pytest.raises(SearchError, match="network of the job"):
        evaluation(folder / "nowhere", {"cost": "tank.level"})
    with pytest.raises(SearchError, match="leave python and program out"):
        job_from_toml_with_program(folder)


def job_from_toml_with_program(folder):
    text = JOB.replace("[evaluate]", '[evaluate]\npython = "a.py:f"')
    (folder / "both.toml").write_text(text)
    return read_job(folder / "both.toml")


def test_a_dispatcher_codyn_without_a_network_stays_a_program(folder):
    text = XML.replace("tank.cdn", "simulator/impedance")
    assert job_from_xml(text, folder / "job.xml").evaluate.program == ("codyn",)
