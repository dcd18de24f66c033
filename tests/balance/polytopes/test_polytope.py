"""Polytopes in both forms: closed forms, round trips, and the failures known of other programs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homodyn.balance.polytopes import Infeasible, Polytope, inclusion, volume
from homodyn.errors import NoSolution

CUBE = Polytope.box([-1, -1, -1], [1, 1, 1])


def same(first: Polytope, second: Polytope, tolerance: float = 1e-9) -> bool:
    return bool(inclusion(first, second, tolerance) and inclusion(second, first, tolerance))


def test_a_cube_has_six_sides_and_eight_corners():
    assert CUBE.A.shape == (6, 3)
    assert len(CUBE.vertices) == 8
    assert CUBE.b == pytest.approx(1)
    assert CUBE.incidence.sum() == 24
    assert CUBE.check() == ()


@given(seed=st.integers(0, 10_000), n=st.integers(2, 5), count=st.integers(1, 25))
def test_points_become_rows_become_the_same_points(seed, n, count):
    points = np.random.default_rng(seed).normal(size=(count + n, n))
    polytope = Polytope.from_points(points)
    assert polytope.check() == ()
    again = Polytope.from_rows(polytope.A, polytope.b, polytope.E, polytope.e)
    assert again.check() == ()
    assert len(again.vertices) == len(polytope.vertices)
    assert len(again.A) == len(polytope.A)
    assert same(polytope, again, 1e-8)
    assert polytope.contains(points).all()


@given(seed=st.integers(0, 10_000), n=st.integers(2, 6))
def test_the_support_of_rows_is_the_support_of_points(seed, n):
    """Rows and vertices bound the same set: their linear programs agree in any direction."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    polytope = Polytope.from_points(rng.normal(size=(3 * n, n)))
    direction = rng.normal(size=n)
    optimum = linprog(-direction, A_ub=polytope.A, b_ub=polytope.b, bounds=(None, None))
    assert -optimum.fun == pytest.approx(polytope.support(direction), abs=1e-9)


def test_the_projection_of_a_cube_along_its_diagonal_is_a_hexagon():
    along = np.ones(3) / np.sqrt(3)
    first = np.array([1, -1, 0]) / np.sqrt(2)
    M = np.array([first, np.cross(along, first)])
    hexagon = CUBE.image(M)
    assert len(hexagon.vertices) == len(hexagon.A) == 6
    assert np.linalg.norm(hexagon.vertices, axis=1) == pytest.approx(np.sqrt(8 / 3))
    assert volume(hexagon) == pytest.approx(4 * np.sqrt(3))


def test_flat_sets_keep_their_plane():
    square = Polytope.from_points([[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
    assert square.flatness == 1
    assert np.abs(square.E) == pytest.approx(np.array([[0, 0, 1]]))
    assert square.contains([0.5, 0.5, 1.0])
    assert not square.contains([0.5, 0.5, 1.001])
    assert volume(square) == 0
    assert square.check() == ()
    alone = Polytope.from_points([[1.0, 2.0]])
    assert alone.contains([1.0, 2.0])
    assert not alone.contains([1.0, 2.001])


def test_verification_notices_a_wrong_side():
    broken = Polytope(CUBE.A, CUBE.b * [1, 1, 1, 1, 1, 1.01], CUBE.vertices)
    assert "facet 5 contains too few" in broken.check()[0]
    cut = Polytope(CUBE.A, CUBE.b * [1, 1, 1, 1, 1, 0.99], CUBE.vertices)
    assert "outside a facet" in cut.check()[0]


def test_a_cone_of_rays_keeps_only_its_own_sides():
    rays = np.array([[1, 1, 1], [-1, 1, 1], [-1, -1, 1], [1, -1, 1.0]])
    cone = Polytope.from_points(np.zeros((1, 3)), rays)
    assert len(cone.A) == 4
    assert cone.b == pytest.approx(0, abs=1e-12)
    assert not cone.bounded
    assert cone.check() == ()
    assert cone.contains([3.0, 3.0, 1e6])
    assert not cone.contains([1.0, 0.0, 0.5])
    assert volume(cone) == np.inf
    everything = Polytope.from_points(np.zeros((1, 2)), [[1, 0], [-1, 1], [-1, -1.0]])
    assert len(everything.A) == 0
    assert everything.contains([1e9, -1e9])


def test_invalid_arguments_are_refused():
    with pytest.raises(NoSolution, match="not finite"):
        Polytope.from_points([[0.0, np.nan], [1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(NoSolution, match="2 rows need as many bounds"):
        Polytope.from_rows(np.eye(2), [1.0])
    with pytest.raises(NoSolution, match="lower <= upper"):
        Polytope.box([0, 1], [1, 0])
    with pytest.raises(Infeasible, match="row 1 says 0 <= -1"):
        Polytope.from_rows([[1.0, 0.0], [0.0, 0.0]], [1.0, -1.0])
