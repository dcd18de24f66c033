"""Motions from tables of coordinates of other programs."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import (
    Table,
    motion_from_table,
    read_table,
)
from homodyn.capture.kinetics.motion_table import coordinate_columns
from homodyn.errors import CaptureError


def table(names, degrees=False):
    time = np.arange(60) / 60
    values = np.stack([np.sin(time + k) for k in range(len(names))], -1)
    return Table(tuple(names), time, values, degrees=degrees)


def test_degrees_become_radians_and_lengths_stay():
    model = hd.catalog.heiman()
    given = table(["KneeLeft_RY", "Pelvis_TZ"], degrees=True)
    motion = motion_from_table(model, given)
    knee, height = (model.coordinate_index(name) for name in given.names)
    np.testing.assert_allclose(motion.q[:, knee], np.radians(given.values[:, 0]))
    np.testing.assert_array_equal(motion.q[:, height], given.values[:, 1])
    np.testing.assert_allclose(motion.v[:, height], np.cos(given.time + 1), atol=1e-6)
    np.testing.assert_allclose(motion.a[:, height], -np.sin(given.time + 1), atol=1e-4)


def test_missing_coordinates_and_unknown_columns_are_noted():
    model = hd.catalog.heiman()
    motion = motion_from_table(model, table(["KneeLeft_RY", "nose"]))
    assert "Pelvis_TX" in motion.notes[0]
    assert "Right knee flexion (KneeRight_RY)" in motion.notes[0]
    assert "nose" in motion.notes[1]
    untouched = model.coordinate_index("KneeRight_RY")
    np.testing.assert_array_equal(motion.q[:, untouched], model.neutral()[untouched])


def test_a_table_without_coordinates_is_refused():
    with pytest.raises(CaptureError, match=r"no column.*KneeLeft_RY"):
        motion_from_table(hd.catalog.heiman(), table(["nose"]))


def test_a_quaternion_cannot_be_given_by_angles():
    model = hd.catalog.hdm()
    name = model.coordinate_names[4]
    with pytest.raises(CaptureError, match="quaternion"):
        motion_from_table(model, table([name]))


def test_clinical_and_opensim_names_are_accepted_with_their_sign():
    model = hd.catalog.heiman()
    given = table(["Right hip flexion", "knee_angle_r", "KneeLeft_RY", "ankle_angle_r_moment"])
    motion = motion_from_table(model, given)
    for column, (name, sign) in enumerate(
        [("HipRight_RY", -1.0), ("KneeRight_RY", 1.0), ("KneeLeft_RY", 1.0)]
    ):
        found = motion.q[:, model.coordinate_index(name)]
        np.testing.assert_array_equal(found, sign * given.values[:, column])
    np.testing.assert_array_equal(motion["right hip flexion"].values, given.values[:, 0])
    assert motion.notes[1].endswith("ankle_angle_r_moment")


def test_the_name_of_the_model_takes_precedence_and_two_aliases_are_refused():
    model = hd.catalog.heiman()
    found = coordinate_columns(model, ["right knee flexion", "KneeRight_RY", "nose"])
    assert found == {"KneeRight_RY": ("KneeRight_RY", 1.0)}
    with pytest.raises(CaptureError, match="both Right knee flexion"):
        coordinate_columns(model, ["right knee flexion", "knee_angle_r"])


def test_state_paths_of_opensim_count_by_their_coordinate():
    model = hd.catalog.heiman()
    names = ["/jointset/knee_r/knee_angle_r/value", "/jointset/knee_r/knee_angle_r/speed"]
    given = table([*names, "/jointset/back/Pelvis_TZ/value", "/forceset/vasti_r/activation"])
    motion = motion_from_table(model, given)
    for column, name in ((0, "KneeRight_RY"), (2, "Pelvis_TZ")):
        found = motion.q[:, model.coordinate_index(name)]
        np.testing.assert_array_equal(found, given.values[:, column])
    assert "/speed" in motion.notes[1]
    assert "activation" in motion.notes[1]
    with pytest.raises(CaptureError, match="both Right knee flexion"):
        coordinate_columns(model, ["/jointset/knee_r/knee_angle_r/value", "knee_angle_r"])


def test_states_of_opensim_are_read_as_they_are(shared_data):
    folder = shared_data / "rajagopal_walk"
    given = read_table(folder / "coordinates.sto")
    model = hd.load(folder / "subject_walk_scaled.osim")
    motion = motion_from_table(model, given)
    column = given.column("/jointset/walker_knee_r/knee_angle_r/value")
    np.testing.assert_array_equal(motion.q[:, model.coordinate_index("knee_angle_r")], column)
    # The file has neither the toes, which the model locks, nor other columns than the patellae.
    toes, patellae = motion.notes
    assert toes.endswith("(mtp_angle_r), Left toes dorsiflexion (mtp_angle_l)")
    assert patellae.count("/value") == patellae.count("_beta/value") == 2


def test_a_missing_number_is_refused_with_its_place():
    given = table(["KneeLeft_RY", "Pelvis_TZ"])
    values = given.values.copy()
    values[3, 1] = np.nan
    with pytest.raises(CaptureError, match="'Pelvis_TZ' of the table has no number in row 4"):
        motion_from_table(hd.catalog.heiman(), Table(given.names, given.time, values))
