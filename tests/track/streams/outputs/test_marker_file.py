import numpy as np

import homodyn as hd
from homodyn.track.streams import MarkerFrame
from homodyn.track.streams.outputs import MarkerFile

LABELS = ("LASI", "RASI", "LHEE", "LFHD")
BODY = np.array([[0.1, 0.1, 0.95], [0.1, -0.1, 0.95], [0.0, 0.1, 0.05], [0.1, 0.1, 1.7]])


def frame(k, labels=LABELS, time=None):
    positions = BODY[: len(labels)] + 0.001 * k
    if k == 3:
        positions = positions.copy()
        positions[1] = np.nan
    return MarkerFrame(2.0 + k / 100 if time is None else time, labels, positions, 0.0, k)


def test_the_file_can_be_read_at_any_time(tmp_path):
    markers = MarkerFile(tmp_path)
    for k in range(20):
        markers.write(frame(k))
        if k in (5, 19):
            trial = hd.capture.read(tmp_path / "markers.trc")
            assert trial.frames == k + 1
    markers.close()
    trial = hd.capture.read(tmp_path / "markers.trc")
    assert trial.markers == LABELS
    assert abs(trial.rate - 100.0) < 1e-6
    assert abs(trial.start - 2.0) < 1e-9
    expected = np.stack([frame(k).positions for k in range(20)])
    np.testing.assert_allclose(trial.positions, expected, atol=1e-6)


def test_late_frames_are_left_out(tmp_path):
    markers = MarkerFile(tmp_path)
    for k in (0, 1, 2, 1, 2, 3):
        markers.write(frame(k))
    markers.close()
    assert markers.frames == 4


def test_other_labels_begin_another_file(tmp_path):
    markers = MarkerFile(tmp_path)
    for k in range(5):
        markers.write(frame(k))
    for k in range(5, 8):
        markers.write(frame(k, (*LABELS[:3], "C7")))
    markers.close()
    assert [path.name for path in markers.paths] == ["markers.trc", "markers_2.trc"]
    assert hd.capture.read(markers.paths[1], up="y").markers == (*LABELS[:3], "C7")


def test_a_clock_that_is_set_back_begins_another_file(tmp_path):
    markers = MarkerFile(tmp_path)
    for k in range(3):
        markers.write(frame(k, time=100.0 + k / 100))
    for k in range(3):
        markers.write(frame(k, time=5.0 + k / 100))
    markers.close()
    assert [hd.capture.read(path).frames for path in markers.paths] == [3, 3]
