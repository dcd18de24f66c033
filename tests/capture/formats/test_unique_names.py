"""Every column gets one name of its own."""

from hypothesis import given
from hypothesis import strategies as st

from homodyn.capture.formats.unique_names import unique_names


def test_repeated_labels_get_numbers_and_missing_ones_their_column():
    names, notes = unique_names(["LKNE", "", "LKNE", "RKNE", "LKNE"], 6, "point")
    assert names == ("LKNE", "point_2", "LKNE_2", "RKNE", "LKNE_3", "point_6")
    assert notes == [
        "without a label in the file, named by their number: point_2, point_6",
        "labels that occur several times got a number: LKNE_2, LKNE_3",
    ]


def test_generated_names_avoid_labels_of_the_file():
    names, _ = unique_names(["A", "A", "A_2", "", "point_4"], 5, "point")
    assert names == ("A", "A_3", "A_2", "point_4_", "point_4")


def test_unique_labels_stay_as_they_are():
    assert unique_names(["a", "b", "c"], 3, "point") == (("a", "b", "c"), [])


@given(st.lists(st.sampled_from(["", "A", "A_2", "A_3", "point_1", "point_2_"]), max_size=8))
def test_names_never_repeat_and_first_labels_are_kept(labels):
    names, _ = unique_names(labels, len(labels), "point")
    assert len(set(names)) == len(labels)
    for label in set(labels) - {""}:
        assert names[labels.index(label)] == label
