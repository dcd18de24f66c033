"""``homodyn track`` as a person uses it."""

import numpy as np
from typer.testing import CliRunner

import homodyn as hd
from homodyn.cli import app
from support.standing_block import standing_block, standing_pose, trial_of


def test_a_trial_is_tracked_and_written(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")
    block = standing_block()
    hd.save(block, tmp_path / "block.toml")
    hd.capture.write(
        trial_of(block, np.tile(standing_pose(block), (15, 1))), tmp_path / "stand.trc"
    )
    words = ["track", tmp_path / "stand.trc", "-m", tmp_path / "block.toml", "-o", tmp_path / "out"]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    assert "all 15 frames were tracked" in result.output
    assert (tmp_path / "out" / "report.html").is_file()
    missing = CliRunner().invoke(app, ["track", str(tmp_path / "none.c3d"), "-o", "x"])
    assert missing.exit_code == 1
    assert "none.c3d" in missing.stderr
