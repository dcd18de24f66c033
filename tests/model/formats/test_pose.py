"""Poses from tables: named columns, defaults for the rest, refusals with their place."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import FormatError, ModelError
from homodyn.model import Assembly, Body, joints
from homodyn.model.formats.pose import read_pose


@pytest.fixture(scope="module")
def person():
    return hd.catalog.heiman()


@pytest.fixture(scope="module")
def drone():
    body = Body("drone", 1.0, (0, 0, 0), (1, 1, 1))
    return Assembly("drone").add(body, joints.free(default=[0, 0, 2.0, 0, 0, 0])).model()


def test_columns_go_by_name_and_the_others_keep_their_default(person, tmp_path):
    path = tmp_path / "pose.csv"
    path.write_text("KneeLeft_RY, time, HipLeft_RY\n0,0,0\n\n0.5, 0.1, -0.25\n")
    q = read_pose(person, path, row=1)
    expected = person.neutral()
    expected[person.coordinate_index("KneeLeft_RY")] = 0.5
    expected[person.coordinate_index("HipLeft_RY")] = -0.25
    np.testing.assert_array_equal(q, expected)
    np.testing.assert_array_equal(read_pose(person, path), person.neutral())


def test_turns_of_a_quaternion_are_a_rotation_vector(drone):
    name = drone.coordinate_names
    q = drone.pose({name[5]: np.pi / 2, name[0]: 3.0})
    np.testing.assert_allclose(q, [3, 0, 2, np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-15)
    np.testing.assert_array_equal(drone.pose({}), drone.neutral())


def test_a_pose_takes_names_it_has_and_finite_numbers(person):
    with pytest.raises(ModelError, match="did you mean 'KneeLeft_RY'"):
        person.pose({"KneeLeft_RYY": 0.1})
    with pytest.raises(ModelError, match="finite"):
        person.pose({"KneeLeft_RY": np.nan})


@pytest.mark.parametrize(
    ("text", "row", "message"),
    [
        ("", 0, "the file is empty"),
        ("KneeLeft_RY\n", 0, "no row 0; the file has no row below its header"),
        ("KneeLeft_RY\n0\n", 1, "no row 1; the file has rows 0 to 0"),
        ("KneeLeft_RZ\n0\n", 0, "header: there is no coordinate 'KneeLeft_RZ'"),
        ("KneeLeft_RY,KneeLeft_RY\n0,1\n", 0, "header: the column 'KneeLeft_RY' occurs twice"),
        ("KneeLeft_RY,HipLeft_RY\n0\n", 0, "line 2: 1 entries for 2 columns"),
        ("KneeLeft_RY\n\n45 deg\n", 0, "line 3: 'KneeLeft_RY' must be a number"),
        ("KneeLeft_RY\nnan\n", 0, "line 2: 'KneeLeft_RY' must be a number"),
    ],
)
def test_a_bad_table_is_refused_with_its_place(person, tmp_path, text, row, message):
    path = tmp_path / "pose.csv"
    path.write_text(text)
    with pytest.raises(FormatError) as refusal:
        read_pose(person, path, row=row)
    assert message in str(refusal.value)
    assert "pose.csv" in str(refusal.value)


def test_a_file_that_is_no_text_or_not_there_is_refused(person, tmp_path):
    path = tmp_path / "pose.csv"
    with pytest.raises(FormatError, match="no such file"):
        read_pose(person, path)
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(FormatError, match="not a text file"):
        read_pose(person, path)
