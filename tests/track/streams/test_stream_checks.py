import numpy as np

from homodyn.track.streams import MarkerFrame
from homodyn.track.streams.stream_checks import MAX_REJECTED_S, StreamChecks

RATE = 100.0
LABELS = ("LKNE", "RKNE", "C7")


def place(t):
    """Three markers that move like parts of a body (m)."""
    return np.array(
        [
            [0.1 + 0.3 * np.sin(6 * t), 0.1, 0.5],
            [0.1 - 0.3 * np.sin(6 * t), -0.1, 0.5],
            [1.2 * t, 0.0, 1.4],
        ]
    )


class Stream:
    def __init__(self):
        self.checks = StreamChecks(LABELS)
        self.sentences = []

    def feed(self, t, positions=None):
        points = place(t) if positions is None else positions
        checked = self.checks.check(MarkerFrame(t, LABELS, points, t), points)
        self.sentences += checked.sentences
        return checked

    def run(self, first, count, rate=RATE):
        for k in range(count):
            checked = self.feed(first + k / rate)
            np.testing.assert_array_equal(checked.positions, place(first + k / rate))
        return first + count / rate


def test_a_sound_stream_passes_unchanged():
    stream = Stream()
    stream.run(0.0, 300)
    assert stream.sentences == []
    assert abs(stream.checks.rate - RATE) < 1e-6


def test_exchanged_labels_are_corrected_and_reported_once():
    stream = Stream()
    t = stream.run(0.0, 60)
    for k in range(50):
        now = t + k / RATE
        exchanged = place(now)[[1, 0, 2]]
        np.testing.assert_array_equal(stream.feed(now, exchanged).positions, place(now))
    assert len(stream.sentences) == 1
    assert "LKNE, RKNE are exchanged" in stream.sentences[0]


def test_a_jump_is_left_out_and_later_accepted():
    stream = Stream()
    t = stream.run(0.0, 60)
    rejected = 0
    for k in range(int(2 * MAX_REJECTED_S * RATE)):
        points = place(t + k / RATE)
        points[2, 1] += 0.7
        rejected += bool(np.isnan(stream.feed(t + k / RATE, points).positions[2]).all())
    assert 0.5 * MAX_REJECTED_S * RATE < rejected <= MAX_REJECTED_S * RATE + 1
    assert "C7 jumped by 0.70 m" in stream.sentences[0]
    assert len(stream.sentences) == 1


def test_late_and_repeated_frames_are_left_out():
    stream = Stream()
    t = stream.run(0.0, 50)
    assert not stream.feed(t - 0.03).usable
    assert not stream.feed(t - 1 / RATE).usable
    assert stream.feed(t).usable
    assert stream.checks.late == 2
    assert stream.sentences == []


def test_a_clock_that_is_set_back_begins_again():
    stream = Stream()
    t = stream.run(100.0, 50)
    checked = stream.feed(t - 90.0)
    assert checked.usable
    assert checked.restart
    assert "stepped back by 90" in stream.sentences[0]
    stream.run(t - 90.0 + 1 / RATE, 50)
    assert len(stream.sentences) == 1


def test_a_gap_and_another_rate_are_reported():
    stream = Stream()
    t = stream.run(0.0, 60)
    t = stream.run(t + 2.0, 60)
    assert "no frame for 2.01 s" in stream.sentences[0]
    stream.run(t, 200, rate=50.0)
    assert [s for s in stream.sentences if "rate changed" in s] == [
        "the rate changed from 100 to 50 Hz"
    ]


def test_missing_markers_are_no_jumps():
    stream = Stream()
    t = stream.run(0.0, 60)
    for k in range(200):
        points = place(t + k / RATE)
        points[:] = np.nan
        assert stream.feed(t + k / RATE, points).usable
    stream.run(t + 2.0, 60)
    assert stream.sentences == []
