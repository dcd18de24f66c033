"""``homodyn analyze``: result folders of good trials, errors with a remedy for bad ones."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import homodyn as hd
from homodyn.analysis import TrialOutcome, TrialStatus
from homodyn.capture import Trial
from homodyn.cli import app
from homodyn.cli.analyze import print_outcome
from support import box_lifts, muscled_stroll, strolls

SUBJECT = ("--mass", "76", "--height", "1.79", "--scale", "none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    lab = tmp_path_factory.mktemp("lab")
    hd.capture.write(strolls.recording(), lab / "walk.c3d")
    return lab


def run(*words):
    return CliRunner().invoke(app, ["analyze", *map(str, words)], prog_name="homodyn")


def refused(tmp_path, *words):
    """The error of a command that writes nothing."""
    out = tmp_path / "out"
    result = run(*words, "-o", out)
    assert result.exit_code == 1, result.output
    assert not out.exists() or list(out.iterdir()) == []
    text = " ".join(result.output.split())
    assert "Traceback" not in text
    return text


def test_a_trial_gets_a_folder_and_a_second_run_skips_it(folder, tmp_path):
    result = run(folder / "walk.c3d", *SUBJECT, "-o", tmp_path)
    assert result.exit_code == 0, result.output
    assert "report.html: " in result.output
    page = tmp_path / "walk" / "report.html"
    before = page.stat().st_mtime_ns
    again = run(folder / "walk.c3d", *SUBJECT, "-o", tmp_path)
    assert again.exit_code == 0
    assert "up to date" in again.output
    assert page.stat().st_mtime_ns == before
    changed = run(folder / "walk.c3d", *SUBJECT, "--cutoff", "8", "-o", tmp_path)
    assert "up to date" not in changed.output
    summary = json.loads((tmp_path / "walk" / "summary.json").read_text(encoding="utf-8"))
    assert summary["settings"]["cutoff"] == 8.0


def test_the_cutoff_can_be_chosen_by_residual_analysis(folder, tmp_path):
    result = run(folder / "walk.c3d", *SUBJECT, "--cutoff", "auto", "-o", tmp_path)
    assert result.exit_code == 0, result.output
    summary = json.loads((tmp_path / "walk" / "summary.json").read_text(encoding="utf-8"))
    assert summary["settings"]["cutoff"] == "auto"
    assert 4.0 <= summary["filter"]["cutoff_hz"] <= 20.0
    assert any("by residual analysis" in note for note in summary["notes"])
    text = refused(tmp_path, folder / "walk.c3d", *SUBJECT, "--cutoff", "high")
    assert "--cutoff is 'high'; accepted: a frequency (Hz) such as 6, standard or auto" in text


def test_a_bad_file_among_good_ones_is_named_at_the_end(folder, tmp_path):
    empty = tmp_path / "empty.trc"
    empty.write_text("")
    out = tmp_path / "out"
    result = run(empty, folder / "walk.c3d", *SUBJECT, "--jobs", 1, "-o", out)
    assert result.exit_code == 1
    assert "empty" in result.output
    assert "1 of 2 trials failed" in result.output
    assert (out / "walk" / "report.html").is_file()
    assert sorted(path.name for path in out.iterdir()) == ["gait.csv", "index.html", "walk"]


@pytest.mark.parametrize("name", ["empty.c3d", "empty.trc", "empty.csv"])
def test_an_empty_file(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    assert "empty" in refused(tmp_path, tmp_path / name, *SUBJECT)


def test_a_file_that_is_not_there(tmp_path):
    assert "there is no such file" in refused(tmp_path, tmp_path / "walk.c3d", *SUBJECT)


def test_a_file_of_another_kind(tmp_path):
    (tmp_path / "walk.docx").write_bytes(b"PK")
    assert ".c3d, .trc" in refused(tmp_path, tmp_path / "walk.docx", *SUBJECT)


def test_no_markers(shared_data, tmp_path):
    file = shared_data / "c3d" / "ten_plates_no_markers.c3d"
    assert "no markers" in refused(tmp_path, file, *SUBJECT)


def test_markers_that_are_never_seen(tmp_path):
    blind = Trial("blind", ("LASI", "RASI", "LPSI"), np.full((20, 3, 3), np.nan), 100.0)
    hd.capture.write(blind, tmp_path / "blind.trc")
    text = refused(tmp_path, tmp_path / "blind.trc", *SUBJECT)
    assert "no marker is visible" in text


def test_labels_that_the_model_does_not_know(tmp_path):
    recorded = strolls.recording(forces=False)
    odd = recorded.rename_markers({label: f"Q{k:02d}" for k, label in enumerate(recorded.markers)})
    hd.capture.write(odd, tmp_path / "odd.trc")
    assert "--map" in refused(tmp_path, tmp_path / "odd.trc", *SUBJECT)


def test_a_missing_mass(folder, tmp_path):
    assert "--mass" in refused(tmp_path, folder / "walk.c3d", "--height", "1.79")


def test_a_height_in_centimeters(folder, tmp_path):
    text = refused(tmp_path, folder / "walk.c3d", "--mass", "76", "--height", "179")
    assert "--height 1.79" in text


def test_a_static_trial_of_another_subject(folder, tmp_path):
    child = hd.catalog.heiman(height=1.05, mass=18)
    hd.capture.write(strolls.standing(child), tmp_path / "child.trc")
    text = refused(
        tmp_path,
        folder / "walk.c3d",
        "--mass",
        "76",
        "--static",
        tmp_path / "child.trc",
        "--scale",
        "static",
        "--to",
        "0.3",
    )
    assert "same subject" in text


def test_plates_upside_down(tmp_path):
    recorded = strolls.recording()
    turned = [replace(p, force=-p.force, torque=-p.torque) for p in recorded.plates]
    hd.capture.write(replace(recorded, plates=tuple(turned)), tmp_path / "walk.c3d")
    text = refused(tmp_path, tmp_path / "walk.c3d", *SUBJECT)
    assert "change the sign" in text


def test_markers_in_the_wrong_unit(tmp_path):
    recorded = strolls.recording(forces=False)
    huge = replace(recorded, positions=1000 * recorded.positions)
    hd.capture.write(huge, tmp_path / "huge.trc")
    text = refused(tmp_path, tmp_path / "huge.trc", *SUBJECT)
    assert "unit" in text or "millimet" in text or "meters" in text


def test_a_truncated_recording(shared_data, tmp_path):
    file = shared_data / "c3d" / "Optotrak.c3d"
    assert refused(tmp_path, file, *SUBJECT)


def test_forces_that_are_not_there(folder, tmp_path):
    text = refused(tmp_path, folder / "walk.c3d", *SUBJECT, "--forces", tmp_path / "none.mot")
    assert "no such file" in text


def test_a_missing_emg_channel_is_named_in_the_report(folder, tmp_path):
    result = run(folder / "walk.c3d", *SUBJECT, "--emg-channels", "Soleus", "-o", tmp_path)
    assert result.exit_code == 0
    assert "Soleus" in (tmp_path / "walk" / "report.html").read_text(encoding="utf-8")
    summary = json.loads((tmp_path / "walk" / "summary.json").read_text(encoding="utf-8"))
    (verdict,) = [v for v in summary["quality"]["verdicts"] if v["subject"] == "EMG"]
    assert verdict["light"] == "fair"
    assert "no EMG channel 'Soleus'" in verdict["sentence"]


@pytest.mark.parametrize("option", ["--emg", "--mvc"])
def test_emg_files_that_cannot_be_used_are_refused(folder, tmp_path, option):
    (tmp_path / "emg.sto").write_bytes(b"\0\1\2")
    options = [option, tmp_path / "emg.sto"]
    if option == "--mvc":
        options += ["--emg-normalize", "mvc"]
    text = refused(tmp_path, folder / "walk.c3d", *SUBJECT, *options)
    assert "emg.sto: this is a binary file" in text


def test_a_folder_with_other_content_is_not_replaced(folder, tmp_path):
    other = tmp_path / "out" / "walk"
    other.mkdir(parents=True)
    (other / "thesis.tex").write_text("years of work")
    result = run(folder / "walk.c3d", *SUBJECT, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "choose another folder" in result.output
    assert (other / "thesis.tex").read_text() == "years of work"


def test_options_of_a_laboratory_with_opensim_files(shared_data, tmp_path):
    lab = shared_data / "gait10dof"
    shutil.copy(lab / "walk.trc", tmp_path / "walk.trc")
    result = run(
        tmp_path / "walk.trc",
        "--model",
        lab / "subject01.osim",
        "--forces",
        lab / "walk_grf.mot",
        "--external-loads",
        lab / "walk_grf.xml",
        "--robust",
        "--from",
        "0.5",
        "--to",
        "2.0",
        "-o",
        tmp_path / "out",
    )
    assert result.exit_code == 0, result.output
    table = hd.capture.read_table(tmp_path / "out" / "walk" / "motion.mot")
    assert table.degrees
    assert table.time[0] == pytest.approx(0.5)
    assert table.names[3] == "hip_flexion_r"


def test_a_result_to_use_with_care_states_the_reason(capsys):
    print_outcome(
        TrialOutcome("w.c3d", "w", TrialStatus.WRITTEN, "out", 2.0, light="fair", verdict="Why.")
    )
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "out/report.html: usable with care, 2.0 s",
        "  Why.",
    ]


@pytest.fixture(scope="module")
def lift(tmp_path_factory):
    """Result of a recording with markers on trunk, arms and a box."""
    lab = tmp_path_factory.mktemp("lift")
    hd.capture.write(box_lifts.recording(), lab / "lift.c3d")
    result = run(lab / "lift.c3d", *SUBJECT, "-o", lab / "out")
    assert result.exit_code == 0, result.output
    return lab / "out" / "lift"


def test_a_trial_of_the_arms_has_no_gait_and_no_torques(lift):
    summary = json.loads((lift / "summary.json").read_text(encoding="utf-8"))
    assert summary["quality"]["light"] == "fair"
    assert summary["events"] == summary["gait"] == []
    assert summary["residuals"] is None
    assert summary["work"] is None
    subjects = {v["subject"]: v for v in summary["quality"]["verdicts"]}
    assert "Pelvis, ThighRight, ShankRight, FootRight" in subjects["unseen segments"]["sentence"]
    assert "FootRight: RANK, RHEE, RTOE" in subjects["forces"]["sentence"]
    assert subjects["cycles"]["light"] == "note"
    assert set(summary["missing"]) >= {"kinetics", "gait"}
    for name in ("torques.csv", "torques.sto", "forces.csv", "cycles.csv", "energy.csv"):
        assert not (lift / name).exists()


def test_the_page_of_the_arms_shows_arms_alone(lift):
    page = (lift / "report.html").read_text(encoding="utf-8")
    log = (lift / "log.txt").read_text(encoding="utf-8")
    for text in (page, log):
        assert "steps/min" not in text
        assert "Complete gait cycles" not in text
        assert "N m/kg" not in text
    assert "Elbow flexion in deg" in page
    for title in ("Knee flexion", "Hip flexion", "Ankle dorsiflexion", "Pelvis"):
        assert f"{title} in deg" not in page


@pytest.mark.parametrize(
    ("markers", "scale"), [(("LBHD", "LFHD", "RBHD", "RFHD"), "none"), (box_lifts.ARMS, "motion")]
)
def test_too_few_markers_are_refused_with_what_is_needed(tmp_path, markers, scale):
    hd.capture.write(box_lifts.recording(markers), tmp_path / "few.c3d")
    subject = (*SUBJECT[:-1], scale)
    text = refused(tmp_path, tmp_path / "few.c3d", *subject)
    assert "do not determine the position of the model" in text
    assert "such as Pelvis: LASI, LPSI, RASI, RPSI" in text


def test_muscles_need_a_model_that_has_some(folder, tmp_path):
    text = refused(tmp_path, folder / "walk.c3d", *SUBJECT, "--muscles")
    assert "has no muscles" in text
    assert ".osim" in text
    text = refused(tmp_path, folder / "walk.c3d", *SUBJECT, "--muscle-weights", "volume")
    assert "--muscle-weights has an effect with --muscles only" in text
    text = refused(tmp_path, folder / "walk.c3d", "--muscles", "--muscle-tendon", "soft")
    assert "rigid" in text


def test_muscles_of_a_model_file(folder, tmp_path):
    body = muscled_stroll.with_muscles(hd.catalog.heiman(height=1.79, mass=76.0))
    file = tmp_path / "muscled.toml"
    hd.save(body, file)
    result = run(
        folder / "walk.c3d", "-m", file, "--scale", "none", "--muscles", "-o", tmp_path / "out"
    )
    assert result.exit_code == 0, result.output
    summary = json.loads((tmp_path / "out" / "walk" / "summary.json").read_text(encoding="utf-8"))
    muscles = summary["muscles"]
    assert sum(muscles["frames"].values()) == summary["recording"]["frames"]
    assert set(muscles["muscles"]) == {one.name for one in body.muscles}
    assert summary["settings"]["muscles"]["weights"] == "equal"
    page = (tmp_path / "out" / "walk" / "report.html").read_text(encoding="utf-8")
    assert 'id="fig-joint-forces"' in page
