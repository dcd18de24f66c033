"""Likely distances between markers: statistics, anatomy, sides and other recordings."""

import numpy as np
import pytest

from homodyn.capture.quality.marker_layout import (
    MAX_VIOLATION,
    anatomical_bands,
    body_landmark,
    distance_statistics,
    mirror_indices,
    recording_bands,
    segment_pairs,
)
from support.planted_problems import CLEAN


def test_members_of_clusters_have_the_place_of_their_segment():
    assert body_landmark("RTH1") == ("r", "thigh")
    assert body_landmark("L_thigh4") == ("l", "thigh")
    assert body_landmark("LTB3") == ("l", "shank")
    assert body_landmark("R.SH2") == ("r", "shank")
    assert body_landmark("RKNE") == ("r", "knee")


def test_medians_and_ranges_of_distances():
    positions = np.zeros((5, 3, 3))
    positions[:, 1, 0] = [1.0, 1.0, 1.0, 1.0, 2.0]
    positions[:, 2] = np.nan
    found = distance_statistics(positions)
    assert found.median[0, 1] == 1.0
    assert found.range[0, 1] == pytest.approx(1.0)
    assert np.isnan(found.median[0, 2])
    assert np.isnan(found.median[0, 0])


def test_each_marker_has_its_counterpart():
    labels = ("LASI", "RASI", "C7", "LTB3", "RTB3", "box")
    assert mirror_indices(labels).tolist() == [1, 0, 2, 4, 3, -1]


def test_landmarks_of_one_segment_share_it():
    same = segment_pairs(("RHEE", "RTOE", "LTOE", "RMT5"), None)
    assert same[0].tolist() == [False, True, False, True]


def test_a_good_walk_stays_in_the_anatomical_bands_and_a_wrong_label_leaves_them():
    trial = CLEAN[0.0]
    distances = distance_statistics(trial.positions)
    bands = anatomical_bands(trial.markers, distances)
    violations = bands.violations(distances.median)
    knee, ankle = trial.markers.index("RKNE"), trial.markers.index("LANK")
    wrong = bands.violations(distances.exchange(knee, ankle).median)
    assert violations[knee].sum() < 0.1 * wrong[knee].sum()
    assert wrong.max() <= MAX_VIOLATION**2


def test_other_recordings_give_narrow_bands_of_rigid_distances():
    trial = CLEAN[0.0]
    bands = recording_bands(("RASI", "LASI", "RTOE", "nobody"), [trial])
    assert bands.low[0, 1] == bands.high[0, 1] > 0.1
    assert np.isnan(bands.low[0, 2])
    assert np.isnan(bands.low[0, 3])
