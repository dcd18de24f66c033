"""Signed distance to a convex polygon."""

import numpy as np
import pytest

from homodyn.balance.polytopes.convex_polygon import signed_distance_inside


def test_distance_to_a_polygon():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]])
    assert signed_distance_inside(square, np.array([0.5, 0.4])) == pytest.approx(0.4)
    assert signed_distance_inside(square, np.array([2.0, 2.0])) == pytest.approx(-np.sqrt(2))
    line = np.array([[0.0, 0], [1, 0], [0.5, 0]])
    assert signed_distance_inside(line, np.array([0.5, 0.2])) == pytest.approx(-0.2)
    assert signed_distance_inside(line[:1], np.array([0.0, 0.2])) == pytest.approx(-0.2)
