"""Document 001, check 25: reaches that need a step cost more than those within reach."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.track.studies import reach_study
from homodyn.track.studies.reach_study import minimum_jerk

pytestmark = pytest.mark.usefixtures("interpreted")


def test_far_targets_cost_more_than_near_ones(figure):
    study = reach_study(figure, trials=1)
    assert study.targets == tuple("12345678")
    assert study.complete.all()
    mean = study.effort.mean(axis=1)
    assert mean[4:].min() > mean[:4].max()
    assert (study.work > 0).all()
    with pytest.raises(hd.CaptureError, match="trials"):
        reach_study(figure, trials=0)


def test_minimum_jerk_starts_and_ends_at_rest():
    share = np.linspace(-0.1, 1.1, 1201)
    path = minimum_jerk(share)
    assert path[0] == 0
    assert path[-1] == 1
    rate = np.gradient(path, share)
    assert rate.max() == pytest.approx(1.875, rel=1e-3)
    np.testing.assert_allclose(rate[[100, 1100]], 0, atol=1e-4)
