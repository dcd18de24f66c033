"""Initial states: checks and notes on penetration."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.simulate import SimulationStatus, run


def test_a_start_inside_the_ground_is_noted(block):
    q = block.neutral()
    q[2] = -0.05
    result = run(block, q, None, 1.0, contact="implicit")
    assert result.status is SimulationStatus.FINISHED
    assert any("150 mm inside" in note for note in result.notes)


def test_states_and_times_that_do_not_fit_are_refused(ball):
    with pytest.raises(hd.ModelError, match="7 entries"):
        run(ball, np.zeros(6))
    with pytest.raises(hd.ModelError, match="length 2; it must be 1"):
        run(ball, [0, 0, 1, 2, 0, 0, 0])
    with pytest.raises(hd.ModelError, match="positive numbers"):
        run(ball, ball.neutral(), dt=0.0)
    with pytest.raises(hd.ModelError, match="record_interval must be positive"):
        run(ball, ball.neutral(), record_interval=-1.0)
