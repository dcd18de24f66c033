"""The benchmark of rollouts with muscles."""

import numpy as np

import homodyn as hd
from homodyn.bench import muscle_rollouts


def test_rollouts_with_paths_and_with_polynomials_are_the_same_movement():
    model = muscle_rollouts.legs()
    fitted = muscle_rollouts.fitted_paths(model)
    assert fitted.upper[0] - fitted.lower[0] == 2 * muscle_rollouts.FITTED_RANGE_RAD
    options = {"duration": 0.02, "dt": 1e-3, "contact": None, "joint_limits": None}
    q0 = np.tile(model.neutral(), (2, 1))
    ends = [
        hd.simulate.rollout(model, q0, actuation=muscle_rollouts.actuation(one), **options).q
        for one in (None, fitted)
    ]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-3)
