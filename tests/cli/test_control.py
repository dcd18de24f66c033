"""``homodyn control``."""

from pathlib import Path
from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from homodyn.cli import app


def control(*words: Any) -> Result:
    return CliRunner().invoke(app, ["control", *map(str, words)])


def test_a_step_writes_its_folder_and_takes_its_own_trajectory(tmp_path: Path) -> None:
    out = tmp_path / "step"
    done = control("bip-step", "--duration", 0.05, "-o", out)
    assert done.exit_code == 0, done.output
    assert "its observer was at most" in done.output
    words = ("--trajectory", out / "OneStep.traj3", "-o", tmp_path / "again", "--true-pose")
    again = control("bip-step", "--duration", 0.05, *words)
    assert again.exit_code == 0, again.output
    assert control("bip-step", "--duration", 0.05, "-o", out).exit_code == 1


def test_an_unknown_study_is_named(tmp_path: Path) -> None:
    done = control("walk", "-o", tmp_path / "walk")
    assert done.exit_code != 0
    assert "no study 'walk'; accepted: bip-step" in str(done.exception) + done.output
