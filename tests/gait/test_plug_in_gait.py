"""Plug-in Gait: against the results that Vicon stored, and against geometry."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import CaptureError, FormatError
from homodyn.gait.plug_in_gait import chord, plug_in_gait_angles, read_subject, with_static_foot

CENTERS = {
    "LHJC": "LFEP",
    "RHJC": "RFEP",
    "LKJC": "LFEO",
    "RKJC": "RFEO",
    "LAJC": "LTIO",
    "RAJC": "RTIO",
}
"""Our joint centers and the points of Vicon's segments."""


@pytest.fixture(scope="module")
def vicon(shared_data: Path):
    """A standing trial with the results of Vicon, and the measurements of the subject."""
    folder = shared_data / "plug_in_gait"
    trial = hd.capture.read(folder / "Sample_Static.csv")
    return trial, read_subject(folder / "Sample_SM.vsk")


def test_joint_centers_are_those_of_vicon(vicon):
    trial, subject = vicon
    found = plug_in_gait_angles(trial, subject)
    for ours, theirs in CENTERS.items():
        np.testing.assert_allclose(
            found.centers[ours], trial.model_outputs[theirs].values, atol=2e-5, err_msg=ours
        )


def test_angles_are_those_of_vicon(vicon):
    trial, subject = vicon
    found = plug_in_gait_angles(trial, subject)
    assert len(found.angles) == 8
    for name, values in found.angles.items():
        # Vicon turns the foot by its offsets about axes that differ by the offsets themselves.
        tolerance = 0.1 if "Ankle" in name else 0.005
        expected = trial.model_outputs[name].values
        np.testing.assert_allclose(values, expected, atol=tolerance, err_msg=name)


def test_foot_offsets_of_the_static_trial_are_those_of_vicon(vicon):
    trial, subject = vicon
    found = with_static_foot(subject, trial, flat=False)
    for side in ("left", "right"):
        ours, theirs = getattr(found, side), getattr(subject, side)
        assert ours.plantar_flexion == pytest.approx(theirs.plantar_flexion, abs=1e-5)
        assert ours.foot_rotation == pytest.approx(theirs.foot_rotation, abs=1e-5)
    flat = plug_in_gait_angles(trial, with_static_foot(subject, trial))
    assert np.nanmean(flat.angles["LAnkleAngles"][:, 0]) != pytest.approx(4.2, abs=0.5)


def test_the_chord_sees_both_points_at_a_right_angle_away_from_the_wand():
    rng = np.random.default_rng(0)
    proximal = rng.normal(0, 0.02, (5, 3)) + np.array([0, 0, 0.4])
    marker, wand = (
        rng.normal(0, 0.02, (5, 3)),
        rng.normal(0, 0.02, (5, 3)) + np.array([0, 0.1, 0.2]),
    )
    center = chord(proximal, marker, wand, 0.06)
    np.testing.assert_allclose(np.linalg.norm(center - marker, axis=-1), 0.06, rtol=1e-12)
    dot = ((proximal - center) * (marker - center)).sum(-1)
    np.testing.assert_allclose(dot, 0.0, atol=1e-12)
    normal = np.cross(proximal - marker, wand - marker)
    np.testing.assert_allclose((normal * (center - marker)).sum(-1), 0.0, atol=1e-12)
    away = np.cross(normal, proximal - marker)
    assert ((away * (wand - marker)).sum(-1) > 0).all()
    assert ((away * (center - marker)).sum(-1) < 0).all()


def test_missing_markers_and_measurements_are_refused(vicon, tmp_path):
    trial, subject = vicon
    less = trial.select_markers([name for name in trial.markers if name != "LTHI"])
    with pytest.raises(CaptureError, match="missing: LTHI"):
        plug_in_gait_angles(less, subject)
    entry = '<StaticParameter NAME="{}" VALUE="{}"/>'
    path = tmp_path / "subject.vsk"
    path.write_text(entry.format("LeftLegLength", 900))
    with pytest.raises(FormatError, match="LeftKneeWidth, LeftAnkleWidth"):
        read_subject(path)
    path.write_text(entry.format("RightTibialTorsion", 0.2))
    with pytest.raises(FormatError, match="RightTibialTorsion"):
        read_subject(path)
    path.write_text(entry.format("LeftLegLength", "long"))
    with pytest.raises(FormatError, match="expected a number"):
        read_subject(path)


def test_a_wider_knee_moves_its_center_inwards(vicon):
    trial, subject = vicon
    wide = replace(subject, left=replace(subject.left, knee_width=0.125))
    one, two = plug_in_gait_angles(trial, subject), plug_in_gait_angles(trial, wide)
    marker = trial.marker("LKNE")
    near, far = (np.linalg.norm(each.centers["LKJC"] - marker, axis=-1) for each in (one, two))
    np.testing.assert_allclose(far - near, 0.01, rtol=1e-9)
