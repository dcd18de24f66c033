"""Markers at constant distances, and robust statistics of distances."""

import numpy as np

from homodyn.capture.quality.marker_clusters import find_companions, median_and_spread, quantile
from support.walking import walk, walker


def test_companions_are_on_the_same_segment():
    trial = walk(noise=0.0005, seed=1)
    labels = trial.markers
    shank = {labels.index(name) for name in ("RTB1", "RTB2", "RTB3", "RTIB", "RKNE")}
    for found in (
        find_companions(trial.positions, labels, walker()),
        find_companions(trial.positions),
    ):
        companions = set(found[labels.index("RTB1")].tolist())
        assert len(companions & shank) >= 3
        assert labels.index("LTB1") not in companions
        assert labels.index("RTB1") not in companions


def test_quantiles_ignore_missing_values():
    values = np.arange(30.0)[:, None] * [1.0, 1.0]
    values[::2, 1] = np.nan
    np.testing.assert_array_equal(quantile(values, 1.0), [29.0, 29.0])
    np.testing.assert_array_equal(np.isnan(quantile(values[:19], 0.5)), [False, True])


def test_the_spread_of_normal_values_is_their_standard_deviation():
    values = np.random.default_rng(0).normal(3.0, 2.0, (20_000, 1))
    values[:500] = 1e6
    median, spread = median_and_spread(values)
    np.testing.assert_allclose(median, 3.0, atol=0.1)
    np.testing.assert_allclose(spread, 2.0, atol=0.1)
