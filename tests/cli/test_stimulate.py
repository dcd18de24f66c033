"""``homodyn stimulate``."""

import json

from typer.testing import CliRunner

from homodyn.cli import app


def stimulate(*words):
    return CliRunner().invoke(app, ["stimulate", *map(str, words)])


def test_a_study_writes_its_folder(tmp_path):
    out = tmp_path / "swing"
    words = ("knee-swing", "--duration", 0.15, "--charge", 0.5, "--strength", 2, "-o", out)
    done = stimulate(*words)
    assert done.exit_code == 0, done.output
    assert "the knee does not reach its stop" in done.output
    assert (out / "report.html").is_file()
    again = stimulate(*words)
    assert again.exit_code == 1
    assert stimulate(*words, "--overwrite", "--mode", "closed").exit_code == 0


def test_json_has_the_summary(tmp_path):
    done = stimulate("knee-swing", "--duration", 0.1, "-o", tmp_path / "swing", "--json")
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["study"] == "knee-swing"
    assert summary["measures"]["largest_muscle_force_n"] > 10
    assert str(tmp_path / "swing" / "motion.mot") in summary["files"]


def test_an_unknown_study_is_named(tmp_path):
    done = stimulate("walk", "-o", tmp_path / "walk")
    assert done.exit_code != 0
    assert (
        "no study 'walk'; accepted: knee-swing, sit-to-stand" in str(done.exception) + done.output
    )
