"""Document 001, check 20: errors grow with the noise of the markers, and all trials end."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.track import noise_study, track
from support.standing_block import trial_of

pytestmark = pytest.mark.usefixtures("interpreted")


def test_errors_grow_with_the_noise(block, still):
    poses = np.tile(still, (40, 1))
    poses[:, -1] += 0.3 * np.sin(np.pi * np.arange(40) / 60)
    reference = track(block, trial_of(block, poses))
    study = noise_study(reference, levels=(0.0, 1e-3, 8e-3), trials=2)
    assert study.complete.all()
    # Without noise, springs and filter alone keep the body from the truth.
    assert 0 < study.true_angle_errors[0, 0] < 1e-3
    assert 0 < study.true_torque_errors[0, 0] < 0.05
    assert (study.true_angle_errors[2] > study.true_angle_errors[0]).all()
    np.testing.assert_array_equal(study.angle_errors[0], 0.0)
    np.testing.assert_array_equal(study.torque_errors[0], 0.0)
    assert (np.diff(study.angle_errors.mean(axis=1)) > 0).all()
    assert (np.diff(study.torque_errors.mean(axis=1)) > 0).all()
    # Eleven markers, filtered at 6 of 60 Hz: well below the noise of one marker over the arm.
    assert study.angle_errors[2].mean() < 8e-3 / 0.5
    with pytest.raises(hd.CaptureError, match="levels"):
        noise_study(reference, levels=())
