"""Verdicts on forces that were predicted: the frame rate is compared with gravity."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis import Settings, analyze, quality_verdicts
from homodyn.analysis.force_verdicts import force_verdicts
from support import strolls


@pytest.fixture(scope="module")
def recorded():
    made = hd.synthetic.walking_trial(
        height=1.75, mass=70, strides=2, plates=0, variation=0.0, gaps=0.0
    )
    return made.trial


def rate_verdict(trial, height=1.75, mass=70.0):
    settings = Settings(mass=mass, height=height, scale="none")
    found = quality_verdicts(analyze(trial, settings))
    return next((v for v in found if v.subject == "frame rate"), None)


@pytest.mark.parametrize(
    ("factor", "light", "text"),
    [
        (1.0, "good", "At the stated 100 frames per second the weight stays over the feet"),
        (2.0, "poor", "The recording states 200 frames per second, but"),
    ],
)
def test_a_wrong_frame_rate_without_plates_is_named(recorded, factor, light, text):
    found = rate_verdict(replace(recorded, rate=factor * recorded.rate))
    assert found.light == light
    assert found.sentence.startswith(text)


def test_a_person_who_stands_shows_no_frame_rate():
    found = rate_verdict(strolls.standing(), strolls.HEIGHT, strolls.MASS)
    assert found.light == "note"
    assert "Nothing shows whether 100 frames per second are right" in found.sentence


def test_a_recording_that_is_shorter_than_the_filter_is_poor(analysis):
    # No frame is marked where the ends of the filter would cover all of them.
    edge = np.zeros(analysis.motion.frames, dtype=bool)
    short = replace(analysis, motion=replace(analysis.motion, edge=edge))
    found = [v for v in force_verdicts(short) if v.subject == "filter"]
    assert found[0].light == "poor"
    assert "no frame has reliable accelerations" in found[0].sentence
    cropped = replace(short, settings=replace(analysis.settings, last=0.1))
    assert not [v for v in force_verdicts(cropped) if "no frame has" in v.sentence]


def test_plates_that_were_never_loaded_are_named(analysis):
    silent = tuple(
        replace(p, force=0 * p.force, torque=0 * p.torque) for p in analysis.trial.plates
    )
    loads = hd.capture.inverse_dynamics(analysis.motion, silent, cutoff=None)
    found = replace(analysis, trial=replace(analysis.trial, plates=silent), loads=loads)
    (verdict,) = [v for v in force_verdicts(found) if v.subject == "forces"]
    assert verdict.light == "fair"
    assert "were never loaded (at most 0 N)" in verdict.sentence
