"""Foot flat and heel rise from the roll of a foot."""

import numpy as np
import pytest

from homodyn.gait.contact_schedule.foot_roll import find_foot_roll, flat_level, stance_frames

TIME = np.linspace(0.0, 0.6, 121)
LENGTH = 0.25


def roll(creep=0.0):
    """Toes land until 0.1 s, the heel rises from 0.4 s on, creeping in between."""
    landing = -0.06 * np.clip(1 - TIME / 0.1, 0, None)
    rising = 3.0 * np.clip(TIME - 0.4, 0, None) ** 2
    return landing + rising + creep * np.clip(TIME - 0.1, 0, 0.3)


@pytest.mark.parametrize("offset", [-0.04, 0.0, 0.03])
def test_times_do_not_depend_on_the_height_of_the_fitted_foot(offset):
    height = roll() + offset
    level = flat_level(TIME, height, np.ones(len(TIME), dtype=bool))
    found = find_foot_roll(TIME, height - level, LENGTH)
    assert found.flat == pytest.approx(0.1, abs=0.01)
    assert found.rise == pytest.approx(0.4, abs=0.02)
    assert found.confidence > 0.95


def test_a_creeping_heel_is_found_with_less_confidence():
    level = flat_level(TIME, roll(0.03), stance_frames(TIME, [(0.0, 0.6)]))
    found = find_foot_roll(TIME, roll(0.03) - level, LENGTH)
    assert found.flat < found.rise < 0.5
    assert found.confidence < 0.95


def test_a_foot_that_stays_flat_has_no_times():
    found = find_foot_roll(TIME, np.zeros(len(TIME)), LENGTH)
    assert found.flat is None
    assert found.rise is None
