"""Measured markers and tracked coordinates as targets of a fit."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.kinematics.fit_targets import marker_targets, tracking_targets
from homodyn.errors import CaptureError, HomodynError
from support.movements import swaying, trial_of


@pytest.fixture(scope="module")
def model():
    return hd.catalog.heiman()


def test_hidden_markers_have_no_weight_and_shared_ones_keep_their_order(model):
    trial = trial_of(model, swaying(model, 3)).select_markers(["RKNE", "LASI"])
    positions = trial.positions.copy()
    positions[1, 0] = np.nan
    found = marker_targets(
        model, hd.capture.Trial("t", trial.markers, positions, 100.0), {"LASI": 2.0}
    )
    names = [marker.name for marker in model.markers]
    assert found.names == ("LASI", "RKNE")
    assert [names[k] for k in found.marker_indices] == ["LASI", "RKNE"]
    assert found.weights[:, names.index("LASI")].tolist() == [2.0, 2.0, 2.0]
    assert found.weights[:, names.index("RKNE")].tolist() == [1.0, 0.0, 1.0]
    assert found.weights.sum() == 8.0
    np.testing.assert_array_equal(found.targets[0, names.index("RKNE")], trial.marker("RKNE")[0])
    assert "markers of the model that the trial lacks" in found.notes[0]
    assert found.notes[0].endswith("and 18 more")


@pytest.mark.parametrize(
    ("name", "coordinate", "sign"),
    [
        ("KneeRight_RY", "KneeRight_RY", 1.0),
        ("right knee flexion", "KneeRight_RY", 1.0),
        ("Right hip flexion", "HipRight_RY", -1.0),
        ("hip_flexion_r", "HipRight_RY", -1.0),
    ],
)
def test_tracked_values_have_the_sign_of_the_name(model, name, coordinate, sign):
    weights, targets = tracking_targets(model, {name: (0.5, [0.1, np.nan, 0.3])}, 3)
    entry = model.coordinate_index(coordinate)
    assert weights[:, entry].tolist() == [0.5, 0.0, 0.5]
    assert targets[:, entry].tolist() == [0.1 * sign, 0.0, 0.3 * sign]
    assert np.count_nonzero(weights) == 2


def test_a_clinical_name_pulls_the_fit_the_way_it_says(model):
    q = swaying(model, 4)
    trial = trial_of(model, q)
    motion = hd.capture.inverse_kinematics(model, trial, track={"right hip flexion": (1e6, 0.7)})
    np.testing.assert_allclose(motion["right hip flexion"].values, 0.7, atol=1e-4)


def test_unknown_and_wrong_coordinates_are_refused(model):
    with pytest.raises(HomodynError, match=r"'knee'.*Right knee flexion"):
        tracking_targets(model, {"knee": (1.0, 0.0)}, 2)
    with pytest.raises(CaptureError, match="one number or 2"):
        tracking_targets(model, {"KneeLeft_RY": (1.0, [1.0, 2.0, 3.0])}, 2)
    quaternion = hd.catalog.hdm()
    rotation = quaternion.coordinate_names[3]
    with pytest.raises(CaptureError, match="part of a quaternion"):
        tracking_targets(quaternion, {rotation: (1.0, 0.0)}, 2)
