"""Points of muscle paths: straight paths have their length, wrapped ones at most that."""

import numpy as np

import homodyn as hd
from homodyn.muscle.path_points import path_points


def test_points_measure_the_paths(wraps_model):
    rng = np.random.default_rng(3)
    low, high = (np.clip(x, -1.0, 1.0) for x in (wraps_model.lower, wraps_model.upper))
    q = rng.uniform(low, high, (40, wraps_model.nq))
    points, counts = path_points(wraps_model, q)
    lengths = hd.muscle.lengths(wraps_model, q)
    assert points.shape == (40, sum(counts), 3)
    first = 0
    shorter = 0
    for k, muscle in enumerate(wraps_model.muscles):
        part = points[:, first : first + counts[k]]
        first += counts[k]
        chord = np.linalg.norm(np.diff(part, axis=1), axis=2).sum(axis=1)
        # OpenSim's tangent points are not exactly those of the shortest path.
        assert (chord < lengths[:, k] + 1e-6).all(), muscle.name
        if not muscle.wraps:
            np.testing.assert_allclose(chord, lengths[:, k], atol=1e-12)
        shorter += int((chord < lengths[:, k] - 1e-4).any())
    assert shorter > 0
