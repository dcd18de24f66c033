import numpy as np
import pytest

from homodyn.track.streams import LslSource, StreamError
from homodyn.track.streams.lsl_source import read_channels, require_pylsl

pytest.importorskip("pylsl")
pylsl = require_pylsl()


def outlet(name, rows, rate=100.0):
    info = pylsl.StreamInfo(name, "MoCap", len(rows), rate, pylsl.cf_float32, f"test-{name}")
    channels = info.desc().append_child("channels")
    for row in rows:
        channel = channels.append_child("channel")
        for key, value in row.items():
            channel.append_child_value(key, value)
    return info, pylsl.StreamOutlet(info)


def marker_rows(name, unit="meters"):
    return [
        {"label": f"{name}_{axis}", "marker": name, "type": f"Position{axis}", "unit": unit}
        for axis in "XYZ"
    ]


def read_one(source):
    for _ in range(200):
        frames = source.read(0.1)
        if frames:
            return frames[0]
    raise AssertionError("no frame arrived")


def test_a_stream_with_recommended_metadata():
    confidence = [{"label": "c", "type": "Confidence"}]
    _, sender = outlet("markers-a", marker_rows("LASI") + confidence + marker_rows("RASI"))
    source = LslSource("markers-a")
    source.open()
    stamp = pylsl.local_clock()
    sender.push_sample([0.5, 0.25, 1.0, 0.9, np.nan, 0.0, 0.0], stamp)
    frame = read_one(source)
    assert frame.labels == ("LASI", "RASI")
    np.testing.assert_allclose(frame.positions, [[0.5, 0.25, 1.0], [np.nan] * 3])
    assert abs(frame.time - stamp) < 0.1
    source.close()


def test_labels_with_axes_and_millimeters():
    info, _ = outlet("markers-b", [{"label": f"C7.{axis}", "unit": "mm"} for axis in "zxy"])
    labels, columns, factors = read_channels(info, "lsl:b")
    assert labels == ("C7",)
    np.testing.assert_array_equal(columns, [[1, 2, 0]])
    np.testing.assert_array_equal(factors, np.full((1, 3), 1e-3))


def test_a_stream_without_positions_is_refused():
    info, _ = outlet("markers-c", [{"label": "Cz", "type": "EEG"}])
    with pytest.raises(StreamError, match="PositionX"):
        read_channels(info, "lsl:c")


def test_an_absent_stream_lists_the_others(monkeypatch):
    monkeypatch.setattr("homodyn.track.streams.lsl_source.RESOLVE_TIMEOUT_S", 0.2)
    kept = outlet("markers-d", marker_rows("A"))
    source = LslSource("no such stream")
    with pytest.raises(StreamError, match="markers-d"):
        source.open()
    del kept
