"""Angles and lengths among the coordinates of a model."""

import homodyn as hd
from homodyn.motion.coordinate_columns import angular_coordinates, position_columns


def test_angles_and_lengths_are_distinguished():
    model = hd.catalog.hdm()
    angles = angular_coordinates(model)
    assert not angles[:3].any()
    assert angles[3:6].all()
    assert angles.sum() == model.nv - 3


def test_a_quaternion_root_has_columns_of_its_own():
    model = hd.catalog.hdm()
    columns = position_columns(model)
    assert [column.q for column in columns] == list(range(model.nq))
    assert [column.unit for column in columns[:7]] == ["m"] * 3 + [""] * 4
    assert [column.name[-3:] for column in columns[3:7]] == ["_qw", "_qx", "_qy", "_qz"]
