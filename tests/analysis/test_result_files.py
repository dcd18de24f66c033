"""Files of a result: units in their headings, numbers that come back, whole or not there."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis.result_files import find_results, read_summary
from homodyn.analysis.result_tables import write_loads
from homodyn.analysis.settings import fingerprint
from homodyn.errors import FormatError
from homodyn.report import analysis_folder, write_analysis


def columns(path):
    with open(path, encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    return {name: [row[k] for row in rows] for k, name in enumerate(head)}


def numbers(path, name):
    return np.array([float(cell) if cell else np.nan for cell in columns(path)[name]])


def test_everything_is_there(result):
    names = {path.name for path in result.iterdir()}
    assert names >= {
        "model.toml",
        "motion.csv",
        "motion.mot",
        "torques.csv",
        "torques.sto",
        "forces.csv",
        "markers.csv",
        "events.csv",
        "gait.csv",
        "energy.csv",
        "summary.json",
        "report.html",
        "log.txt",
    }
    assert not any(name.startswith(".") for name in names)


def test_the_model_comes_back_the_same(result, analysis):
    assert hd.load(result / "model.toml") == analysis.model


def test_the_motion_is_in_radians_and_for_opensim_in_degrees(result, analysis):
    motion = analysis.motion
    knee = motion.q[:, motion.model.coordinate_index("KneeRight_RY")]
    np.testing.assert_allclose(
        numbers(result / "motion.csv", "KneeRight_RY = Right knee flexion (rad)"), knee, rtol=1e-8
    )
    height = motion.q[:, motion.model.coordinate_index("Pelvis_TZ")]
    table = hd.capture.read_table(result / "motion.mot")
    assert table.degrees
    np.testing.assert_allclose(table.column("KneeRight_RY"), np.rad2deg(knee), rtol=1e-12)
    np.testing.assert_allclose(table.column("Pelvis_TZ"), height, rtol=1e-12)


def test_torques_and_forces_have_their_units(result, analysis):
    tau = analysis.loads.tau[:, analysis.model.coordinate_index("AnkleLeft_RY")]
    ankle = numbers(result / "torques.csv", "AnkleLeft_RY = -Left ankle dorsiflexion (N m)")
    np.testing.assert_allclose(ankle, tau, rtol=1e-8, atol=1e-9)
    table = hd.capture.read_table(result / "torques.sto")
    np.testing.assert_allclose(table.column("AnkleLeft_RY_moment"), tau)
    assert "Pelvis_TZ_force" in table.names
    foot = next(foot for foot in analysis.loads.feet if foot.side == "right")
    up = numbers(result / "forces.csv", f"{foot.body} force z (N)")
    np.testing.assert_allclose(up, foot.force[:, 2], rtol=1e-8, atol=1e-9)


def test_forces_mark_the_frames_that_plates_measured(analysis, tmp_path):
    half = analysis.motion.time > analysis.motion.time.mean()
    feet = tuple(replace(foot, predicted=True) for foot in analysis.loads.feet)
    nowhere = np.zeros_like(half)
    for loads, seen in (
        (replace(analysis.loads, usable=half), half),
        (replace(analysis.loads, feet=feet), nowhere),
    ):
        write_loads(loads, tmp_path)
        np.testing.assert_array_equal(numbers(tmp_path / "forces.csv", "measured"), seen)


def test_marker_residuals_are_written_per_frame(result, analysis):
    for k, name in enumerate(analysis.motion.markers[:3]):
        found = numbers(result / "markers.csv", f"{name} (m)")
        np.testing.assert_allclose(found, analysis.motion.residual[:, k], rtol=1e-8)


def test_energy_adds_up(result):
    kinetic, potential, whole = (
        numbers(result / "energy.csv", name)
        for name in ("kinetic energy (J)", "potential energy (J)", "energy (J)")
    )
    np.testing.assert_allclose(kinetic + potential, whole, rtol=1e-7)


def test_cycles_have_a_hundred_and_one_points(result):
    table = columns(result / "cycles.csv")
    assert len(table["gait cycle (%)"]) == 101
    assert "Knee flexion right mean (deg)" in table
    assert "Ankle dorsiflexion torque left sd (N m/kg)" in table


def test_the_summary_is_plain_and_carries_the_fingerprint(result, walk_file, settings):
    summary = json.loads((result / "summary.json").read_text(encoding="utf-8"))
    assert summary["fingerprint"] == fingerprint(walk_file, settings)
    assert read_summary(result, with_page=True)["fingerprint"] == summary["fingerprint"]
    assert summary["quality"]["light"] in ("good", "fair")
    assert {row["name"] for row in summary["gait"]} >= {"velocity", "step length", "stride length"}
    assert "NaN" not in (result / "summary.json").read_text(encoding="utf-8")
    hip = {"name": "HipRight_RY", "clinical_name": "Right hip flexion", "sign": -1.0}
    assert hip in summary["coordinates"]
    assert all(set(f) == {"severity", "subject", "sentence"} for f in summary["findings"])


def test_a_result_that_cannot_be_finished_leaves_nothing(analysis, tmp_path, monkeypatch):
    def broken(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(analysis_folder, "analysis_page", broken)
    with pytest.raises(FormatError, match="No space left"):
        write_analysis(analysis, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_result_is_replaced_only_when_asked_and_a_stranger_never(analysis, tmp_path):
    folder = write_analysis(analysis, tmp_path / "out")
    with pytest.raises(FormatError, match="--overwrite"):
        write_analysis(analysis, folder)
    (folder / "old").write_text("")
    write_analysis(analysis, folder, overwrite=True)
    assert not (folder / "old").exists()
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "chapter1.tex").write_text("")
    with pytest.raises(FormatError, match="does not contain a result of this kind"):
        write_analysis(analysis, thesis, overwrite=True)
    assert (thesis / "chapter1.tex").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "thesis"]


def test_stored_results_are_records(result):
    (stored,) = find_results(result.parent)
    assert stored.content["quality"]["light"] in ("good", "fair")
    assert stored.measure("stride length", "right")["mean"] > 1.0
    assert stored.measure("stride length", "upwards") is None
    assert stored.curves()["Knee flexion right mean (deg)"].shape == (101,)
    assert len(repr(stored).splitlines()) <= 10
