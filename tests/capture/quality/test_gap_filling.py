"""Gaps are filled where the data allow it, marked as filled, and left open elsewhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn.capture import (
    Trial,
    fill_gaps,
)
from homodyn.errors import CaptureError
from support.walking import changed, walk, walker

CLEAN = walk()
CLUSTERED = [
    k
    for k, label in enumerate(CLEAN.markers)
    if label[1:] in ("TH1", "TH2", "TH3", "TB1", "TB2", "TB3")
]


def with_gap(trial: Trial, marker: int, first: int, last: int) -> Trial:
    positions = np.array(trial.positions)
    positions[first:last, marker] = np.nan
    return changed(trial, positions)


def error(filled: Trial, marker: int) -> float:
    distance = np.linalg.norm(filled.positions[:, marker] - CLEAN.positions[:, marker], axis=1)
    return float(distance[filled.filled[:, marker]].max())


def test_twenty_samples_of_a_smooth_signal_are_filled_within_a_millimeter():
    """Angles and positions of slow movements: 0.1 m at 0.8 Hz, sampled at 100 Hz."""
    time = np.arange(300) / 100
    path = np.stack([np.sin(5 * time), np.cos(5 * time), 0.5 * np.sin(5 * time + 1)], axis=1)
    trial = Trial("smooth", ("A",), 0.1 * path[:, None], 100.0)
    for first in range(10, 270, 7):
        holed = with_gap(trial, 0, first, first + 20)
        filled = fill_gaps(holed)
        assert filled.filled[:, 0].sum() == 20
        assert np.abs(filled.positions - trial.positions).max() < 1e-3


@settings(max_examples=15)
@given(st.integers(0, len(CLEAN.markers) - 1), st.integers(5, 280), st.integers(1, 8))
def test_short_gaps_of_walking_are_filled_by_splines(marker, first, length):
    filled = fill_gaps(with_gap(CLEAN, marker, first, first + length))
    np.testing.assert_array_equal(
        filled.filled[:, marker], (np.arange(301) >= first) & (np.arange(301) < first + length)
    )
    assert filled.filled.sum() == length
    assert error(filled, marker) < 0.001
    (note,) = filled.notes
    label = CLEAN.markers[marker]
    frames = "1 frame" if length == 1 else f"{length} frames"
    assert note == f"{label}: {frames} filled by spline ({first + 1}-{first + length})"


@settings(max_examples=8)
@given(st.sampled_from(CLUSTERED), st.integers(0, 200), st.integers(21, 100))
def test_long_gaps_are_filled_by_the_segment_even_at_the_ends(marker, first, length):
    filled = fill_gaps(with_gap(CLEAN, marker, first, first + length), model=walker())
    assert filled.filled.sum() == length
    assert error(filled, marker) < 1e-6
    assert "rigid pattern" in filled.notes[0]


def test_patterns_are_found_without_a_model_and_meet_the_measured_ends():
    noisy = walk(noise=0.001, seed=3)
    for marker in CLUSTERED:
        filled = fill_gaps(with_gap(noisy, marker, 100, 180))
        assert filled.filled[:, marker].sum() == 80
        assert error(filled, marker) < 0.012
        steps = np.linalg.norm(np.diff(filled.positions[:, marker], axis=0), axis=1)
        # No step at the edges beyond what noise and movement give elsewhere.
        assert steps[[99, 179]].max() < 1.2 * steps.max() + 1e-3
        assert steps[[99, 179]].max() < 0.045


def test_gaps_that_cannot_be_filled_stay_open_and_are_noted():
    lone = CLEAN.select_markers(["RTHI", "LWRA", "C7"])
    positions = np.array(lone.positions)
    positions[:10, 0] = np.nan
    positions[100:150, 1] = np.nan
    positions[290:, 2] = np.nan
    filled = fill_gaps(changed(lone, positions))
    np.testing.assert_array_equal(filled.positions, positions)
    assert not filled.filled.any()
    assert len(filled.notes) == 3
    assert all("stay missing" in note for note in filled.notes)
    assert "101-150" in filled.notes[1]


def test_companions_that_vanish_too_leave_a_part_open():
    positions = np.array(CLEAN.positions)
    shank = [CLEAN.markers.index(label) for label in ("RTB1", "RTB2", "RTB3", "RTIB", "RKNE")]
    positions[100:160, shank[0]] = np.nan
    positions[120:130, shank[1:]] = np.nan
    filled = fill_gaps(changed(CLEAN, positions), longest_spline=0.05, model=walker())
    mask = filled.filled[:, shank[0]]
    assert mask[100:120].all()
    assert mask[130:160].all()
    assert not mask[120:130].any()
    assert any("stay missing (121-130)" in note for note in filled.notes)


def test_nothing_missing_changes_nothing():
    filled = fill_gaps(CLEAN)
    np.testing.assert_array_equal(filled.positions, CLEAN.positions)
    assert filled.notes == CLEAN.notes
    with pytest.raises(CaptureError, match="zero or more"):
        fill_gaps(CLEAN, longest_spline=-1)


def test_a_marker_that_is_rarely_seen_follows_its_segment():
    """In few frames the next segment has not moved relative to the marker; the model says more."""
    model = walker()
    marker = CLEAN.markers.index("RTH1")
    filled = fill_gaps(with_gap(CLEAN, marker, 12, CLEAN.frames), model=model)
    assert filled.filled[12:, marker].all()
    assert error(filled, marker) < 0.03


def test_a_spike_does_not_move_a_filled_marker():
    marker = CLEAN.markers.index("RTH1")
    spiked = np.array(CLEAN.positions)
    spiked[57, marker] += 0.15
    filled = fill_gaps(with_gap(changed(CLEAN, spiked), marker, 60, 160), model=walker())
    assert error(filled, marker) < 0.02
