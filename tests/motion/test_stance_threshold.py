"""One set of thresholds for loaded feet and plates."""

import numpy as np
import pytest

from homodyn.motion import STANCE_THRESHOLD, StanceThreshold


def test_contact_counts_the_whole_force_and_ignores_gaps():
    force = np.array([[0.0, 0.0, 19.0], [15.0, 0.0, 15.0], [np.nan, 0.0, 100.0], [np.nan] * 3])
    np.testing.assert_array_equal(STANCE_THRESHOLD.in_contact(force), [False, True, True, False])


def test_people_have_the_thresholds_of_laboratories():
    assert STANCE_THRESHOLD.for_weight(55 * 9.81).contact_n == 20.0
    assert STANCE_THRESHOLD.for_weight(100 * 9.81) == STANCE_THRESHOLD


def test_a_light_robot_stands_on_less():
    robot = STANCE_THRESHOLD.for_weight(1.2 * 9.81)
    assert robot.contact_n == pytest.approx(0.05 * 1.2 * 9.81)
    assert robot.center_of_pressure_n < robot.contact_n < robot.plate_check_n
    assert StanceThreshold(contact_n=0.1).for_weight(1.2 * 9.81).contact_n == 0.1
