"""Results print their fields briefly."""

import numpy as np

from homodyn.dynamics import ConstrainedMotion, Impact


def test_a_result_prints_one_line_per_field():
    result = ConstrainedMotion(np.zeros((100, 40)), np.ones((100, 18)), np.zeros(100), np.ones(100))
    lines = repr(result).splitlines()
    assert lines[0] == "ConstrainedMotion"
    assert lines[1] == "  acceleration  100 x 40, 0 to 0"
    assert len(lines) == 5
    assert result.summary() == repr(result)


def test_a_result_of_one_state_unpacks_and_prints_its_numbers():
    result = Impact(np.array([0.5, -1.0]), np.array([3.0]), np.float64(0.0), np.float64(1.0))
    velocity, _, _, rank = result
    assert velocity[1] == -1.0
    assert rank == 1
    assert "[0.5, -1]" in repr(result)
