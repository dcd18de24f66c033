"""Mobility of planar linkages against mechanisms whose mobility is known."""

import numpy as np
import pytest

from homodyn.codesign.linkage import (
    Linkage,
    gruebler_mobility,
    has_rigid_part,
    independent_joints,
    joint_rates,
    mobility,
)

FOUR_BAR = Linkage(("torso", "thigh"), ("A", "B"), (("torso", "A"), ("A", "B"), ("thigh", "B")))
TRIANGLE = Linkage(("torso", "thigh"), ("A",), (("torso", "A"), ("thigh", "A")))


@pytest.mark.parametrize(
    ("links", "joints", "expected"), [(2, 1, 1), (4, 4, 1), (5, 5, 2), (7, 8, 2), (3, 3, 0)]
)
def test_gruebler(links, joints, expected):
    assert gruebler_mobility(links, joints) == expected


def test_a_four_bar_moves_in_one_way_and_a_triangle_does_not():
    assert mobility(FOUR_BAR) == 1
    assert mobility(FOUR_BAR, welded=(0,)) == 0
    assert not has_rigid_part(FOUR_BAR)
    assert mobility(TRIANGLE) == 0
    assert has_rigid_part(TRIANGLE)


def test_rates_of_a_parallelogram_are_equal_and_opposite():
    # Joints: torso-A at (0, 0), A-B at (0, 1), thigh-B at (2, 1), torso-thigh at (2, 0).
    points = np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 1.0], [2.0, 0.0]])
    rates = joint_rates(FOUR_BAR, points)
    assert rates.shape == (4, 1)
    first, second, third, hip = rates[:, 0] / rates[0, 0]
    # A (torso minus A) turns as the thigh does (torso minus thigh); B only translates.
    assert np.allclose([first, hip], 1.0)
    assert np.allclose([second, third], [-1.0, -1.0])


def test_two_joints_of_a_four_bar_depend_on_each_other():
    assert independent_joints(FOUR_BAR, (0,))
    assert not independent_joints(FOUR_BAR, (0, 1))


def test_linkages_that_differ_by_names_are_equivalent():
    renamed = Linkage(("torso", "thigh"), ("A", "B"), (("thigh", "A"), ("A", "B"), ("torso", "B")))
    assert FOUR_BAR.is_equivalent(renamed)
    assert not FOUR_BAR.is_equivalent(TRIANGLE)
    other = Linkage(("torso", "thigh"), ("A", "B"), (("torso", "A"), ("A", "B"), ("torso", "B")))
    assert not FOUR_BAR.is_equivalent(other)
