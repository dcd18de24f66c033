"""Joint centers of Plug-in Gait in scaling: HeiMan against Vicon, and the form of the result."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.plug_in_gait_centers import leg_centers, leg_markers
from homodyn.capture.scaling.conventional_markers import (
    assumed_measurements,
    conventional_markers,
    knee_offsets,
)
from homodyn.capture.scaling.pelvis_landmarks import pelvis_line_elevation
from homodyn.dynamics import marker_positions, orientation, position
from homodyn.gait.plug_in_gait import plug_in_gait_angles, read_subject

MAX_BIAS_DEG = 5.0
"""Required of all sagittal angles, after the difference of the pelvis conventions."""


@pytest.fixture(scope="module")
def vicon(shared_data: Path):
    """A standing trial with the markers of Plug-in Gait, and the measurements of the subject."""
    folder = shared_data / "plug_in_gait"
    trial = hd.capture.read(folder / "Sample_Static.csv")
    frames = hd.capture.Trial("stand", trial.markers, trial.positions[::5], trial.rate / 5)
    return frames, read_subject(folder / "Sample_SM.vsk")


@pytest.fixture(scope="module")
def heiman():
    return hd.catalog.heiman(height=1.76, mass=75.0)


@pytest.fixture(scope="module")
def calibrated(vicon, heiman):
    trial, subject = vicon
    return hd.capture.calibrate(heiman, trial, plug_in_gait=subject, height=1.76)


def sagittal_biases(model, q, conventional):
    """Mean angles (deg) of HeiMan minus those of Plug-in Gait, after the pelvis convention."""
    shift = np.rad2deg(pelvis_line_elevation(model))
    forward = orientation(model, q, "Pelvis")[:, :, 0]
    tilt = -np.rad2deg(np.arcsin(forward[:, 2]))
    found = {"tilt": tilt - conventional.angles["LPelvisAngles"][:, 0] - shift}

    def angle(name):
        return np.rad2deg(q[:, model.position_index[model.coordinate_names.index(name)]])

    for letter, side in (("L", "Left"), ("R", "Right")):
        theirs = {j: conventional.angles[f"{letter}{j}Angles"][:, 0] for j in ("Hip", "Knee")}
        found[letter + "Hip"] = -angle(f"Hip{side}_RY") - theirs["Hip"] - shift
        found[letter + "Knee"] = angle(f"Knee{side}_RY") - theirs["Knee"]
        ankle = conventional.angles[f"{letter}AnkleAngles"][:, 0]
        found[letter + "Ankle"] = -angle(f"Ankle{side}_RY") - ankle
    return {name: float(np.nanmean(values)) for name, values in found.items()}


def test_heiman_has_the_sagittal_angles_of_the_laboratory(vicon, calibrated):
    trial, subject = vicon
    motion = hd.capture.inverse_kinematics(calibrated.model, trial)
    found = sagittal_biases(calibrated.model, motion.q, plug_in_gait_angles(trial, subject))
    assert len(found) == 7
    assert max(map(abs, found.values())) < MAX_BIAS_DEG, found


def test_knees_are_where_vicon_has_them(vicon, calibrated):
    trial, subject = vicon
    motion = hd.capture.inverse_kinematics(calibrated.model, trial)
    centers = leg_centers(leg_markers(trial), subject)
    for name, body in (("LKJC", "ShankLeft"), ("RKJC", "ShankRight")):
        ours = position(calibrated.model, motion.q, body)
        assert np.linalg.norm(ours - centers[name], axis=-1).mean() < 0.02


def test_the_result_has_the_markers_of_the_generic_model(heiman, calibrated):
    names = [marker.name for marker in heiman.markers]
    assert [marker.name for marker in calibrated.model.markers] == names
    assert calibrated.generic is heiman
    assert any(
        "conventions of Plug-in Gait, with widths as measured" in n for n in calibrated.notes
    )
    scales = {row.body: row.scale for row in calibrated.bodies}
    placed = {marker.name: marker for marker in calibrated.model.markers}
    generic = {marker.name: marker for marker in heiman.markers}
    assert "LKJC" not in {row.marker for row in calibrated.marker_shifts}
    for row in calibrated.marker_shifts:
        expected = generic[row.marker].position * scales[row.body] + row.shift
        np.testing.assert_allclose(placed[row.marker].position, expected, atol=1e-9)


def test_knee_markers_of_the_set_are_on_the_axis(vicon, heiman):
    trial, subject = vicon
    found = conventional_markers(heiman, [trial], subject)
    assert found is not None
    assert found.names == {"LKJC", "LAJC", "RKJC", "RAJC"}
    knee = {marker.name: marker.position for marker in found.model.markers}["LKNE"]
    np.testing.assert_allclose(knee, [0.0, 0.105 / 2 + 0.007, 0.0], atol=1e-12)
    centers = leg_centers(leg_markers(trial), subject)
    np.testing.assert_array_equal(found.trials[0].marker("RAJC"), centers["RAJC"])


def test_widths_are_assumed_where_they_were_not_measured(vicon, heiman):
    trial, subject = vicon
    assumed = assumed_measurements([leg_markers(trial)])
    assert assumed.left.leg_length == pytest.approx(subject.left.leg_length, rel=0.05)
    assert assumed.left.knee_width == pytest.approx(subject.left.knee_width, rel=0.1)
    found = conventional_markers(heiman, [trial])
    assert found is not None
    assert "assumed from the length of the legs" in found.note


def test_knee_markers_where_the_model_has_them_stay_there(vicon, heiman):
    """The labels of Plug-in Gait do not prove its conventions; straight legs show the knees."""
    names = tuple(marker.name for marker in heiman.markers)
    q = np.tile(heiman.neutral(), (4, 1))
    standing = hd.capture.Trial("t", names, marker_positions(heiman, q), 100.0)
    assert knee_offsets([leg_markers(standing)]) == pytest.approx(0.036, abs=0.002)
    assert (knee_offsets([leg_markers(vicon[0])]) < 0.015).all()
    assert conventional_markers(heiman, [standing]) is None
    assert conventional_markers(heiman, [standing], vicon[1]) is not None


def test_knees_that_are_hardly_ever_straight_are_not_judged(vicon, heiman):
    trial, subject = vicon
    short = trial.crop(trial.time[0], trial.time[4])
    assert short.frames == 5
    assert np.isnan(knee_offsets([leg_markers(short)], 10)).all()
    assert conventional_markers(heiman, [short]) is None
    assert conventional_markers(heiman, [short], subject) is not None


def test_other_marker_sets_are_left_alone(vicon, heiman):
    trial, _ = vicon
    less = trial.select_markers([name for name in trial.markers if name != "LTHI"])
    assert conventional_markers(heiman, [less]) is None
    medial = replace(heiman.markers[0], name="LMKNE", body="ThighLeft")
    with_medial = replace(heiman, markers=(*heiman.markers, medial))
    shown = replace(
        trial,
        markers=(*trial.markers, "LMKNE"),
        positions=np.concatenate([trial.positions, trial.positions[:, :1]], axis=1),
        filled=np.pad(trial.filled, ((0, 0), (0, 1))),
    )
    assert conventional_markers(with_medial, [shown]) is None
