"""Labels that are exchanged in all frames are found, and certain ones are put right with a note."""

import numpy as np
import pytest

from homodyn.capture import check_health, read
from homodyn.capture.quality import correct_exchanges
from homodyn.capture.quality.label_exchanges import find_exchanges
from homodyn.foundation.findings import Severity
from support.planted_problems import CLEAN, LABELS

RECORDINGS = ("rajagopal_walk/motion_capture_walk.trc", "gait10dof/walk.trc", "hdm/walk.c3d")


def exchange(trial, one, two):
    return trial.rename_markers({one: two, two: one})


def found_pairs(trial, **sources):
    found = find_exchanges(trial.positions, trial.markers, **sources)
    return {frozenset((trial.markers[one.a], trial.markers[one.b])): one for one in found}


@pytest.fixture(scope="module", params=RECORDINGS)
def recording(request, shared_data):
    return read(shared_data / request.param)


def test_a_good_trial_has_no_exchanged_labels():
    assert found_pairs(CLEAN[0.0005]) == {}


def test_knee_and_ankle_exchanged_are_one_finding_with_both_names():
    one, two = "RKNE", "LANK"
    assert {one, two} <= set(LABELS)
    report = check_health(exchange(CLEAN[0.0], one, two))
    (finding,) = report.about("swap")
    assert finding.severity is Severity.ERROR
    assert set(finding.markers) == {one, two}
    assert "exchange them" in finding.sentence


def test_certain_exchanges_are_put_right_with_a_note():
    wrong = exchange(CLEAN[0.0], "RKNE", "LANK")
    corrected = correct_exchanges(wrong)
    knee, original = wrong.markers.index("RKNE"), CLEAN[0.0].markers.index("RKNE")
    np.testing.assert_array_equal(corrected.positions[:, knee], CLEAN[0.0].positions[:, original])
    (note,) = corrected.notes[len(wrong.notes) :]
    assert "RKNE" in note
    assert "LANK" in note
    assert correct_exchanges(CLEAN[0.0]) is CLEAN[0.0]


def test_real_recordings_are_not_accused_and_their_exchanges_are_named(recording):
    assert found_pairs(recording) == {}
    rng = np.random.default_rng(3)
    named = 0
    for _ in range(6):
        one, two = rng.choice(recording.markers, 2, replace=False)
        wrong = exchange(recording, str(one), str(two))
        found = found_pairs(wrong)
        named += frozenset((one, two)) in found
        assert all(pair == {one, two} for pair, each in found.items() if each.certain)
    assert named >= 5


def test_toe_and_fifth_metatarsal_of_one_foot_are_distinguished(shared_data):
    walk = read(shared_data / "rajagopal_walk/motion_capture_walk.trc")
    report = check_health(exchange(walk, "L.Toe", "L.MT5"))
    (finding,) = report.about("swap")
    assert set(finding.markers) == {"L.Toe", "L.MT5"}


def test_the_static_trial_distinguishes_members_of_a_cluster(shared_data):
    folder = shared_data / "real_subject4"
    walk, static = read(folder / "walking1.trc"), read(folder / "static1.trc")
    pair = frozenset(("r_thigh1", "r_thigh3"))
    wrong = exchange(walk, *sorted(pair))
    assert pair not in found_pairs(wrong)
    assert set(found_pairs(wrong, others=(static,))) == {pair}
    assert found_pairs(walk, others=(static,)) == {}
