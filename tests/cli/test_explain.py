"""``homodyn explain``: weights of a bundled step, and errors in one sentence."""

import json

import pytest
from typer.testing import CliRunner

from homodyn.cli.app import app


def run(*words):
    return CliRunner().invoke(app, ["explain", *map(str, words)])


def test_a_bundled_step_is_explained_by_its_objective(tmp_path):
    result = run("--stored", "torque free", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["shares"]["torque"] > 0.95
    assert summary["remainder"] < 0.01
    assert "objective:" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "either a recorded WALK or the name of a bundled step"),
        (["walk.c3d", "--stored", "mixed free"], "either a recorded WALK"),
        (["--stored", "nothing"], "no bundled step"),
        (["nowhere.c3d"], "no such file"),
    ],
)
def test_errors_are_one_sentence(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    result = run(*words, "-o", "out")
    assert result.exit_code == 1
    assert message in " ".join(result.output.split())
    assert not (tmp_path / "out").exists()
