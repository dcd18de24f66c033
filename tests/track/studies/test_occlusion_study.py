"""Document 001, check 32: the pose stays continuous while markers vanish for 0.2 s."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.track.studies import occlusion_study
from homodyn.track.studies.occlusion_study import hidden_markers

pytestmark = pytest.mark.usefixtures("interpreted")


def test_hidden_markers_leave_the_pose_continuous(tracked):
    study = occlusion_study(tracked, shares=(0.1, 0.4), trials=2)
    assert study.complete.all()
    assert (study.mean_errors[1] > study.mean_errors[0]).all()
    assert study.mean_errors.max() < np.radians(3)
    # A swing of 0.5 rad at 1 Hz changes by 0.05 rad a frame.
    assert study.largest_steps[0] == pytest.approx(0.05, rel=0.1)
    assert study.largest_steps[1:].max() < 0.15
    with pytest.raises(hd.CaptureError, match="between 0 and 1"):
        occlusion_study(tracked, shares=(1.0,))


def test_each_interval_hides_its_share():
    hidden = hidden_markers(36, 20, 0.1, 12, np.random.default_rng(0))
    assert not hidden[:12].any()
    assert (hidden[12:].sum(axis=1) == 2).all()
    assert (hidden[12:24] == hidden[12]).all()
