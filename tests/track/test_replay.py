"""Document 001, check 19: motors, rewind and forward dynamics give the same state."""

import numpy as np
import pytest

from homodyn.simulate import SpringLaw
from homodyn.track import replay, track
from support.standing_block import trial_of

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.mark.parametrize("limit", [np.inf, 20.0])
def test_torques_reproduce_each_step_after_a_rewind(block, still, limit):
    """Contact of four corners with friction included; also where a motor is at its limit."""
    poses = np.tile(still, (40, 1))
    poses[:, -1] += 0.6 * np.sin(2 * np.pi * np.arange(40) / 20)
    motor = SpringLaw(erp=0.25, cfm=1e-5, max_force=limit)
    result = track(block, trial_of(block, poses), filter=None, motor_law=motor)
    data = replay(result)
    assert data.solved.all()
    assert data.rewind_difference.max() < 1e-10
    assert np.abs(data.torques[:, -1]).max() <= limit
    assert (np.abs(data.torques[:, -1]).max() == pytest.approx(limit)) == np.isfinite(limit)
    # The same torques as those of the trial, after the first frames.
    difference = np.abs(data.torques - result.loads.tau)[5:, -1]
    assert np.median(difference) < 0.05 * np.abs(result.loads.tau[:, -1]).max()
