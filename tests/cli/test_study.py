"""``homodyn study`` as a person uses it."""

import json

import numpy as np
from typer.testing import CliRunner

import homodyn as hd
from homodyn.cli import app
from support.standing_block import standing_block, standing_pose, trial_of


def test_a_study_writes_its_page_table_and_summary(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")
    block = standing_block()
    hd.save(block, tmp_path / "block.toml")
    hd.capture.write(
        trial_of(block, np.tile(standing_pose(block), (25, 1))), tmp_path / "stand.trc"
    )
    place = tmp_path / "out"
    words = ["study", "noise", tmp_path / "stand.trc", "-m", tmp_path / "block.toml", "-o", place]
    result = CliRunner().invoke(app, [str(word) for word in [*words, "--trials", "1"]])
    assert result.exit_code == 0, result.output
    assert "9 of 9 trials end" in result.output
    page = (place / "report.html").read_text()
    assert "Figure 3 of HDM" in page
    assert page.count("<svg") == 2
    summary = json.loads((place / "summary.json").read_text())
    assert summary["table"]["noise (mm)"][-1] == 64.0
    assert (place / "study.csv").read_text().startswith('"noise (mm)"')
    refused = CliRunner().invoke(app, [str(word) for word in words])
    assert refused.exit_code == 1
    assert "study" in CliRunner().invoke(app, ["--help"]).output


def test_a_missing_trial_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")
    missing = CliRunner().invoke(app, ["study", "arms", str(tmp_path / "no.c3d"), "-o", "x"])
    assert missing.exit_code == 1
    assert "no.c3d" in missing.stderr
