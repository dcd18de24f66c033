import threading

import numpy as np
import pytest

from homodyn.track.streams import MarkerFrame, MarkerSource, StreamEnd, StreamError
from homodyn.track.streams.frame_queue import FrameQueue
from homodyn.track.streams.stream_receiver import StreamReceiver


class ScriptedSource(MarkerSource):
    """Frames, errors and the end, in a given order."""

    address = "script"

    def __init__(self, *steps):
        super().__init__()
        self.steps = list(steps)
        self.opened = self.closed = 0

    def open(self):
        self.opened += 1

    def read(self, timeout_s):
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return [MarkerFrame(float(step), ("A",), np.zeros((1, 3)), 0.0, step)]

    def close(self):
        self.closed += 1


class AbsentSource(ScriptedSource):
    def open(self):
        raise StreamError("nobody answers")


def run(source, **options):
    queue, sentences, ended = FrameQueue(0), [], threading.Event()
    queue_end = queue.end
    queue.end = lambda: (queue_end(), ended.set())
    receiver = StreamReceiver(source, queue, sentences.append, **options)
    receiver.start()
    assert ended.wait(30.0)
    frames = []
    while not queue.ended:
        frames.append(queue.take(0.0)[1])
    return receiver, frames, sentences


def test_a_lost_connection_is_opened_again():
    source = ScriptedSource(1, 2, StreamError("script: cable"), 3, StreamEnd("over"))
    receiver, frames, sentences = run(source)
    assert [frame.number for frame in frames] == [1, 2, 3]
    assert (receiver.counts.connections, receiver.counts.losses) == (2, 1)
    assert sentences[0] == "script is open"
    assert "cable" in sentences[1]
    assert "open again" in sentences[2]
    assert source.closed >= 2


def test_patience_ends_the_stream():
    receiver, frames, sentences = run(AbsentSource(), patience_s=0.2)
    assert frames == []
    assert sentences == ["nobody answers; waiting for it"]
    assert receiver.counts.error == "nobody answers"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_unexpected_error_ends_the_stream_with_a_sentence():
    _, _, sentences = run(ScriptedSource(1, ZeroDivisionError("oops")))
    assert "unexpected error of script: oops" in sentences[-1]
