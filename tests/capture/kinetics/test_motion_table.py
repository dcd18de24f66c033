"""Coordinates of other programs as motions."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import (
    Table,
    motion_from_table,
)
from homodyn.errors import CaptureError
from homodyn.motion.coordinate_columns import angular_coordinates


def table(names, degrees=False):
    time = np.arange(60) / 60
    values = np.stack([np.sin(time + k) for k in range(len(names))], -1)
    return Table(tuple(names), time, values, degrees=degrees)


def test_angles_turn_into_radians_and_lengths_stay():
    model = hd.catalog.heiman()
    given = table(["KneeLeft_RY", "Pelvis_TZ"], degrees=True)
    motion = motion_from_table(model, given)
    knee, height = (model.coordinate_index(name) for name in given.names)
    np.testing.assert_allclose(motion.q[:, knee], np.radians(given.values[:, 0]))
    np.testing.assert_array_equal(motion.q[:, height], given.values[:, 1])
    np.testing.assert_allclose(motion.v[:, height], np.cos(given.time + 1), atol=1e-6)
    np.testing.assert_allclose(motion.a[:, height], -np.sin(given.time + 1), atol=1e-4)


def test_what_is_missing_or_unknown_is_told():
    model = hd.catalog.heiman()
    motion = motion_from_table(model, table(["KneeLeft_RY", "nose"]))
    assert "Pelvis_TX" in motion.notes[0]
    assert "nose" in motion.notes[1]
    untouched = model.coordinate_index("KneeRight_RY")
    np.testing.assert_array_equal(motion.q[:, untouched], model.neutral()[untouched])


def test_a_table_without_coordinates_is_refused():
    with pytest.raises(CaptureError, match=r"no column.*KneeLeft_RY"):
        motion_from_table(hd.catalog.heiman(), table(["nose"]))


def test_a_quaternion_is_not_told_by_angles():
    model = hd.catalog.hdm()
    name = model.coordinate_names[4]
    with pytest.raises(CaptureError, match="quaternion"):
        motion_from_table(model, table([name]))


def test_angles_and_lengths_are_told_apart():
    model = hd.catalog.hdm()
    angles = angular_coordinates(model)
    assert not angles[:3].any()
    assert angles[3:6].all()
    assert angles.sum() == model.nv - 3
