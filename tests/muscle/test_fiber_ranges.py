"""Ranges of fiber lengths in a movement."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.fiber_ranges import MAX_NORM_LENGTH, MIN_NORM_LENGTH, fiber_range_sentence
from support import muscled_leg


@pytest.fixture(scope="module")
def loads():
    return muscled_leg.loads(muscled_leg.swing(muscled_leg.build()))


def test_ranges_are_the_extremes_of_the_fibers(loads):
    result = hd.muscle.static_optimization(loads.motion, loads)
    ranges = hd.muscle.fiber_ranges(result)
    assert [one.muscle for one in ranges] == list(result.muscles)
    assert all(one.sensible for one in ranges)
    np.testing.assert_allclose([r.shortest for r in ranges], result.fiber_lengths.min(axis=0))
    strict = hd.muscle.fiber_ranges(result, 0.99, 1.01)
    assert not any(one.sensible for one in strict)
    assert "outside" in strict[0].headline()
    assert "all muscles stay within 0.5 to 1.5" in fiber_range_sentence(ranges)


def test_a_slack_muscle_is_named(loads):
    model = loads.motion.model
    slack = replace(
        model.muscles[0], tendon_slack_length=model.muscles[0].tendon_slack_length - 0.1
    )
    motion = replace(loads.motion, model=replace(model, muscles=(slack, *model.muscles[1:])))
    result = hd.muscle.static_optimization(motion, replace(loads, motion=motion))
    assert not hd.muscle.fiber_ranges(result)[0].sensible
    assert "1 of 6 muscles leave 0.5 to 1.5" in result.notes[-1]
    assert "iliopsoas (" in result.notes[-1]


def test_without_fibers_there_is_no_range(loads):
    result = hd.muscle.static_optimization(loads.motion, loads, force_length_velocity=False)
    with pytest.raises(hd.HomodynError, match="force_length_velocity=False"):
        hd.muscle.fiber_ranges(result)


def test_fibers_of_a_scaled_model_are_sensible_in_walking(shared_data):
    """The same walk on the model that its authors scaled with OpenSim is the reference."""
    folder = shared_data / "real_subject4"
    static = hd.capture.read(folder / "static1.trc")
    generic = hd.load(folder / "unscaled_generic.osim")
    scaled = hd.capture.scale(generic, static, mass=60.05).model
    table = hd.capture.read_table(folder / "walking1_manual_ik.mot")
    found, expected = (
        hd.muscle.fiber_history(hd.capture.motion_from_table(model, table), 0.1).norm_lengths
        for model in (scaled, hd.load(folder / "manually_scaled.osim"))
    )
    assert found.min() > MIN_NORM_LENGTH
    assert found.max() < MAX_NORM_LENGTH
    assert np.abs(found - expected).max() < 0.1
