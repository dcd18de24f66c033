"""Verdicts on recordings of people: each light has a reason that an expert would give."""

import pytest

from homodyn.analysis import Settings, analyze, overall_light, quality_verdicts

PERSON = "real_subject4"


@pytest.fixture(scope="module")
def verdicts(shared_data):
    """By recording, the verdicts of an analysis with the model that an expert scaled."""
    cache = {}

    def find(name):
        if name not in cache:
            folder = shared_data / PERSON
            trial, model = folder / f"{name}.trc", folder / "manually_scaled.osim"
            forces, loads = folder / f"{name}_grf.mot", None
            if name == "rajagopal":
                folder = shared_data / "rajagopal_walk"
                trial, model = (
                    folder / "motion_capture_walk.trc",
                    folder / "subject_walk_scaled.osim",
                )
                forces, loads = folder / "grf_walk.mot", str(folder / "grf_walk.xml")
            settings = Settings(
                model=str(model), scale="none", forces=str(forces), external_loads=loads
            )
            cache[name] = quality_verdicts(analyze(trial, settings))
        return cache[name]

    return find


def one(found, subject):
    (verdict,) = [v for v in found if v.subject == subject]
    return verdict


@pytest.mark.parametrize("name", ["walking1", "squats1", "STS1", "rajagopal"])
def test_good_recordings_with_the_model_of_an_expert_are_usable(verdicts, name):
    found = verdicts(name)
    assert overall_light(found) == "fair"
    assert one(found, "residuals").light == "fair"
    assert one(found, "body weight").light == "good"
    assert "physiological range" not in {v.subject for v in found}
    assert "filter" not in {v.subject for v in found}


def test_one_missing_marker_of_a_cluster_is_no_reason(verdicts):
    assert "missing in half" not in one(verdicts("walking1"), "health").sentence


def test_markers_that_were_taken_off_after_the_static_trial_are_no_reason(verdicts):
    assert one(verdicts("rajagopal"), "labels").light == "note"


def test_the_leaning_trunk_of_squats_is_named(verdicts):
    sentence = one(verdicts("squats1"), "residuals").sentence
    assert "beside the center of mass of the model" in sentence
    assert "the plates carry 60.1 kg in the mean, the model has 62.6 kg" in sentence


def test_the_chair_is_named(verdicts):
    assert "such as a chair" in one(verdicts("STS1"), "residuals").sentence


def test_a_drop_jump_filtered_as_a_walk_is_poor_and_says_why(verdicts):
    found = verdicts("DJ1")
    residual = one(found, "residuals")
    assert residual.light == "poor"
    assert "impacts" in residual.sentence
    assert "23 % (213 of 919 N) off the peak vertical force" in one(found, "filter").sentence
    assert "physiological range" not in {v.subject for v in found}
