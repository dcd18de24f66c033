import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import CaptureError
from homodyn.track.streams import MarkerFrame, calibrate_on_the_spot
from homodyn.track.streams.spot_calibration import frames_to_trial

LABELS = ("A", "B")


def frame(time, value, labels=LABELS):
    return MarkerFrame(time, labels, np.full((len(labels), 3), value), 0.0)


def test_frames_become_a_trial_with_equal_steps():
    times = [0.0, 0.01, 0.0201, 0.0299, 0.06, 0.07]
    trial = frames_to_trial([frame(t, k) for k, t in enumerate(times)])
    assert abs(trial.rate - 100.0) < 5.0
    assert trial.markers == LABELS
    values = trial.positions[:, 0, 0]
    np.testing.assert_array_equal(values[:4], [0, 1, 2, 3])
    assert np.isnan(values[4])
    assert values[-1] == 5


def test_other_labels_and_times_backwards_are_left_out():
    frames = [frame(5.0, 9, ("X",)), frame(0.0, 0), frame(0.01, 1), frame(0.005, 7), frame(0.02, 2)]
    trial = frames_to_trial(frames)
    np.testing.assert_array_equal(trial.positions[:, 0, 0], [0, 1, 2])


def test_too_few_frames_or_markers_are_refused():
    model = hd.catalog.hdm()
    with pytest.raises(CaptureError, match="at least 10"):
        calibrate_on_the_spot(model, [frame(0.01 * k, 0.0) for k in range(9)])
    with pytest.raises(CaptureError, match="at least 8 are needed"):
        calibrate_on_the_spot(model, [frame(0.01 * k, 0.1 * k) for k in range(50)])


def test_a_person_of_another_size_is_found():
    """Frames of a synthetic walk give the size of its subject."""
    generic = hd.catalog.heiman(height=1.79, mass=76.0)
    trial = hd.synthetic.walking_trial(height=1.65, mass=60.0).trial
    stride = max(1, trial.frames // 60)
    frames = [
        MarkerFrame(trial.time[k], trial.markers, trial.positions[k], 0.0)
        for k in range(0, trial.frames, stride)
    ]
    result = calibrate_on_the_spot(generic, frames, mass=60.0, height=1.65)
    assert result.rms_after < 0.5 * result.rms_before
    assert abs(result.model.mass - 60.0) < 1e-6
