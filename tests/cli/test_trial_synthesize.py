"""``homodyn trial synthesize``."""

from typer.testing import CliRunner

import homodyn as hd
from homodyn.cli import app


def run(*words):
    return CliRunner().invoke(app, ["trial", "synthesize", *words])


def test_a_trial_is_written_and_summarized(tmp_path):
    done = run("-o", str(tmp_path / "trial"), "--strides", "2", "--plates", "1", "--no-gaps")
    assert done.exit_code == 0, done.output
    assert "walk: 1.20 m/s" in done.output
    assert "100.0 % visible" in done.output
    trial = hd.capture.read(tmp_path / "trial" / "walk.c3d")
    assert len(trial.markers) == 32
    assert (tmp_path / "trial" / "truth" / "subject.toml").is_file()


def test_an_impossible_speed_is_refused_and_writes_nothing(tmp_path):
    done = run("-o", str(tmp_path / "trial"), "--speed", "5")
    assert done.exit_code == 1
    assert "m/s is accepted" in " ".join(done.output.split())
    assert not (tmp_path / "trial").exists()
