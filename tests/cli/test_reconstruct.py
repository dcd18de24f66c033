"""``homodyn reconstruct``: a folder with everything, and refusals in one sentence."""

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

FILES = {
    "forces.csv",
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
def made(tmp_path_factory):
    """A made walk as a table of coordinates, its model and its phases."""
    folder = tmp_path_factory.mktemp("walk")
    walk = hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=1, variation=0.0, mass=70, plates=2
    )
    motion = walk.truth.motion
    table = Table(motion.model.coordinate_names, motion.time, motion.q, False, "Coordinates")
    write_table(table, folder / "walk.sto")
    hd.save(walk.model, folder / "model.toml")
    first = hd.gait.contact_phases(motion, events=walk.truth.events)[0]
    # Half of the flat stance is enough to see everything written.
    short = hd.gait.FootContactPhase(
        first.begin, (first.begin + first.end) / 2, first.right, first.left
    )
    hd.gait.write_contact_schedule([short], folder / "phases.csv")
    return folder


@pytest.fixture(scope="module")
def done(made):
    out = made / "out"
    options = ("--model", made / "model.toml", "--phases", made / "phases.csv", "--nodes", 5)
    return run(made / "walk.sto", *options, "--cutoff", 20, "-o", out), out


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
    assert hd.gait.read_contact_schedule(out / "phases.csv")[0].right is hd.gait.FootContact.FLAT


def test_the_page_has_all_figures_and_loads_nothing(done):
    _, out = done
    page = (out / "report.html").read_text()
    for name in ("tracking", "overlay", "torques", "forces", "elevation"):
        assert f'id="fig-{name}"' in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "src=" not in page
    drawn = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawn) > 30
    assert not any("nan" in picture.lower() for picture in drawn)


def test_what_is_there_is_not_replaced_unasked(done, made):
    _, out = done
    again = run(made / "walk.sto", "--model", made / "model.toml", "-o", out)
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
def test_refusals_are_one_sentence_and_leave_nothing(made, monkeypatch, words, message):
    monkeypatch.chdir(made)
    (made / "bad.csv").write_text("phases\n")
    (made / "walk.txt").write_text("")
    (made / "empty").mkdir(exist_ok=True)
    (made / "broken.sto").write_bytes(b"\x00\xff walk")
    write_table(Table(("x",), np.arange(3.0), np.zeros((3, 1))), made / "other.sto")
    result = run(*words, "--model", "model.toml", "-o", "none")
    assert result.exit_code == 1, result.output
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output
    assert not (made / "none").exists()


def test_forces_of_an_analysis_are_compared_or_tracked(made):
    """A folder as analyze writes it: coordinates with rates, forces, torques and events."""
    walk = hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=1, variation=0.0, mass=70, plates=2
    )
    from homodyn.analysis import Settings, read_motion
    from homodyn.analysis.result_tables import write_csv

    folder, motion, loads = made / "analysed", walk.truth.motion, walk.truth.loads
    folder.mkdir()
    names = motion.model.coordinate_names
    hd.save(walk.model, folder / "model.toml")
    heads = [f"{n}{word} (rad)" for word in ("", " speed", " acceleration") for n in names]
    columns = np.column_stack([motion.q, motion.v, motion.a])
    write_csv(folder / "motion.csv", motion.time, heads, columns)
    write_csv(folder / "torques.csv", motion.time, [f"{n} (N m)" for n in names], loads.tau)
    heads, parts = [], []
    for foot in loads.feet:
        for word, values in (("force", foot.force), ("point", foot.point), ("moment", foot.torque)):
            heads += [f"{foot.body} {word} {axis} (N)" for axis in "xyz"]
            parts.append(values)
    write_csv(folder / "forces.csv", motion.time, heads, np.column_stack(parts))
    found = read_motion(folder, Settings(mass=70))
    np.testing.assert_allclose(found.motion.v, motion.v, rtol=1e-6, atol=1e-7)
    assert [foot.side for foot in found.loads.feet] == ["left", "right"]
    right = next(f for f in loads.feet if f.side == "right")
    np.testing.assert_allclose(found.loads.feet[1].force, right.force, rtol=1e-6, atol=1e-5)
    assert found.events is None
    # What plates did not measure is not taken for a force of nothing.
    for seen, known in ((motion.time > 0.5, True), (np.zeros(len(motion.time)), False)):
        table = np.column_stack([*parts, seen])
        write_csv(folder / "forces.csv", motion.time, [*heads, "measured"], table)
        again = read_motion(folder, Settings(mass=70)).loads
        assert (again is not None) is known
        if again is not None:
            np.testing.assert_array_equal(again.usable, seen)


def test_the_step_that_plates_measured_is_preferred():
    from dataclasses import replace

    from homodyn.analysis import RecordedMotion

    walk = hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, variation=0.0, mass=70, plates=2
    )
    motion, loads, events = walk.truth.motion, walk.truth.loads, walk.truth.events
    steps = hd.gait.complete_steps(events)
    assert len(steps) > 1
    later = replace(loads, usable=motion.time > steps[0][1] - 0.02)
    assert RecordedMotion("", motion, loads, events).measured_step == steps[0]
    assert RecordedMotion("", motion, later, events).measured_step == steps[1]
    none = replace(loads, usable=np.zeros(len(motion.time), dtype=bool))
    assert RecordedMotion("", motion, none, events).measured_step is None
    assert RecordedMotion("", motion, None, events).measured_step is None
