"""Ranges of motion of the table, in radians and with the sign of a coordinate."""

from math import degrees

import pytest

from homodyn.catalog.data_tables import table_document
from homodyn.catalog.joint_ranges import motion_range, motion_ranges

TABLE = table_document("range_of_motion")
MOVEMENTS = [
    f"{joint}.{movement}"
    for joint, movements in TABLE.items()
    if isinstance(movements, dict)
    for movement, limits in movements.items()
    if isinstance(limits, list)
]


@pytest.mark.parametrize("movement", MOVEMENTS)
def test_limits_are_those_of_the_table_and_change_places_with_the_sign(movement):
    joint, what = movement.split(".")
    lower, upper = motion_range(movement)
    assert (degrees(lower), degrees(upper)) == pytest.approx(tuple(TABLE[joint][what]))
    assert lower <= 0 <= upper
    assert motion_range(f"-{movement}") == (-upper, -lower)


def test_several_movements_are_the_limits_of_a_joint():
    found = motion_ranges("hip.flexion", "-knee.flexion")
    assert found["lower"] == (motion_range("hip.flexion")[0], -motion_range("knee.flexion")[1])
    assert found["upper"] == (motion_range("hip.flexion")[1], -motion_range("knee.flexion")[0])


def test_an_adult_flexes_the_knee_further_than_a_right_angle_and_hardly_extends_it():
    lower, upper = motion_range("knee.flexion")
    assert upper > 2.0
    assert lower > -0.2
