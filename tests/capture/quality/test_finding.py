"""Findings about a recording: texts, ranges of frames, grouping."""

import pytest

from homodyn.capture.quality.finding import (
    MAX_FINDINGS_PER_SUBJECT,
    TrialFinding,
    group_findings,
    merge_ranges,
    merge_simultaneous_jumps,
    ranges_text,
)
from homodyn.foundation.findings import Finding, Severity


def finding(severity=Severity.WARNING, subject="spike", markers=("A",), frames=((1, 1),), **more):
    return TrialFinding(severity, subject, "a sentence", markers, frames=frames, **more)


def test_it_is_a_finding_with_a_place():
    found = finding(markers=("A", "B"), frames=((1, 3), (7, 7)))
    assert isinstance(found, Finding)
    assert found.count == 4
    assert found.text == "A, B: a sentence"
    assert str(found) == "warning: spike, A, B: a sentence"
    assert finding(markers=(), plate="2").text == "plate 2: a sentence"
    assert finding(markers=()).text == "a sentence"
    assert TrialFinding.from_dict(found.to_dict()) == found


@pytest.mark.parametrize(
    ("ranges", "merged"),
    [
        ([], ()),
        ([(5, 6), (1, 2)], ((1, 2), (5, 6))),
        ([(1, 2), (3, 4), (4, 9)], ((1, 9),)),
    ],
)
def test_adjacent_ranges_are_merged(ranges, merged):
    assert merge_ranges(ranges) == merged


def test_long_lists_of_ranges_are_abbreviated():
    assert ranges_text(((12, 12), (40, 52))) == "12, 40-52"
    assert ranges_text(tuple((k, k) for k in range(0, 16, 2))) == "0, 2, 4, 6, 8 and 3 more"


def test_the_most_severe_come_first_and_many_are_summarized():
    many = [finding(markers=(f"M{k}",), frames=((k, k),)) for k in range(20)]
    grouped = group_findings([*many, finding(Severity.ERROR, "swap")])
    assert grouped[0].subject == "swap"
    assert len(grouped) == 1 + MAX_FINDINGS_PER_SUBJECT + 1
    assert grouped[-1].sentence == "12 similar findings on 12 markers: a sentence"
    assert {m for f in grouped[1:] for m in f.markers} == {f"M{k}" for k in range(20)}


def test_jumps_at_the_same_frames_are_merged():
    jumps = [finding(subject="jump", markers=(name,)) for name in "ABC"]
    other = finding(subject="jump", markers=("D",), frames=((9, 9),))
    merged = merge_simultaneous_jumps([*jumps, finding(), other])
    assert [found.markers for found in merged] == [("A",), ("A", "B", "C"), ("D",)]
