"""The benchmark of inverse kinematics."""

import numpy as np

from homodyn.bench.capture import _append_reversed, long_trial


def test_a_long_trial_has_forty_markers_of_the_model() -> None:
    model, trial = long_trial()
    assert trial.positions.shape == (1000, 40, 3)
    assert set(trial.markers) == {marker.name for marker in model.markers}


def test_a_recording_repeated_forward_and_backward_has_no_jumps() -> None:
    once = np.linspace(0, 1, 7)[:, None, None] * np.ones((7, 2, 3))
    long = _append_reversed(once)
    assert long.shape == (1000, 2, 3)
    assert np.abs(np.diff(long, axis=0)).max() < 0.2
