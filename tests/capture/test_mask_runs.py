"""Runs of True in masks."""

import numpy as np
import pytest

from homodyn.capture.mask_runs import true_runs, true_slices


@pytest.mark.parametrize(
    ("mask", "runs"),
    [
        ([], []),
        ([0, 0], []),
        ([1, 1], [(0, 2)]),
        ([1, 0, 1, 1, 0], [(0, 1), (2, 4)]),
        ([0, 1, 0, 1], [(1, 2), (3, 4)]),
    ],
)
def test_runs_are_half_open_ranges(mask, runs):
    assert true_runs(np.array(mask, dtype=bool)) == runs


def test_slices_cover_exactly_the_true_samples():
    mask = np.random.default_rng(0).random(200) < 0.4
    covered = np.zeros(200, dtype=bool)
    for part in true_slices(mask):
        assert not covered[part].any()
        covered[part] = True
    np.testing.assert_array_equal(covered, mask)
