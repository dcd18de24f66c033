"""Variants in a batch are tracked as each one is alone."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.track import track, track_variants
from homodyn.track.variants import LEAD_FRAMES, with_lead
from support.standing_block import RATE, trial_of

pytestmark = pytest.mark.usefixtures("interpreted")


def test_each_variant_is_tracked_as_a_trial(block, still):
    poses = np.tile(still, (40, 1))
    poses[:, -1] += 0.3 * np.sin(np.pi * np.arange(40) / 20)
    trials = [trial_of(block, poses), trial_of(block, poses[::-1])]
    found = track_variants(block, np.array([one.positions for one in trials]), RATE, still)
    assert found.complete.all()
    for k, one in enumerate(trials):
        alone = track(block, one)
        np.testing.assert_allclose(found.q[k], alone.motion.q, atol=1e-6)
        np.testing.assert_allclose(found.tau[k], alone.loads.tau, atol=2e-2)
        np.testing.assert_array_equal(found.usable[k], alone.loads.usable)
    np.testing.assert_allclose(found.loads(0).tau, found.tau[0])
    with pytest.raises(hd.CaptureError, match="shape"):
        track_variants(block, trials[0].positions, RATE, still)


def test_the_lead_is_a_point_reflection():
    x = np.arange(30.0)[:, None] ** 2
    extended = with_lead(x)
    assert len(extended) == 30 + LEAD_FRAMES
    np.testing.assert_allclose(extended[LEAD_FRAMES - 3], 2 * x[0] - x[3])
