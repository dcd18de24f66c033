import numpy as np
import pytest

from homodyn.capture import Trial
from homodyn.errors import CaptureError, FormatError
from homodyn.track.streams import FilePlayer, StreamEnd


def trial(frames=5, rate=100.0):
    positions = np.arange(frames * 6.0).reshape(frames, 2, 3)
    return Trial("stroll", ("A", "B"), positions, rate, start=2.0)


def read_all(player):
    frames = [player.read(1.0)[0] for _ in range(player.trial.frames)]
    with pytest.raises(StreamEnd):
        player.read(1.0)
    return frames


def test_all_frames_are_played_in_order():
    player = FilePlayer(trial(), speed=float("inf"))
    player.open()
    frames = read_all(player)
    assert [frame.number for frame in frames] == [0, 1, 2, 3, 4]
    np.testing.assert_allclose([frame.time for frame in frames], 2.0 + np.arange(5) / 100)
    np.testing.assert_array_equal([frame.positions for frame in frames], trial().positions)


def test_frames_arrive_at_the_rate_of_the_recording():
    player = FilePlayer(trial(frames=20, rate=200.0))
    player.open()
    frames = read_all(player)
    arrivals = np.array([frame.arrival for frame in frames])
    # Never early; a busy machine may be late.
    assert (arrivals - arrivals[0] >= np.arange(20) / 200.0 - 1e-3).all()


def test_no_frame_before_its_time():
    player = FilePlayer(trial(rate=0.1))
    player.open()
    assert len(player.read(0.01)) == 1
    assert player.read(0.01) == ()


def test_a_loop_continues_the_time():
    player = FilePlayer(trial(frames=3), speed=float("inf"), loop=True)
    player.open()
    frames = [player.read(1.0)[0] for _ in range(7)]
    np.testing.assert_allclose(np.diff([frame.time for frame in frames]), 0.01)
    np.testing.assert_array_equal(frames[4].positions, trial().positions[1])


def test_refusals(tmp_path):
    with pytest.raises(CaptureError, match="positive"):
        FilePlayer(trial(), speed=0.0)
    with pytest.raises(CaptureError, match="no frame"):
        FilePlayer(trial(frames=0))
    with pytest.raises(FormatError, match="no such file"):
        FilePlayer(tmp_path / "absent.c3d")
