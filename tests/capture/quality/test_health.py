"""The health check as a whole: clean recordings, gaps, real recordings, and its records."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from homodyn.capture import HealthReport, Trial, check_health, read
from homodyn.foundation.findings import Severity
from support.planted_problems import (
    CLEAN,
    FIRST,
    FRAMES,
    LABELS,
    by_subject,
    direction,
    lengths,
    markers,
    noises,
    starts,
)
from support.walking import changed, walk, walker


@pytest.mark.parametrize("rate", [50, 100, 250])
@pytest.mark.parametrize("noise", [0.0, 0.0005, 0.002])
def test_clean_walking_gives_no_findings(rate, noise):
    trial = walk(rate=rate, noise=noise, seed=rate)
    assert check_health(trial).findings == ()
    assert check_health(trial, model=walker()).findings == ()


def test_standing_still_gives_no_findings():
    still = np.repeat(CLEAN[0.0].positions[:1], 200, axis=0)
    assert by_subject(Trial("static", LABELS, still, 100.0)) == {}


@settings(max_examples=10)
@given(noises, markers, starts, lengths)
def test_gaps_are_listed_with_their_frames(noise, marker, start, length):
    positions = np.array(CLEAN[noise].positions)
    positions[start : start + length, marker] = np.nan
    trial = changed(CLEAN[noise], positions)
    frames = ((FIRST + start, FIRST + start + length - 1),)
    assert by_subject(trial) == {"gap": [((LABELS[marker],), frames)]}
    row = check_health(trial).markers[marker]
    assert row.gaps == frames
    assert row.missing == pytest.approx(length / FRAMES)
    severity = check_health(trial).findings[0].severity
    assert severity is (Severity.WARNING if length > 20 else Severity.INFO)


def test_a_marker_that_the_model_does_not_use_may_be_missing():
    positions = np.array(CLEAN[0.0].positions)
    positions[: int(0.7 * FRAMES), 3] = np.nan
    trial = changed(CLEAN[0.0], positions)
    assert check_health(trial).findings[0].severity is Severity.ERROR
    model = walker()
    without = tuple(marker for marker in model.markers if marker.name != LABELS[3])
    (finding,) = check_health(trial, model=replace(model, markers=without)).findings
    assert (finding.subject, finding.severity) == ("gap", Severity.INFO)
    assert "the model does not use it" in finding.sentence


def test_markers_never_seen_are_one_finding():
    positions = np.array(CLEAN[0.0].positions)
    positions[:, [3, 8]] = np.nan
    whole = ((FIRST, FIRST + FRAMES - 1),)
    expected = {"never seen": [((LABELS[3], LABELS[8]), whole)]}
    assert by_subject(changed(CLEAN[0.0], positions)) == expected


def test_many_findings_of_a_subject_are_summarized():
    positions = np.array(CLEAN[0.0].positions)
    numbers = np.random.default_rng(5)
    for marker in range(40):
        positions[numbers.integers(10, 190), marker] += 0.3 * direction(marker)
    found = check_health(changed(CLEAN[0.0], positions)).findings
    assert len(found) <= 9
    assert {label for finding in found for label in finding.markers} == set(LABELS[:40])


def test_empty_recordings_are_no_error():
    assert check_health(Trial("empty", (), np.zeros((10, 0, 3)), 100.0)).findings == ()
    assert (
        check_health(Trial("nothing", ("A",), np.zeros((0, 1, 3)), 100.0)).markers[0].missing == 1.0
    )


def test_an_empty_volume_is_no_gap_of_the_markers():
    positions = np.array(CLEAN[0.0].positions)
    positions[:80] = np.nan
    positions[170:] = np.nan
    (finding,) = check_health(changed(CLEAN[0.0], positions)).findings
    assert (finding.subject, finding.severity) == ("empty", Severity.INFO)
    assert finding.frames == ((FIRST, FIRST + 79), (FIRST + 170, FIRST + FRAMES - 1))


@pytest.mark.parametrize(
    ("file", "subjects", "count"),
    [
        ("gait10dof/walk.trc", set(), 0),
        ("gait10dof/static.trc", set(), 0),
        ("arnold2013/subject01/markers.trc", set(), 0),
        ("ik_synthetic/subject01_synthetic_marker_data.trc", set(), 0),
        ("c3d/Qualisys.c3d", set(), 0),
        ("c3d/FP_Type1.c3d", {"plate unloaded"}, 1),
        ("c3d/FP_Type3.c3d", {"plate unloaded"}, 1),
        ("hdm/walk.c3d", {"jump", "spike"}, 12),
        ("c3d/cmu_dec.c3d", {"jump", "spike"}, 12),
        ("c3d/walking2.c3d", {"empty", "gap", "jump", "spike", "plate offset"}, 20),
        ("puppeteer/testdata.c3d", {"gap"}, 2),
        ("c3d/ten_plates_no_markers.c3d", {"plate offset", "plate unloaded"}, 4),
    ],
)
def test_real_recordings_have_few_findings(shared_data, file, subjects, count):
    found = check_health(read(shared_data / file)).findings
    assert {finding.subject for finding in found} <= subjects
    assert len(found) <= count
    assert "mislabel" not in {finding.subject for finding in found}


@pytest.mark.parametrize(
    ("count", "verb"), [(1, "1 of 50 markers has"), (2, "2 of 50 markers have")]
)
def test_sentences_agree_with_their_number(count, verb):
    positions = np.array(CLEAN[0.0].positions)
    positions[50:60, :count] = np.nan
    (finding,) = check_health(changed(CLEAN[0.0], positions)).findings
    assert finding.sentence.startswith(verb)


def test_the_report_is_a_record_with_a_table():
    positions = np.array(CLEAN[0.0].positions)
    positions[50:60, 3] = np.nan
    positions[100, 3] += 0.2
    report = check_health(changed(CLEAN[0.0], positions))
    assert HealthReport.from_dict(report.to_dict()) == report
    assert len(repr(report).splitlines()) <= 10
    assert not report.has_errors
    assert [f.subject for f in report.with_severity(Severity.WARNING)] == ["spike"]
    assert report.about("gap") == report.with_severity(Severity.INFO)
    pytest.importorskip("pandas")
    row = report.to_pandas().loc[LABELS[3]]
    assert row["missing"] == pytest.approx(10 / FRAMES)
    assert (row["gaps"], row["spikes"], row["jumps"]) == (1, 1, 0)


def test_a_missing_marker_is_no_error_where_three_others_show_its_segment():
    model, trial = walker(), walk()
    bodies = [m.body for m in model.markers]
    crowded = next(m.name for m in model.markers if bodies.count(m.body) > 3)
    sparse = next(m.name for m in model.markers if bodies.count(m.body) < 4)

    def gap_without(name, **options):
        positions = trial.positions.copy()
        positions[20:, trial.markers.index(name)] = np.nan
        return check_health(replace(trial, positions=positions), **options).about("gap")[0]

    finding = gap_without(crowded, model=model)
    assert finding.severity == "info"
    assert "3 others of the same segment determine it" in finding.sentence
    # Without the model nothing says which markers share a segment.
    assert gap_without(crowded).severity == "error"
    assert gap_without(sparse, model=model).severity == "error"
