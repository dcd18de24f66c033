from typer.testing import CliRunner

import homodyn as hd
from homodyn.cli import app


def run(*words):
    return CliRunner().invoke(app, ["trial", "synthesize", *words])


def test_a_trial_is_written_and_told(tmp_path):
    done = run("-o", str(tmp_path / "made"), "--strides", "2", "--plates", "1", "--no-gaps")
    assert done.exit_code == 0, done.output
    assert "walk: 1.20 m/s" in done.output
    assert "100.0 % visible" in done.output
    trial = hd.capture.read(tmp_path / "made" / "walk.c3d")
    assert len(trial.markers) == 32
    assert (tmp_path / "made" / "truth" / "subject.toml").is_file()


def test_an_impossible_speed_is_one_sentence_and_writes_nothing(tmp_path):
    done = run("-o", str(tmp_path / "made"), "--speed", "5")
    assert done.exit_code == 1
    assert "m/s is accepted" in " ".join(done.output.split())
    assert not (tmp_path / "made").exists()
