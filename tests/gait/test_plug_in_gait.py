"""Plug-in Gait: against the results that Vicon stored, and against geometry."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import CaptureError, FormatError
from homodyn.gait.plug_in_gait import plug_in_gait_angles, read_subject, with_static_foot


@pytest.fixture(scope="module")
def vicon(shared_data: Path):
    """A standing trial with the results of Vicon, and the measurements of the subject."""
    folder = shared_data / "plug_in_gait"
    trial = hd.capture.read(folder / "Sample_Static.csv")
    return trial, read_subject(folder / "Sample_SM.vsk")


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
