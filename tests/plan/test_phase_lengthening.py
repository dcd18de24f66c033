"""Longer phases: by the root of what the angular momentum takes, and no others."""

import numpy as np
import pytest

from homodyn.motion import SceneStep
from homodyn.plan.phase_lengthening import MAX_FACTOR, MIN_FACTOR, _lengthen_step

STEP = SceneStep("1", ("left",), min_duration=0.4)


def test_a_phase_with_enough_margin_stays():
    assert _lengthen_step(STEP, 0.5, np.array([9.0, 5.0]), np.array([9.0, 9.0]), 4.0) is STEP


def test_a_phase_lasts_longer_by_the_root_of_the_lost_margin():
    # 15 N m are lost, 10 may be: the rate of the momentum falls with the square of the duration.
    longer = _lengthen_step(STEP, 0.5, np.array([20.0, -1.0]), np.array([20.0, 14.0]), 4.0)
    assert longer.min_duration == pytest.approx(0.5 * np.sqrt(15 / 10))
    assert longer.duration is None


def test_factors_have_bounds():
    little = _lengthen_step(STEP, 0.5, np.array([3.9]), np.array([9.0]), 4.0)
    assert little.min_duration == pytest.approx(0.5 * MIN_FACTOR)
    hopeless = _lengthen_step(STEP, 0.5, np.array([-90.0]), np.array([-80.0]), 4.0)
    assert hopeless.min_duration == pytest.approx(0.5 * MAX_FACTOR)


def test_a_given_duration_becomes_longer_too():
    seated = SceneStep("1", ("seat",), duration=0.5)
    longer = _lengthen_step(seated, 0.5, np.array([-90.0]), np.array([20.0]), 4.0)
    assert longer.duration == pytest.approx(0.5 * MAX_FACTOR)
