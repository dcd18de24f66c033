"""Wording of messages."""

import pytest

from homodyn.foundation import count_of, duplicate_names, enumerate_names
from homodyn.foundation.text import unknown_name


@pytest.mark.parametrize(("count", "text"), [(0, "0 events"), (1, "1 event"), (2, "2 events")])
def test_plurals(count, text):
    assert count_of(count, "event") == text


def test_irregular_plurals():
    assert count_of(2, "body", "bodies") == "2 bodies"


def test_long_lists_are_cut_and_counted():
    assert enumerate_names(["a", "b"]) == "a, b"
    assert enumerate_names(list("abcdefgh"), 3) == "a, b, c and 5 more"


def test_unknown_names_come_with_a_suggestion_and_the_accepted_ones():
    assert unknown_name("body", "tigh", ["hip", "thigh"]) == (
        "no body 'tigh'; did you mean 'thigh'? Accepted: hip, thigh"
    )
    assert unknown_name("body", "x", []) == "no body 'x'; accepted: none"


def test_duplicates_are_listed_once():
    assert duplicate_names(["a", "b", "a", "a"]) == ["a"]


def test_a_long_list_does_not_hide_the_suggestion():
    names = [f"marker{k}" for k in range(40)]
    assert unknown_name("marker", "marke7", names) == "no marker 'marke7'; did you mean 'marker7'?"
    assert "marker5" in unknown_name("marker", "knee", names)


def test_case_does_not_matter_for_suggestions():
    assert "did you mean 'ThighLeft'" in unknown_name("body", "THIGHLEFT", ["Hip", "ThighLeft"])


def test_words_in_another_order_are_the_name():
    names = ["HandLeft", "HandRight", "knee_RY"]
    assert "did you mean 'HandRight'" in unknown_name("body", "RightHand", names)
    assert "did you mean 'HandLeft'" in unknown_name("body", "left_hand", names)
