"""Spikes, jumps, swapped labels and frozen markers are found where they were planted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn.capture import check_health, read
from homodyn.capture.quality.trajectory_checks import find_discontinuities, find_swaps
from support.planted_problems import (
    CLEAN,
    FIRST,
    FRAMES,
    LABELS,
    by_subject,
    direction,
    lengths,
    markers,
    noises,
    seeds,
    starts,
)
from support.walking import changed


@settings(max_examples=15)
@given(noises, markers, st.integers(0, FRAMES - 1), st.floats(0.05, 1.0), seeds)
def test_spikes_are_found_at_their_frame(noise, marker, start, size, seed):
    positions = np.array(CLEAN[noise].positions)
    positions[start, marker] += size * direction(seed)
    expected = {"spike": [((LABELS[marker],), ((FIRST + start, FIRST + start),))]}
    assert by_subject(changed(CLEAN[noise], positions)) == expected


@settings(max_examples=15)
@given(noises, markers, starts, st.floats(0.05, 1.0), seeds)
def test_jumps_are_found_at_their_frame(noise, marker, start, size, seed):
    positions = np.array(CLEAN[noise].positions)
    positions[start:, marker] += size * direction(seed)
    found = by_subject(changed(CLEAN[noise], positions))
    assert found["jump"] == [((LABELS[marker],), ((FIRST + start, FIRST + start),))]
    assert set(found) <= {"jump", "mislabel"}
    assert all(who == (LABELS[marker],) for who, _ in found.get("mislabel", []))


def distant_pairs():
    distances = np.linalg.norm(
        CLEAN[0.0].positions[:, :, None] - CLEAN[0.0].positions[:, None], axis=3
    )
    nearest = distances.min(axis=0)
    return [(a, b) for a, b in zip(*np.nonzero(nearest > 0.06), strict=True) if a < b]


@settings(max_examples=15)
@given(noises, st.sampled_from(distant_pairs()), starts, lengths)
def test_swaps_for_a_while_are_one_finding(noise, pair, start, length):
    positions = np.array(CLEAN[noise].positions)
    span = slice(start, start + length)
    positions[span, list(pair)] = positions[span, list(pair[::-1])]
    names = tuple(LABELS[k] for k in pair)
    frames = ((FIRST + start, FIRST + start + length - 1),)
    assert by_subject(changed(CLEAN[noise], positions)) == {"swap": [(names, frames)]}


@settings(max_examples=10)
@given(noises, st.sampled_from(distant_pairs()), starts)
def test_permanent_swaps_last_to_the_end(noise, pair, start):
    positions = np.array(CLEAN[noise].positions)
    positions[start:, list(pair)] = positions[start:, list(pair[::-1])]
    found = [
        f for f in check_health(changed(CLEAN[noise], positions)).findings if f.subject == "swap"
    ]
    assert len(found) == 1
    assert found[0].frames == ((FIRST + start, FIRST + FRAMES - 1),)
    assert "until the end of the recording" in found[0].sentence


@pytest.mark.parametrize("missing", [1, 4, 8])
def test_labels_exchanged_in_a_gap_are_a_swap(missing):
    positions = np.array(CLEAN[0.0005].positions)
    pair = [LABELS.index("RHEE"), LABELS.index("LELB")]
    positions[90:, pair] = positions[90:, pair[::-1]]
    positions[90 - missing : 90, pair] = np.nan
    found = by_subject(changed(CLEAN[0.0005], positions))
    assert set(found) == {"swap", "gap"}
    assert found["swap"] == [(("RHEE", "LELB"), ((FIRST + 90, FIRST + FRAMES - 1),))]


@settings(max_examples=10)
@given(noises, markers, starts, st.integers(15, 60))
def test_frozen_markers_are_found_exactly(noise, marker, start, length):
    positions = np.array(CLEAN[noise].positions)
    positions[start : start + length, marker] = positions[start, marker]
    found = by_subject(changed(CLEAN[noise], positions))
    frames = ((FIRST + start, FIRST + start + length - 1),)
    assert found["frozen"] == [((LABELS[marker],), frames)]
    assert set(found) <= {"frozen", "jump"}


@pytest.mark.parametrize(
    ("file", "pair"),
    [
        ("gait10dof/walk.trc", ("R.Thigh.Upper", "R.Thigh.Rear")),
        ("hdm/walk.c3d", ("TakeoMonday:LFHD", "TakeoMonday:RFHD")),
    ],
)
def test_a_swap_planted_in_a_real_recording_is_found(shared_data, file, pair):
    trial = read(shared_data / file)
    a, b = (trial.markers.index(label) for label in pair)
    positions = np.array(trial.positions)
    positions[50:71, [a, b]] = positions[50:71, [b, a]]
    (finding,) = [
        f for f in check_health(changed(trial, positions)).findings if f.subject == "swap"
    ]
    assert set(finding.markers) == set(pair)
    assert finding.frames == ((trial.first_frame + 50, trial.first_frame + 70),)


def test_two_spikes_of_markers_that_are_close_are_no_swap():
    """A glitch of two computed joint centers 20 mm apart, which exchange their places by chance."""
    time = np.arange(60) / 100
    path = np.stack([time, 0 * time, 0.9 + 0.02 * np.sin(6 * time)], axis=1)
    apart = np.array([0.0, 0.02, 0.0])
    positions = np.stack([path, path + apart], axis=1)
    positions[30] = positions[30, ::-1] + [0.0, 0.0, 0.012]
    found = find_discontinuities(positions, 100.0)
    assert {marker for _, marker in found.spikes} == {0, 1}
    assert find_swaps(positions, found) == []
    far = np.stack([path, path + 5 * apart], axis=1)
    far[30] = far[30, ::-1]
    assert len(find_swaps(far, find_discontinuities(far, 100.0))) == 1
