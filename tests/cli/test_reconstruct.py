"""``homodyn reconstruct``: a complete result folder, and errors in one sentence."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import homodyn as hd
from homodyn.capture import (
    Table,
    read_table,
    write_table,
)
from homodyn.cli.app import app
from homodyn.gait.contact_schedule import (
    FootContact,
    FootContactPhase,
    contact_phases,
    read_contact_schedule,
    write_contact_schedule,
)

FILES = {
    "forces.csv",
    "model.osim",
    "model.toml",
    "motion.csv",
    "motion.mot",
    "phases.csv",
    "report.html",
    "summary.json",
    "torques.csv",
    "tracking.csv",
}


def run(*words):
    return CliRunner().invoke(app, ["reconstruct", *map(str, words)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A synthetic walk as a table of coordinates, its model and its phases."""
    folder = tmp_path_factory.mktemp("walk")
    walk = hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=1, variation=0.0, mass=70, plates=2
    )
    motion = walk.truth.motion
    table = Table(motion.model.coordinate_names, motion.time, motion.q, False, "Coordinates")
    write_table(table, folder / "walk.sto")
    hd.save(walk.model, folder / "model.toml")
    first = contact_phases(motion, events=walk.truth.events)[0]
    # Half of the flat stance is enough to see everything written.
    short = FootContactPhase(first.begin, (first.begin + first.end) / 2, first.right, first.left)
    write_contact_schedule([short], folder / "phases.csv")
    return folder


@pytest.fixture(scope="module")
def done(folder):
    out = folder / "out"
    options = ("--model", folder / "model.toml", "--phases", folder / "phases.csv", "--nodes", 5)
    return run(folder / "walk.sto", *options, "--cutoff", 20, "-o", out), out


def test_everything_is_written(done):
    result, out = done
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("solved:")
    assert {path.name for path in out.iterdir()} == FILES


def test_the_tables_agree_with_the_summary(done):
    _, out = done
    summary = json.loads((out / "summary.json").read_text())
    assert summary["status"] == "solved"
    assert summary["tracking_rms"]["KneeRight_RY"] < 0.01
    torques, forces = read_table(out / "torques.csv"), read_table(out / "forces.csv")
    ankle = torques.column("AnkleRight_RY (N m)")
    np.testing.assert_allclose(torques.column("AnkleRight_RY per mass (N m/kg)") * 70, ankle)
    assert forces.column("Right z (N)").mean() == pytest.approx(70 * 9.81, rel=0.3)
    assert not forces.column("Left z (N)").any()
    assert [row["right"] for row in summary["phases"]] == ["flat"]
    assert read_contact_schedule(out / "phases.csv")[0].right is FootContact.FLAT


def test_the_page_has_all_figures_and_loads_nothing(done):
    _, out = done
    page = (out / "report.html").read_text()
    for name in ("tracking", "overlay", "torques", "forces", "elevation"):
        assert f'id="fig-{name}"' in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "src=" not in page
    figures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(figures) > 30
    assert not any("nan" in figure.lower() for figure in figures)


def test_a_result_is_not_replaced_without_overwrite(done, folder):
    _, out = done
    again = run(folder / "walk.sto", "--model", folder / "model.toml", "-o", out)
    assert again.exit_code == 1
    assert "--overwrite" in again.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.c3d"], "no such file"),
        (["walk.sto", "--phases", "bad.csv"], "heading must be begin"),
        (["walk.sto", "--plates", "maybe"], "accepted: check, term"),
        (["walk.sto", "--from", "0.4"], "give both --from and --to"),
        (["walk.sto", "--nodes", "0"], "expected at least 1"),
        (["walk.sto", "--preset", "felis2016"], "felis2015"),
        (["walk.txt"], "cannot read a motion from '.txt'"),
        (["empty"], "not a result of homodyn analyze"),
        (["other.sto"], "no column for Pelvis_TX"),
        (["broken.sto"], "broken.sto"),
    ],
)
def test_errors_are_one_sentence_and_leave_nothing(folder, monkeypatch, words, message):
    monkeypatch.chdir(folder)
    (folder / "bad.csv").write_text("phases\n")
    (folder / "walk.txt").write_text("")
    (folder / "empty").mkdir(exist_ok=True)
    (folder / "broken.sto").write_bytes(b"\x00\xff walk")
    write_table(Table(("x",), np.arange(3.0), np.zeros((3, 1))), folder / "other.sto")
    result = run(*words, "--model", "model.toml", "-o", "none")
    assert result.exit_code == 1, result.output
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output
    assert not (folder / "none").exists()


def test_a_folder_with_one_trial_stands_for_it(tmp_path):
    trial = hd.synthetic.walking_trial(strides=1, plates=1).trial
    for name in ("a.c3d", "b.c3d"):
        hd.capture.write(trial, tmp_path / name)
    several = run(tmp_path, "--mass", 70, "-o", tmp_path / "out")
    assert several.exit_code == 1
    assert "has several trials" in " ".join(several.output.split())
    (tmp_path / "b.c3d").rename(tmp_path / "static.c3d")
    # The trial is found: the error is about its phases, not about the folder.
    found = run(tmp_path, "--mass", 70, "--phases", "none.csv", "-o", tmp_path / "out")
    assert found.exit_code == 1
    assert "none.csv" in found.output
