"""``homodyn search``."""

import json
from math import inf, nan

import pytest
from typer.testing import CliRunner

from homodyn.cli import app
from homodyn.cli.search import seconds
from homodyn.cli.search_progress import progress_lines
from homodyn.errors import SearchError
from homodyn.search import SearchProgress, read_job

JOB = """
name = "forms"
iterations = 6
[optimizer]
kind = "mmpso"
population = 12
explore = 0.1
[[parameter]]
name = "x"
lower = -2
upper = 2
[[parameter]]
name = "y"
lower = -1
upper = 1
[[pool]]
name = "form"
groups = { one = ["x"], two = ["x", "y"] }
[[objective]]
name = "far"
until = "< 1"
[[objective]]
name = "f"
[evaluate]
python = "evaluate.py:evaluate"
[run]
where = "serial"
"""


@pytest.fixture
def job(tmp_path):
    (tmp_path / "evaluate.py").write_text(
        "def evaluate(p, structure):\n"
        "    return abs(p['x']), (p['x'] - 0.3) ** 2 + p.get('y', 1.0)\n"
    )
    path = tmp_path / "job.toml"
    path.write_text(JOB)
    return path


def run(*words):
    return CliRunner().invoke(app, ["search", *map(str, words)])


def test_a_study_is_run_resumed_and_shown(job, tmp_path):
    done = run("run", job, "--stop-after", "0s")
    assert done.exit_code == 0, done.output
    assert "continue with: homodyn search resume" in done.output
    done = run("resume", job)
    assert "finished after 6 generations and 72 candidates" in done.output
    done = run("status", job)
    assert "forms: mmpso, generation 6 of 6, 72 candidates" in done.output
    assert "subspaces visited: 2 of 2" in done.output
    assert "stage 2 of 2, f" in done.output
    found = json.loads(run("best", job, "--count", "3", "--json").stdout)["solutions"]
    assert len(found) == 3
    assert found[0]["value"] <= found[1]["value"]
    assert "form = " in run("best", tmp_path / "job.db").output
    assert "72 candidates" in run("export", job, "-o", tmp_path / "all.csv").output
    done = run("plot", job, "-o", tmp_path / "figures")
    assert done.exit_code == 0, done.output
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {"convergence.png", "parameters.png", "visits.png", "migration.png"}


def test_run_refuses_an_existing_study_and_resume_needs_one(job):
    done = run("resume", job)
    assert done.exit_code == 1
    assert "homodyn search run" in " ".join(done.output.split())
    assert run("run", job, "-q").exit_code == 0
    done = run("run", job)
    assert done.exit_code == 1
    assert "exists already" in " ".join(done.output.split())


def test_errors_of_a_job_are_one_line(job):
    job.write_text(JOB.replace("population = 12", "population = 0"))
    done = run("run", job)
    assert done.exit_code == 1
    assert "line 6: population" in " ".join(done.output.split())
    assert not job.with_suffix(".db").exists()


def test_a_search_in_which_all_candidates_fail_fails(job):
    (job.parent / "evaluate.py").write_text("def evaluate(p):\n    raise ValueError('no ground')\n")
    done = run("run", job)
    assert done.exit_code == 1
    assert "all 72 candidates failed; the first cause: ValueError: no ground" in done.output


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90", 90), ("90s", 90), ("15min", 900), ("23.5h", 84600), ("1 d", 86400)],
)
def test_durations_are_parsed(text, expected):
    assert seconds(text) == expected


def test_invalid_durations_are_refused():
    with pytest.raises(SearchError, match="'soon' is not a time"):
        seconds("soon")


def test_progress_has_one_line_and_one_for_visits(job):
    visits = (("form one", 25), ("form two", 11))
    progress = SearchProgress(3, 6, 36, 2, 1, 1, 0.25, 0.5, "f", 10.0, 600.0, 0, 12, 2, visits)
    assert progress_lines(progress, read_job(job).space.subspaces) == [
        "generation 3/6, f best 0.25 mean 0.5, stage 2/2, 2 failed, 10 min left",
        "2 of 2 subspaces visited, most form one: 25; form two: 11",
    ]
    first = SearchProgress(0, 6, 5, 0, -2, 1, inf, nan, "far", 10.0, 600.0, 5, 12, 0, ())
    assert progress_lines(first, read_job(job).space.subspaces) == [
        "generation 0/6 + 5/12, 10 min left"
    ]
