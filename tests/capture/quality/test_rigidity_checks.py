"""Wrong labels and drifting markers are found by the distances within a segment."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn.capture import Trial, check_health
from homodyn.capture.quality.rigidity_checks import find_drifts
from support.planted_problems import (
    CLEAN,
    FIRST,
    FRAMES,
    LABELS,
    by_subject,
    direction,
    markers,
    noises,
    seeds,
    starts,
)
from support.walking import changed, walker


def test_bending_the_knees_after_standing_is_no_wrong_label():
    clean = CLEAN[0.0].positions
    still = np.repeat(clean[:1], 400, axis=0)
    trial = Trial("stand and go", LABELS, np.concatenate([still, clean]), 100.0)
    assert set(by_subject(trial)) <= {"spike", "jump"}


@settings(max_examples=12)
@given(noises, markers, starts, st.integers(3, 60), seeds)
def test_labels_on_a_wrong_point_are_found_by_distance(noise, marker, start, length, seed):
    """The label leaves its marker for a phantom that moves along elsewhere on the body."""
    trial = CLEAN[noise]
    others = np.flatnonzero(
        np.linalg.norm(trial.positions[0] - trial.positions[0, marker], axis=1) > 0.3
    )
    other = np.random.default_rng(seed).choice(others)
    positions = np.array(trial.positions)
    phantom = positions[:, other] + 0.02 * direction(seed)
    positions[start : start + length, marker] = phantom[start : start + length]
    found = by_subject(changed(trial, positions), walker())
    frames = ((FIRST + start, FIRST + start + length - 1),)
    assert found["mislabel"] == [((LABELS[marker],), frames)]
    assert set(found) <= {"mislabel", "jump"}


@settings(max_examples=10)
@given(noises, st.sampled_from([k for k, label in enumerate(LABELS) if label[1:3] in ("TB", "TH")]))
def test_drifting_markers_are_found(noise, marker):
    positions = np.array(CLEAN[noise].positions)
    # Away from the other markers of the segment.
    row = check_health(CLEAN[noise], model=walker()).markers[marker]
    companions = [LABELS.index(label) for label in row.companions]
    outward = positions[:, marker] - positions[:, companions].mean(axis=1)
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    positions[:, marker] += 0.05 * np.linspace(0, 1, FRAMES)[:, None] * outward
    found = by_subject(changed(CLEAN[noise], positions), walker())
    assert found == {"drift": [((LABELS[marker],), ((FIRST, FIRST + FRAMES - 1),))]}


def test_a_steady_change_within_a_part_of_a_stride_is_no_drift():
    time = np.arange(200) / 100.0
    corners = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1], [0.1, 0.1, 0.1]])
    positions = corners + np.stack([time, 0 * time, 0 * time], axis=1)[:, None]
    positions[:, 4] += np.linspace(0, 0.05, len(time))[:, None]
    companions = [np.setdiff1d(np.arange(5), k) for k in range(5)]
    assert [k for k, _ in find_drifts(positions, companions, 100.0)] == [4]
    # The same frames as half a second: the skin moves so within a stride.
    assert find_drifts(positions, companions, 400.0) == []
