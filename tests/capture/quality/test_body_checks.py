"""Wrong units, exchanged sides and a wrong vertical axis are found."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import check_health
from homodyn.capture.quality import body_checks
from homodyn.foundation.findings import Severity
from support.planted_problems import CLEAN, LABELS, by_subject
from support.walking import changed


@pytest.mark.parametrize(("factor", "words"), [(1000, "divide by 1000"), (1e-3, "multiply")])
def test_wrong_units_are_suspected_and_nothing_else(factor, words):
    trial = changed(CLEAN[0.0005], factor * CLEAN[0.0005].positions)
    (finding,) = check_health(trial).findings
    assert finding.subject == "units"
    assert finding.severity is Severity.ERROR
    assert words in finding.sentence


def exchanged(label: str) -> str:
    return {"L": "R", "R": "L"}.get(label[0], label[0]) + label[1:]


def test_exchanged_sides_are_one_error():
    sided = {label: exchanged(label) for label in LABELS if exchanged(label) in LABELS}
    (finding,) = check_health(CLEAN[0.0].rename_markers(sided)).findings
    assert finding.subject == "mirrored"
    assert finding.severity is Severity.ERROR
    mirrored = changed(CLEAN[0.0], CLEAN[0.0].positions * [1, -1, 1])
    assert set(by_subject(mirrored)) == {"mirrored"}


def test_one_pair_exchanged_throughout_is_a_warning():
    (finding,) = check_health(CLEAN[0.0].rename_markers({"LTH1": "RTH1", "RTH1": "LTH1"})).findings
    assert (finding.subject, finding.severity) == ("mirrored", Severity.WARNING)
    assert finding.markers == ("LTH1",)


def test_a_world_upside_down_is_found():
    rotated = CLEAN[0.0].rotate(np.diag([1.0, -1.0, -1.0]))
    assert set(by_subject(rotated)) == {"axes"}


EXCHANGED = [
    ("real_subject4/walking1.trc", "L_toe", "L_5meta"),
    ("real_subject4/static1.trc", "r_knee", "r_mknee"),
    ("real_subject4/static1.trc", "L_ankle", "L_mankle"),
    ("gait10dof/walk.trc", "R.Toe.Lat", "R.Toe.Med"),
    ("rajagopal_walk/motion_capture_walk.trc", "L.MT5", "L.Toe"),
    ("hdm/walk.c3d", "TakeoMonday:LTOE", "TakeoMonday:LMT5"),
]


@pytest.mark.parametrize(("name", "one", "two"), EXCHANGED)
def test_labels_exchanged_throughout_are_found(shared_data, name, one, two):
    trial = hd.capture.read(shared_data / name)
    assert body_checks.exchanged_sides(trial.positions, trial.markers) == []
    wrong = trial.rename_markers({one: two, two: one})
    found = body_checks.exchanged_sides(wrong.positions, wrong.markers)
    assert [{wrong.markers[k] for k in pair} for pair in found] == [{one, two}]
    swaps = hd.capture.check_health(wrong).about("swap")
    assert [set(swap.markers) for swap in swaps] == [{one, two}]


@pytest.mark.parametrize(("factor", "error"), [(1.0, False), (0.1, True), (10.0, True)])
def test_centimeters_are_found_by_the_length_of_the_body(factor, error):
    model = hd.catalog.heiman(height=1.75, mass=70)
    points = factor * hd.dynamics.marker_positions(model, model.neutral())
    labels = tuple(marker.name for marker in model.markers)
    for kept in (labels, ("LASI", "RASI", "LHEE", "RHEE", "LTOE", "RTOE", "LKNE", "RKNE")):
        trial = hd.capture.Trial("still", labels, np.tile(points, (9, 1, 1)), rate=100.0)
        found = hd.capture.check_health(trial.select_markers(kept)).about("units")
        assert bool(found) == error
        assert all("feet and head are" in finding.sentence for finding in found)
