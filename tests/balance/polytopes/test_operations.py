"""Intersection, inclusion, Minkowski sum and volume, against closed forms."""

import numpy as np
import pytest

from homodyn.balance.polytopes import (
    Infeasible,
    Polytope,
    inclusion,
    intersection,
    minkowski_sum,
    volume,
)

CUBE = Polytope.box([-1, -1, -1], [1, 1, 1])


def same(first: Polytope, second: Polytope, tolerance: float = 1e-9) -> bool:
    return bool(inclusion(first, second, tolerance) and inclusion(second, first, tolerance))


def test_intersection_and_inclusion():
    shifted = Polytope.box([0, 0, 0], [2, 2, 2])
    common = intersection(CUBE, shifted)
    assert same(common, Polytope.box([0, 0, 0], [1, 1, 1]))
    assert inclusion(common, CUBE)
    assert not inclusion(CUBE, shifted)
    result = inclusion(CUBE, shifted)
    assert result.excess == pytest.approx(1)
    assert not shifted.contains(result.witness)
    with pytest.raises(Infeasible):
        intersection(CUBE, Polytope.box([2, 0, 0], [3, 1, 1]))
    touching = intersection(CUBE, Polytope.box([1, -1, -1], [3, 1, 1]))
    assert touching.flatness == 1


def test_minkowski_sum_of_a_square_and_a_diamond_is_an_octagon():
    square = Polytope.box([-1, -1], [1, 1])
    diamond = Polytope.from_points([[1, 0], [0, 1], [-1, 0], [0, -1]])
    total = minkowski_sum(square, diamond)
    assert len(total.vertices) == 8
    assert volume(total) == pytest.approx(4 + 2 + 8)


def test_volumes_of_cube_and_simplex():
    assert volume(Polytope.box([0] * 5, [2] * 5)) == pytest.approx(32)
    simplex = Polytope.from_points(np.vstack([np.zeros(4), np.eye(4)]))
    assert volume(simplex) == pytest.approx(1 / 24)
