import numpy as np

from homodyn.track.streams import MarkerFrame
from homodyn.track.streams.frame_queue import FrameQueue


def frame(number):
    return MarkerFrame(0.01 * number, ("A",), np.zeros((1, 3)), 0.0, number)


def test_frames_come_in_order():
    queue = FrameQueue(3)
    for k in range(3):
        queue.add(frame(k))
    assert [queue.take(0.0)[1].number for _ in range(3)] == [0, 1, 2]
    assert queue.skipped == 0
    assert queue.take(0.0) == ([], None)


def test_the_oldest_is_skipped_but_kept_for_the_recording():
    queue = FrameQueue(2)
    for k in range(5):
        queue.add(frame(k))
    skipped, first = queue.take(0.0)
    assert [each.number for each in skipped] == [0, 1, 2]
    assert first.number == 3
    assert queue.skipped == 3
    assert queue.take(0.0)[0] == []


def test_without_limit_nothing_is_skipped():
    queue = FrameQueue(0)
    for k in range(100):
        queue.add(frame(k))
    assert [queue.take(0.0)[1].number for _ in range(100)] == list(range(100))


def test_the_end_comes_after_the_waiting_frames():
    queue = FrameQueue(3)
    queue.add(frame(0))
    queue.end()
    assert not queue.ended
    queue.take(0.0)
    assert queue.ended
    assert queue.take(60.0) == ([], None)
