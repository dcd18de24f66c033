"""Vertices of sums by walks: all that a hull of all sums has."""

import numpy as np
import pytest

from homodyn.balance.polytopes.convex_hull import convex_hull
from homodyn.balance.polytopes.minkowski_hull import minkowski_sum_hull, minkowski_sum_vertices


def all_sums(parts):
    total = np.zeros((1, parts[0].shape[1]))
    for part in parts:
        total = (total[:, None] + part).reshape(-1, total.shape[1])
    return total


def as_set(points):
    return {tuple(point) for point in np.round(points, 7) + 0.0}


@pytest.mark.parametrize("n", [2, 3, 4])
def test_walks_find_every_vertex_of_a_sum_and_nothing_else(n):
    rng = np.random.default_rng(n)
    parts = [rng.normal(size=(k, n)) for k in (4, 5, 6)]
    every = all_sums(parts)
    assert as_set(minkowski_sum_vertices(parts)) == as_set(every[convex_hull(every).vertices])


def test_parts_that_are_flat_or_points_only_move_the_sum():
    square = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.0]])
    found = minkowski_sum_vertices([square, np.array([[1.0, 2.0, 3.0]])])
    assert as_set(found) == as_set(square + np.array([1.0, 2.0, 3.0]))
    assert as_set(minkowski_sum_vertices([np.ones((2, 3))])) == {(1.0, 1.0, 1.0)}


@pytest.mark.parametrize("n", [3, 4, 6])
def test_the_hull_of_a_sum_is_found_from_its_normals(n):
    rng = np.random.default_rng(n)
    parts = [rng.normal(size=(k, n)) for k in (3, 4, 4)]
    points, found = minkowski_sum_hull(parts, max_vertices=2000)
    assert found is not None
    expected = convex_hull(all_sums(parts))
    assert as_set(points) == as_set(all_sums(parts)[expected.vertices])
    assert as_set(np.c_[found.A, found.b]) == as_set(np.c_[expected.A, expected.b])
    assert (found.incidence.sum(axis=1) >= n).all()
