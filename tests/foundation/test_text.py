"""Wording of messages."""

import pytest

from homodyn.foundation import Finding, Severity, count_of, duplicate_names, enumerate_names
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


def test_findings_sort_by_severity_and_print_as_a_sentence():
    finding = Finding(Severity.WARNING, "inertia", "it is too large")
    assert str(finding) == "warning: inertia: it is too large"
    assert sorted(Severity, key=lambda s: s.rank) == ["error", "warning", "info"]
    assert Finding.from_dict(finding.to_dict()) == finding
