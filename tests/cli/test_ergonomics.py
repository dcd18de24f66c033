"""``homodyn ergonomics``."""

from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import homodyn as hd
from homodyn.analysis.result_tables import write_coordinates
from homodyn.cli import app
from homodyn.motion import motion_from_states


def test_a_table_with_its_model_is_assessed(tmp_path: Path) -> None:
    model = hd.catalog.heiman(mass=70, height=1.75)
    q = np.repeat(model.neutral()[None], 60, axis=0)
    motion = motion_from_states(model, 0.02 * np.arange(60), q, np.zeros((60, model.nv)))
    hd.save(model, tmp_path / "model.toml")
    write_coordinates(motion, tmp_path)
    words = ["ergonomics", str(tmp_path / "motion.mot"), "--model", str(tmp_path / "model.toml")]
    done = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "out"), "--load", "12"])
    assert done.exit_code == 0, done.output
    assert "RULA is at most" in done.output
    assert "torques are not known" in done.output
    assert (tmp_path / "out" / "report.html").is_file()
    refused = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "no"), "--age", "young"])
    assert refused.exit_code != 0
    assert "18 to 25" in str(refused.exception) + refused.output
    assert not (tmp_path / "no").exists()
