"""Outcomes of evaluations and seeds of stochastic ones."""

import numpy as np

from homodyn.search.evaluation.outcomes import evaluation_seeds


def test_seeds_differ_by_study_generation_member_and_repeat():
    members = np.arange(100)
    seeds = np.concatenate(
        [evaluation_seeds(s, g, members, 3).ravel() for s in range(3) for g in range(3)]
    )
    assert len(np.unique(seeds)) == len(seeds)
    np.testing.assert_array_equal(
        evaluation_seeds(1, 2, members[5:9], 3), evaluation_seeds(1, 2, members, 3)[5:9]
    )
