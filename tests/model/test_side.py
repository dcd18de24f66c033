"""Sides by the names of all formats."""

import pytest

from homodyn.model.side import Side, side_of


@pytest.mark.parametrize(
    "name",
    [
        "calcn_r",
        "ThighRight",
        "RKNE",
        "R.Heel",
        "r_hip",
        "hip_flexion_r",
        "footR",
        "right_foot",
        "RLEG_LINK4",
        "r_ankle",
        "rfoot",
        "Rknee",
        "rupperarm",
        "footR_1",
        "kneeright",
        "LEG_R",
        "RBHD",
    ],
)
def test_right(name):
    assert side_of(name) is Side.RIGHT


@pytest.mark.parametrize(
    "name",
    [
        *("calcn_l", "ThighLeft", "LASI", "L.Heel", "femur_l", "footL", "LeftToeBase"),
        *("lfoot", "larm", "Lthigh1", "l_", "Left", "LFHD", "lfemur"),
    ],
)
def test_left(name):
    assert side_of(name) is Side.LEFT


@pytest.mark.parametrize(
    "name", ["pelvis", "femur", "torso", "Head", "lumbar", "L5", "L1", "sacrum", "CLAV", ""]
)
def test_no_side(name):
    assert side_of(name) is None


@pytest.mark.parametrize(
    "name",
    [
        *(
            "upright",
            "UprightPole",
            "bright",
            "Bright_1",
            "copyright",
            "cleft",
            "leftover",
            "alright",
            "fright",
        ),
        *(
            "LUMBAR",
            "LOWER_BACK",
            "LINK4",
            "LEG",
            "ROOT",
            "RIBS",
            "RADIUS",
            "radius",
            "rib",
            "root",
        ),
    ],
)
def test_words_that_contain_the_letters_have_no_side(name):
    assert side_of(name) is None


def test_sides_have_an_opposite_a_sign_and_a_title():
    assert Side.LEFT.other is Side.RIGHT
    assert (Side.LEFT.sign, Side.RIGHT.sign) == (1.0, -1.0)
    assert [side.title for side in Side] == ["Right", "Left"]


@pytest.mark.parametrize("name", ["Neck_RX", "Pelvis_RY", "UpperTrunk_RZ", "root_rx"])
def test_axes_of_rotation_are_no_sides(name):
    assert side_of(name) is None


def test_a_side_reads_as_a_quoted_word_in_messages():
    assert f"{Side.LEFT!r} {Side.RIGHT}" == "'left' right"
