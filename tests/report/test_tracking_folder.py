"""The folder of a tracked trial."""

import json

import numpy as np
import pytest

import homodyn as hd
from homodyn.report import write_tracking
from homodyn.track import track
from support.standing_block import standing_block, standing_pose, trial_of


def test_a_tracked_trial_has_tables_a_summary_and_a_page(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")
    block = standing_block()
    result = track(block, trial_of(block, np.tile(standing_pose(block), (30, 1))))
    paths = write_tracking(result, tmp_path / "out")
    names = {path.name for path in paths}
    assert {"model.toml", "motion.csv", "motion.mot", "forces.csv", "report.html"} <= names
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["status"] == "finished"
    assert summary["mean_ground_force"][2] == pytest.approx(summary["weight"], rel=0.01)
    assert summary["work"]["absolute"] == pytest.approx(0.0, abs=0.05)
    assert "shoulder" in (tmp_path / "out" / "torques.csv").read_text()
    with pytest.raises(hd.FormatError):
        write_tracking(result, tmp_path / "out")
    write_tracking(result, tmp_path / "out", overwrite=True)
