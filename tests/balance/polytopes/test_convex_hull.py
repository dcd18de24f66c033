"""Convex hulls: merged facets, independence of units, and hulls from known normals."""

from itertools import product

import numpy as np
import pytest

from homodyn.balance.polytopes import Polytope, volume
from homodyn.balance.polytopes.convex_hull import convex_hull, hull_with_normals


def as_set(points):
    return {tuple(point) for point in np.round(points, 7) + 0.0}


def test_facets_are_consistent_on_a_polytope_with_many_coplanar_points():
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 5)] * 3), -1).reshape(-1, 3)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    found = Polytope.from_points(grid @ turn.T)
    assert len(found.A) == 6
    assert len(found.vertices) == 8
    assert found.check() == ()


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e3, 1e9])
def test_the_answer_does_not_depend_on_the_unit(scale):
    points = np.random.default_rng(3).normal(size=(20, 4))
    plain, scaled = Polytope.from_points(points), Polytope.from_points(scale * points)
    assert len(scaled.A) == len(plain.A)
    again = Polytope.from_rows(scaled.A, scaled.b)
    assert len(again.vertices) == len(plain.vertices)
    assert volume(again) == pytest.approx(scale**4 * volume(plain), rel=1e-9)


def test_a_missing_normal_is_reported_by_a_direction_near_it():
    cube = np.array(list(product((0.0, 1.0), repeat=3)))
    normals = np.vstack([np.eye(3), -np.eye(3)])
    whole = hull_with_normals(cube, normals)
    assert as_set(np.c_[whole.A, whole.b]) == as_set(
        np.c_[convex_hull(cube).A, convex_hull(cube).b]
    )
    cut = np.vstack([cube[:-1], 0.8 * cube[-1:]])
    missing = hull_with_normals(cut, normals)
    assert len(missing)
    assert (missing @ np.ones(3) > 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_points_that_differ_by_rounding_have_a_hull(seed):
    """Corners of a cube in six dimensions, each twice, 1e-13 apart: Qhull alone fails on these."""
    rng = np.random.default_rng(seed)
    corners = np.array(list(product([-1.0, 1.0], repeat=6)))
    points = np.concatenate([corners, corners + 1e-13 * rng.normal(size=corners.shape)])
    hull = convex_hull(points)
    assert (points @ hull.A.T <= hull.b + 1e-9).all()
    assert hull.b == pytest.approx(np.ones(len(hull.b)), abs=1e-9)
    assert len(hull.vertices) == len(corners)
