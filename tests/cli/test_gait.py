"""``homodyn gait``: search, continue, replay, perturb and compare."""

import json

import pytest
from typer.testing import CliRunner

from homodyn.cli import app

STUDY = """
name = "short"
model = "winter_human"
speed = 1.2
duration = 0.4
population = 6
iterations = 2

[[objective]]
name = "time"
until = ">= 0.999"

[[objective]]
name = "torque"
"""


def run(*words):
    return CliRunner().invoke(app, ["gait", *map(str, words)])


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gait")
    (folder / "short.toml").write_text(STUDY)
    done = run("search", folder / "short.toml", "-o", folder / "out", "--quiet")
    assert done.exit_code == 0, done.output
    assert "12 candidates, 0 failed" in done.output
    return folder


def test_a_search_writes_its_best_gait_and_goes_on(searched):
    best = searched / "out" / "best"
    assert "short-constant" in (best / "report.html").read_text()
    summary = json.loads((best / "summary.json").read_text())
    assert summary["stages"] == 1
    assert set(summary["objectives"]) == {"time", "torque"}
    again = run(
        *("search", searched / "short.toml", "-o", searched / "out", "--iterations", 3, "--json")
    )
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["search"]["evaluations"] == 18


def test_a_gait_is_replayed_and_compared(searched):
    words = ("replay", searched / "short.toml", searched / "out", "-o", searched / "again")
    assert run(*words).exit_code == 0
    assert run(*words).exit_code == 1  # the folder exists
    table = run("compare", searched / "out", searched / "again")
    assert table.exit_code == 0
    assert [line.split()[0] for line in table.stdout.splitlines()] == ["gait", "out", "again"]
    rows = json.loads(run("compare", searched / "out", "--json").stdout)["gaits"]
    assert rows[0]["torque"] > 0


def test_errors_are_sentences(searched):
    assert "has no pushes" in run(
        "perturb", searched / "short.toml", searched / "out"
    ).output + str(run("perturb", searched / "short.toml", searched / "out").exception)
    for words, text in (
        (("search", "cowman", "-o", searched / "x"), "human, coman"),
        (("replay", "coman", searched / "out", "-o", searched / "y"), "parameters of study"),
        (("compare", searched), "no summary.json"),
    ):
        done = run(*words)
        assert done.exit_code == 1
        assert text in done.output + str(done.exception)
    assert not (searched / "y").exists()
