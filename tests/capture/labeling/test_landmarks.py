"""Labels of several marker sets name the same landmarks."""

import pytest

from homodyn.capture.labeling.landmarks import (
    Landmark,
    is_unlabeled,
    landmark,
    left_right_pairs,
    normalize_label,
)


@pytest.mark.parametrize(
    "label", ["R.ASIS", "R_ASIS", "r asis", "RightASIS", "ASIS_R", "right-asis", "Anna:RASIS"]
)
def test_one_spelling_for_all(label):
    assert normalize_label(label) == "rasis"
    assert landmark(label) == Landmark("r", "asis")


@pytest.mark.parametrize(
    ("label", "side", "place"),
    [
        ("RASI", "r", "asis"),
        ("LFWT", "l", "asis"),
        ("R_IAS", "r", "asis"),
        ("RHEE", "r", "heel"),
        ("R.Heel", "r", "heel"),
        ("L_FCC", "l", "heel"),
        ("R.Toe.Tip", "r", "toe"),
        ("LLFC", "l", "knee"),
        ("RMFC", "r", "knee medial"),
        ("V.Sacral", "", "sacrum"),
        ("C7", "", "c7"),
        ("RFAradius", "r", "wrist radial"),
        ("l_metatarsal_pha5", "l", "fifth metatarsal"),
        ("Sternum", "", "sternum"),
        ("L5", "", "l5"),
    ],
)
def test_labels_of_several_marker_sets_name_landmarks(label, side, place):
    assert landmark(label) == Landmark(side, place)


def test_pairs_and_nameless_points():
    assert left_right_pairs(("L.ASIS", "C7", "RASIS", "LTH1", "RTH1")) == [(0, 2), (3, 4)]
    assert [is_unlabeled(label) for label in ("*12", "U_7", "C7", "RASI")] == [
        True,
        True,
        False,
        False,
    ]
