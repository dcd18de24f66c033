"""Trials: cropping, rotation, selection and renaming."""

import numpy as np
import pytest

from homodyn.capture import (
    Signals,
    Trial,
)
from homodyn.errors import CaptureError
from homodyn.motion import (
    Event,
    ForcePlate,
)

TURN = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


@pytest.fixture
def trial() -> Trial:
    numbers = np.random.default_rng(1)
    positions = numbers.normal(size=(101, 3, 3))
    positions[4, 1] = np.nan
    plate = ForcePlate("1", 1000.0, *numbers.normal(size=(3, 1001, 3)), start=0.5)
    analog = Signals(("EMG 1",), 1000.0, numbers.normal(size=(1001, 1)), ("V",), start=0.5)
    events = (Event(0.6, "Foot Strike", "Left"), Event(1.4, "Foot Off", "Left"))
    return Trial("walk", ("A", "B", "C"), positions, 100.0, 0.5, 51, (plate,), analog, events)


def test_everything_is_cut_to_the_same_span(trial):
    part = trial.crop(0.6, 0.9)
    assert part.frames == 31
    assert part.first_frame == 61
    np.testing.assert_allclose(part.time[[0, -1]], [0.6, 0.9])
    np.testing.assert_allclose(part.plates[0].time[[0, -1]], [0.6, 0.9])
    np.testing.assert_allclose(part.analog.time[[0, -1]], [0.6, 0.9])
    assert [event.label for event in part.events] == ["Foot Strike"]
    np.testing.assert_array_equal(part.positions, trial.positions[10:41])


def test_a_rotation_keeps_lengths_and_can_be_undone(trial):
    rotated = trial.rotate(TURN)
    np.testing.assert_allclose(rotated.marker("A")[:, 2], trial.marker("A")[:, 1])
    back = rotated.rotate(TURN.T)
    np.testing.assert_array_equal(back.positions, trial.positions)
    np.testing.assert_array_equal(back.plates[0].torque, trial.plates[0].torque)
    np.testing.assert_array_equal(back.axes, np.eye(3))


def test_missing_is_not_seen_and_arrays_cannot_be_changed(trial):
    assert not trial.seen[4, 1]
    assert trial.seen.sum() == 302
    with pytest.raises(ValueError, match="read-only"):
        trial.positions[0] = 0


def test_markers_are_chosen_and_renamed_by_label(trial):
    part = trial.select_markers(["C", "A"]).rename_markers({"C": "heel"})
    assert part.markers == ("heel", "A")
    np.testing.assert_array_equal(part.marker("heel"), trial.marker("C"))
    with pytest.raises(CaptureError, match=r"'D'.*A, B, C"):
        trial.marker("D")


def test_wrong_shapes_and_double_names_are_refused():
    with pytest.raises(CaptureError, match=r"positions has shape \(2, 3\), \(2, 1, 3\)"):
        Trial("t", ("A",), np.zeros((2, 3)), 100.0)
    with pytest.raises(CaptureError, match="several markers with the same name: A"):
        Trial("t", ("A", "A"), np.zeros((2, 2, 3)), 100.0)
