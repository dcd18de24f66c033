"""The section of muscles: figures, tables and files of a walk with muscles."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis import MuscleSettings, analyze_muscles, quality_verdicts, write_result
from homodyn.analysis.muscle_analysis import CONTACT_RANGES, contact_joint
from homodyn.analysis.muscle_curves import known_activations
from homodyn.analysis.muscle_sentences import frame_ranges, status_sentence
from homodyn.analysis.muscle_tables import MUSCLE_FILES, muscle_summary, with_stored_activations
from homodyn.errors import CaptureError
from homodyn.model.side import Side
from homodyn.muscle import ActivationStatus
from homodyn.report import analysis_page
from homodyn.report.muscle_section import muscle_section
from homodyn.report.replay import replay_data
from support import muscled_stroll
from support.pages import read


@pytest.fixture(scope="module")
def muscled(analysis):
    return muscled_stroll.analyzed(analysis)


@pytest.fixture(scope="module")
def folder(muscled, tmp_path_factory):
    return write_result(muscled, tmp_path_factory.mktemp("muscles") / "walk", run_fingerprint="x")


def test_the_section_has_its_figures_and_is_valid_html(muscled):
    page = analysis_page(muscled)
    reader = read(page)
    assert reader.faults == []
    assert reader.open == []
    figures = ("emg", "activations", "forces", "torques")
    for name in (*(f"muscle-{one}" for one in figures), "fiber-lengths", "joint-forces"):
        assert f"fig-{name}" in reader.ids
    assert "nan" not in muscle_section(muscled).lower().replace("dominant", "")


def test_frames_that_muscles_do_not_solve_are_named(muscled):
    found = muscled.muscles
    result = found.activations
    assert result.count(ActivationStatus.RESERVES) > 0
    frames = np.flatnonzero(result.status == ActivationStatus.RESERVES)
    assert f"frames {frames[0]}" in status_sentence(found)
    (verdict,) = (one for one in quality_verdicts(muscled) if one.subject == "muscles")
    assert verdict.light == "fair"
    summary = muscle_summary(found)
    listed = [row["frame"] for row in summary["unsolved_frames"]]
    assert listed == np.flatnonzero(found.unsolved).tolist()
    assert frame_ranges(np.array([3, 4, 5, 9]), np.arange(10) / 100) == (
        "3 to 5 (0.03 to 0.05 s), 9 (0.09 s)"
    )


def test_agreement_with_emg_that_leads_by_40_ms(muscled):
    found = {one.channel: one for one in muscled.muscles.agreements}
    assert set(found) == {"vaslat_r", "soleus_r", "tibant_l"}
    for one in found.values():
        assert one.delay_s == pytest.approx(0.04, abs=0.0051)
        assert one.grade == "good"


def test_joint_forces_are_those_of_newton_and_euler(muscled):
    found = muscled.muscles
    joints = found.reactions.joints
    assert contact_joint(joints, CONTACT_RANGES[1], Side.RIGHT) == "KneeRight"
    assert contact_joint(("patellofemoral_knee_r",), CONTACT_RANGES[1], Side.RIGHT) is None
    peaks = {(one.joint, one.side): one for one in found.contact_peaks()}
    knee = peaks["Knee", "left"]
    size = np.linalg.norm(found.reactions.force[:, joints.index("KneeLeft")], axis=1)
    known = found.known["left"]
    weight = muscled.model.mass * np.linalg.norm(muscled.model.gravity)
    assert knee.peak == pytest.approx(size[known].max() / weight)
    assert knee.peak > 1.5


def test_the_tables_hold_the_result(muscled, folder):
    written = {path.name for path in folder.iterdir()}
    assert set(MUSCLE_FILES) <= written
    result = muscled.muscles.activations
    for name, values in (
        ("activations.sto", result.activations),
        ("muscle_forces.sto", result.forces),
        ("fiber_lengths.sto", result.fiber_lengths),
    ):
        table = hd.capture.read_table(folder / name)
        assert table.names == result.muscles
        np.testing.assert_allclose(table.values, values, rtol=1e-6, atol=1e-9)
    reactions = hd.capture.read_table(folder / "joint_reactions.sto")
    column = reactions.column("KneeRight_on_ShankRight_in_ShankRight_fz")
    place = muscled.muscles.reactions.joint("KneeRight")
    np.testing.assert_allclose(column, muscled.muscles.reactions.force[:, place, 2], rtol=1e-6)
    with open(folder / "muscle_status.csv", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["status"] for row in rows] == [str(one) for one in result.status]
    summary = json.loads((folder / "summary.json").read_text())["muscles"]
    assert summary["frames"]["reserves"] == result.count(ActivationStatus.RESERVES)
    assert {row["channel"] for row in summary["emg"]} == {"vaslat_r", "soleus_r", "tibant_l"}


def test_contributions_and_reserves_are_the_torques(muscled):
    result = muscled.muscles.activations
    names = result.loads.motion.model.coordinate_names
    for k, coordinate in enumerate(result.coordinates):
        total = sum(result.contributions(coordinate).values()) + result.reserves[:, k]
        expected = result.loads.tau[:, names.index(coordinate)]
        np.testing.assert_allclose(total, expected, atol=1e-6)


def test_a_stored_result_gives_the_activations_back(muscled, folder):
    bare = replace(muscled.motion, activations=np.zeros((0, 0)))
    again = with_stored_activations(bare, folder)
    np.testing.assert_allclose(
        again.activations, muscled.muscles.activations.activations, atol=1e-8
    )
    assert with_stored_activations(bare, folder.parent) is bare


def test_the_replay_draws_muscles_where_activations_are_known(muscled, analysis):
    assert replay_data(analysis.motion)["muscles"] is None
    motion = muscled.muscles.with_activations(muscled.motion)
    known = known_activations(muscled.muscles.activations, muscled.muscles.known)
    assert (np.isfinite(motion.activations) == known).all()
    data = replay_data(motion)["muscles"]
    assert data["counts"] == [2] * 20


@pytest.mark.parametrize("emg", ["informed", "tracking"])
def test_emg_pulls_activations_towards_it(muscled, emg):
    loads = muscled.loads
    contrary = replace(muscled.emg, values=np.roll(muscled.emg.values, 12, axis=0))
    sides = muscled.emg_sides
    free = analyze_muscles(loads, MuscleSettings(), contrary, sides, events=muscled.events)
    pulled = analyze_muscles(
        loads, MuscleSettings(emg=emg, emg_delay=0.0), contrary, sides, events=muscled.events
    )
    assert any("EMG with a delay of 0 ms" in note for note in pulled.notes)
    for one in free.agreements:
        aim = one.emg_factor * contrary.values[:, contrary.names.index(one.channel)]
        column = free.activations.muscle(one.channel)
        error = [
            np.square(np.minimum(aim, 1.0) - found.activations.activations[:, column]).mean()
            for found in (free, pulled)
        ]
        assert error[1] < 0.95 * error[0], one.channel


def test_emg_that_is_missing_is_named(muscled):
    with pytest.raises(CaptureError, match="--muscle-emg informed needs EMG"):
        analyze_muscles(muscled.loads, MuscleSettings(emg="informed"))
