"""Joint centers of Plug-in Gait: against those that Vicon stored, and against geometry."""

from pathlib import Path

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.plug_in_gait_centers import chord, leg_centers, leg_markers
from homodyn.gait.plug_in_gait import read_subject

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
    found = leg_centers(leg_markers(trial), subject)
    for ours, theirs in CENTERS.items():
        np.testing.assert_allclose(
            found[ours], trial.model_outputs[theirs].values, atol=2e-5, err_msg=ours
        )


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
