"""Tracking of whole trials: known motions of a block with an arm."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.track import FrameStatus, TrackingStatus, track
from support.standing_block import RATE, trial_of

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture(scope="module")
def swing(block, still):
    """The arm swings slowly while the block stands."""
    time = np.arange(120) / RATE
    poses = np.tile(still, (120, 1))
    poses[:, -1] += 0.4 * np.sin(2 * np.pi * 0.5 * time)
    return track(block, trial_of(block, poses), filter=None), poses


def test_torques_of_a_known_motion_are_recovered(block, swing):
    """Document 001, check 18: inverse dynamics of the block and arm is the oracle."""
    result, poses = swing
    assert result.status is TrackingStatus.FINISHED, result.message
    assert set(result.frame_status) == {FrameStatus.TRACKED}
    np.testing.assert_allclose(result.motion.q[:, -1], poses[:, -1], atol=2e-3)
    time = result.motion.time
    w = 2 * np.pi * 0.5
    v, a = np.zeros((120, block.nv)), np.zeros((120, block.nv))
    v[:, -1], a[:, -1] = 0.4 * w * np.cos(w * time), -0.4 * w**2 * np.sin(w * time)
    exact = np.asarray(hd.dynamics.inverse_dynamics(block, poses, v, a))[:, -1]
    inside = slice(5, -2)
    found = result.loads.torque("shoulder")
    assert np.abs(found - exact)[inside].max() < 0.02 * np.abs(exact).max()


def test_ground_forces_and_residuals_balance_the_body(block, swing):
    """Document 001, check 23: the ground carries the weight; only pitch and roll have residuals."""
    result, _ = swing
    weight = block.mass * 9.81
    assert result.loads.ground_force[:, 2].mean() == pytest.approx(weight, rel=2e-3)
    assert set(result.residual) == {"root_rx", "root_ry"}
    free = [block.coordinate_index(f"root_{axis}") for axis in ("tx", "ty", "tz", "rz")]
    np.testing.assert_array_equal(result.loads.tau[:, free], 0.0)
    assert all(np.abs(values).max() <= 100.0 for values in result.residual.values())
    assert result.loads.predicted


def test_the_weight_of_the_segments_is_known_apart(block, swing):
    result, poses = swing
    arm = 2.0 * 9.81 * 0.25 * np.cos(poses[:, -1])
    np.testing.assert_allclose(result.gravity_torques[:, -1], -arm, atol=0.02)


def test_trials_that_cannot_be_tracked_are_refused(block, still):
    poses = np.tile(still, (5, 1))
    with pytest.raises(hd.CaptureError, match="at least 10"):
        track(block, trial_of(block, poses))
    other = trial_of(block, np.tile(still, (20, 1))).rename_markers(
        {f"B{k}": f"x{k}" for k in range(8)} | {f"A{k}": f"y{k}" for k in range(3)}
    )
    with pytest.raises(hd.CaptureError):
        track(block, other)
