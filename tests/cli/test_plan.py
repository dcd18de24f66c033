"""`homodyn plan`: the folder of a plan, its summary and its report; what stops a plan is said."""

import json
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import homodyn as hd
from homodyn.cli import app
from homodyn.report.motion_plan_folder import FILES

STEP_FILE = Path(__file__).parents[1] / "plan" / "step_over_a_bar.toml"


def run(*words):
    return CliRunner().invoke(app, ["plan", *map(str, words)])


def test_a_plan_is_written_with_its_motion_summary_and_report(tmp_path):
    output = tmp_path / "out"
    shown = run(STEP_FILE, "-o", output, "--rate", 30, "--json")
    assert shown.exit_code == 0, shown.output
    printed = json.loads(shown.stdout)
    assert sorted(path.name for path in output.iterdir()) == sorted(FILES)
    summary = json.loads((output / "summary.json").read_text())
    assert summary["sentence"] == printed["sentence"]
    assert len(summary["phases"]) == 3
    assert summary["flights"][0]["body"] == "right_foot"
    assert summary["least_clearance_m"] > 0.009
    assert summary["largest_com_deviation_m"] < 1.001e-3
    model = hd.load(output / "model.toml")
    table = hd.capture.read_table(output / "motion.mot")
    motion = hd.capture.motion_from_table(model, table)
    com = hd.dynamics.center_of_mass(model, motion.q)
    np.testing.assert_allclose(com[0], [0.0, 0.0, 0.94], atol=2e-3)
    assert hd.motion.load_scene(output / "scene.toml").name == "step over a bar"
    page = (output / "report.html").read_text()
    for heading in ("At a glance", "Replay", "Phases", "Timing", "Clearance and balance"):
        assert heading in page
    assert page.count("data:image/png;base64,") == 2
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_a_scene_whose_supports_name_no_bodies_is_refused(tmp_path):
    shown = run("biped", "-o", tmp_path / "out")
    assert shown.exit_code == 1
    assert "give the body of the model" in " ".join(shown.stderr.split())
    assert not (tmp_path / "out").exists()


def test_an_unknown_method_is_refused(tmp_path):
    shown = run(STEP_FILE, "-o", tmp_path / "out", "--flight", "jump")
    assert shown.exit_code == 1
    assert "automatic, arc, birrt" in " ".join(shown.stderr.split())
