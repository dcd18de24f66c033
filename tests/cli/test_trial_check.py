"""The command that checks a recording: what it shows and how it ends."""

import numpy as np
from typer.testing import CliRunner

from homodyn.capture import (
    Trial,
    write,
)
from homodyn.cli import app
from support.walking import changed, walk


def check(trial: Trial, tmp_path, *words):
    path = tmp_path / "walk.trc"
    write(trial, path)
    return CliRunner().invoke(app, ["trial", "check", str(path), *map(str, words)])


def test_a_sound_recording_ends_with_zero(tmp_path):
    shown = check(walk(1.5), tmp_path)
    assert shown.exit_code == 0, shown.output
    assert "50 markers, 151 frames at 100 Hz" in shown.stdout
    assert "No findings." in shown.stdout
    assert "RTH1" in check(walk(1.5), tmp_path, "--all").stdout


def test_an_error_is_reported_and_gives_exit_code_one(tmp_path):
    trial = walk(1.5)
    positions = np.array(trial.positions)
    a, b = trial.markers.index("RTH1"), trial.markers.index("RTB1")
    positions[40:60, [a, b]] = positions[40:60, [b, a]]
    positions[90:95, 0] = np.nan
    shown = check(changed(trial, positions), tmp_path)
    assert shown.exit_code == 1
    assert "swap RTH1, RTB1: the two labels are swapped in frames 41-60" in shown.stdout
    assert "47 more markers have no findings" in shown.stdout
    assert "1 error, 1 info." in shown.stdout


def test_labels_are_matched_with_a_model_and_a_map(tmp_path):
    trial = walk(1.5).rename_markers({"RKNE": "Knie"})
    table = tmp_path / "markers.toml"
    table.write_text('[markers]\nRKNE = "Knie"\n')
    assert "absent: RKNE" in check(trial, tmp_path, "--model", "heiman").stdout
    shown = check(trial, tmp_path, "--model", "heiman", "--map", table)
    assert shown.exit_code == 0
    assert "32 of 32 markers of the model matched" in shown.stdout


def test_a_map_without_a_model_is_refused(tmp_path):
    shown = check(walk(1.5), tmp_path, "--map", "markers.toml")
    assert shown.exit_code == 1
    assert "give --model too" in shown.stderr
