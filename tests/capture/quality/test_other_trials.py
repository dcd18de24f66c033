"""Trials of another person are told from trials of the same session."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import check_health
from homodyn.capture.quality.other_trials import other_person_findings, segment_changes
from support import strolls

MODEL = hd.catalog.heiman(height=strolls.HEIGHT, mass=strolls.MASS)


@pytest.fixture(scope="module")
def walk():
    return strolls.recording(forces=False)


def test_the_same_person_is_no_finding(walk):
    assert other_person_findings(walk, MODEL, [strolls.standing(MODEL)]) == []
    assert np.percentile(segment_changes(walk, strolls.standing(MODEL), MODEL), 75) < 0.004


def test_another_person_is_an_error(walk):
    child = strolls.standing(hd.catalog.heiman(height=1.2, mass=25.0))
    (finding,) = other_person_findings(walk, MODEL, [child])
    assert finding.severity == "error"
    assert "it is another person" in finding.sentence
    assert check_health(walk, model=MODEL, others=[child]).about("other trial") == (finding,)


def test_without_a_model_there_is_no_comparison(walk):
    assert other_person_findings(walk, None, [strolls.standing()]) == []


def match(shared_data, model, *parts):
    return hd.capture.match_labels(model, hd.capture.read(shared_data.joinpath(*parts))).trial


@pytest.mark.parametrize("name", ["walking1", "squats1", "STS1", "DJ1"])
def test_recordings_of_one_session_agree(shared_data, name):
    model = hd.load(shared_data / "real_subject4" / "manually_scaled.osim")
    static = match(shared_data, model, "real_subject4", "static1.trc")
    trial = match(shared_data, model, "real_subject4", f"{name}.trc")
    assert other_person_findings(trial, model, [static]) == []


def test_the_static_trial_of_another_laboratory_is_found(shared_data):
    model = hd.load(shared_data / "real_subject4" / "manually_scaled.osim")
    static = match(shared_data, model, "rajagopal_walk", "static_walk_1.trc")
    trial = match(shared_data, model, "real_subject4", "walking1.trc")
    (finding,) = other_person_findings(trial, model, [static])
    assert finding.severity == "error"
