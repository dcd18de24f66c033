"""Gaps between shapes on two bodies."""

import numpy as np

import homodyn as hd
from homodyn.simulate.geometry.shape_gaps import nearest_points


def test_nearest_points_of_segments_are_the_nearest():
    rng = np.random.default_rng(7)
    kernel = hd.symbolic.kernel(
        lambda a, b, c, d: dict(zip("pq", nearest_points((a, b), (c, d)), strict=True)),
        a=3,
        b=3,
        c=3,
        d=3,
    )
    fractions = np.linspace(0, 1, 201)
    for _ in range(40):
        a, b, c, d = rng.normal(size=(4, 3))
        result = kernel(a, b, c, d)
        first = a + fractions[:, None] * (b - a)
        second = c + fractions[:, None] * (d - c)
        smallest = np.linalg.norm(first[:, None] - second, axis=2).min()
        distance = np.linalg.norm(result["p"] - result["q"])
        assert distance <= smallest + 1e-12
        assert distance > smallest - 0.02
