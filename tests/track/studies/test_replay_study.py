"""Document 001, check 28: closed loop against open loop."""

import pytest

from homodyn.track.studies import replay_study

pytestmark = pytest.mark.usefixtures("interpreted")


def test_the_closed_loop_is_bounded_and_the_open_loop_is_reported(tracked):
    study = replay_study(tracked)
    data = study.replay
    closed, opened = data.joint_error(data.driven_q), data.joint_error(data.open_q)
    assert closed.max() < 1e-3
    assert opened[-1] > closed[-1]
    assert len(study.columns()["time (s)"]) == 5
    assert "rewind" in study.findings()[2]
