"""Balls of polytopes: closed forms on cube and simplex, and the proofs they carry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homodyn.balance.polytopes import (
    Polytope,
    Unbounded,
    largest_inscribed_ball,
    residual_radius,
    smallest_ball_around_points,
    smallest_enclosing_ball,
)
from homodyn.errors import NoSolution

CUBE = Polytope.box([-1, -1, -1], [1, 1, 1])
SIMPLEX = Polytope.from_points(np.vstack([np.zeros(3), np.eye(3)]))


def test_balls_of_a_cube():
    assert largest_inscribed_ball(CUBE).radius == pytest.approx(1)
    assert smallest_enclosing_ball(CUBE).radius == pytest.approx(np.sqrt(3))
    assert residual_radius(CUBE, np.array([0.5, 0.0, -0.7])) == pytest.approx(0.3)


def test_balls_of_a_simplex():
    found = largest_inscribed_ball(SIMPLEX)
    radius = 1 / (3 + np.sqrt(3))
    assert found.radius == pytest.approx(radius)
    assert found.center == pytest.approx(radius)
    around = smallest_enclosing_ball(SIMPLEX)
    # The origin lies inside the ball through the three other corners.
    assert around.radius == pytest.approx(np.sqrt(2 / 3))
    assert around.center == pytest.approx(1 / 3)
    assert residual_radius(SIMPLEX, np.full(3, 0.25)) == pytest.approx(0.25 / np.sqrt(3))


def test_a_point_outside_leaves_no_ball():
    with pytest.raises(NoSolution, match=r"0\.5 outside"):
        residual_radius(CUBE, np.array([1.5, 0, 0]))


@given(seed=st.integers(0, 10_000), n=st.integers(2, 6))
def test_an_insphere_proves_that_no_larger_ball_fits(seed, n):
    body = Polytope.from_points(np.random.default_rng(seed).normal(size=(3 * n, n)))
    found = largest_inscribed_ball(body)
    assert body.slack(found.center).min() == pytest.approx(found.radius, abs=1e-9)
    y = found.multipliers
    assert (y >= 0).all()
    assert y.sum() == pytest.approx(1)
    assert y @ body.A == pytest.approx(0, abs=1e-9)
    assert y @ body.b == pytest.approx(found.radius, abs=1e-9)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 6), count=st.integers(1, 40))
def test_an_enclosing_ball_proves_that_no_smaller_ball_holds(seed, n, count):
    points = np.random.default_rng(seed).normal(size=(count, n))
    found = smallest_ball_around_points(points)
    far = np.linalg.norm(points - found.center, axis=1)
    assert far.max() <= found.radius * (1 + 1e-12)
    used = found.weights > 0
    assert found.weights.sum() == pytest.approx(1)
    assert far[used] == pytest.approx(found.radius, abs=1e-9)
    assert found.weights @ points == pytest.approx(found.center, abs=1e-9)


def test_coincident_and_cospherical_points_have_their_ball():
    assert smallest_ball_around_points(np.ones((5, 3))).radius == 0
    square = Polytope.box([0, 0], [1, 1])
    assert smallest_enclosing_ball(square).radius == pytest.approx(np.sqrt(0.5))
    doubled = np.repeat(square.vertices, 3, axis=0)
    assert smallest_ball_around_points(doubled).radius == pytest.approx(np.sqrt(0.5))


def test_flat_and_endless_sets():
    flat = Polytope.from_points([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert largest_inscribed_ball(flat).radius == 0
    middle = np.array([0.25, 0.25, 0.0])
    assert residual_radius(flat, middle) == 0
    assert residual_radius(flat, middle, within=True) == pytest.approx(0.25)
    cone = Polytope.from_points(np.zeros((1, 2)), [[1, 1], [-1, 1.0]])
    with pytest.raises(Unbounded):
        largest_inscribed_ball(cone)
    with pytest.raises(Unbounded):
        smallest_enclosing_ball(cone)
