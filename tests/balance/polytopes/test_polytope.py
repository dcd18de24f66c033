"""Polytopes in both forms: closed forms, round trips, and the failures known of other programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn.balance import (
    Infeasible,
    Polytope,
    Unbounded,
    inclusion,
    intersection,
    minkowski_sum,
    project,
    volume,
)
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
    made = Polytope.from_points(points)
    assert made.check() == ()
    again = Polytope.from_rows(made.A, made.b, made.E, made.e)
    assert again.check() == ()
    assert len(again.vertices) == len(made.vertices)
    assert len(again.A) == len(made.A)
    assert same(made, again, 1e-8)
    assert made.contains(points).all()


@given(seed=st.integers(0, 10_000), n=st.integers(2, 6))
def test_the_support_of_rows_is_the_support_of_points(seed, n):
    """Rows and vertices bound the same set: their linear programs agree in any direction."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    made = Polytope.from_points(rng.normal(size=(3 * n, n)))
    direction = rng.normal(size=n)
    told = linprog(-direction, A_ub=made.A, b_ub=made.b, bounds=(None, None))
    assert -told.fun == pytest.approx(made.support(direction), abs=1e-9)


def test_the_shadow_of_a_cube_is_a_hexagon():
    along = np.ones(3) / np.sqrt(3)
    first = np.array([1, -1, 0]) / np.sqrt(2)
    M = np.array([first, np.cross(along, first)])
    shadow = CUBE.image(M)
    assert len(shadow.vertices) == len(shadow.A) == 6
    assert np.linalg.norm(shadow.vertices, axis=1) == pytest.approx(np.sqrt(8 / 3))
    assert volume(shadow) == pytest.approx(4 * np.sqrt(3))


@settings(max_examples=12)
@given(seed=st.integers(0, 10_000))
def test_both_projections_agree_and_prove_themselves(seed):
    rng = np.random.default_rng(seed)
    body = Polytope.from_points(rng.normal(size=(14, 4)))
    M, shift = rng.normal(size=(2, 4)), rng.normal(size=2)
    found = project(body.A, body.b, M, shift)
    assert same(found.polytope, body.image(M, shift), 1e-7)
    # Inner bound: every vertex has a preimage in the body.
    assert body.contains(found.preimages, 1e-7).all()
    assert found.preimages @ M.T + shift == pytest.approx(found.polytope.vertices, abs=1e-7)
    # Outer bound: multipliers of the rows of the body prove every side.
    assert found.rows.min() >= 0
    assert found.rows @ body.A == pytest.approx(found.polytope.A @ M, abs=1e-7)
    told = found.rows @ body.b + found.polytope.A @ shift
    assert told == pytest.approx(found.polytope.b, abs=1e-7)


def test_projection_with_equations():
    """The simplex in four dimensions, seen along the last axis, is a corner of the cube."""
    ones = np.ones((1, 4))
    found = project(-np.eye(4), np.zeros(4), np.eye(4)[:3], E=ones, e=np.ones(1))
    corner = Polytope.from_points(np.vstack([np.zeros(3), np.eye(3)]))
    assert same(found.polytope, corner)
    told = found.rows @ -np.eye(4) + found.equations @ ones
    assert told == pytest.approx(found.polytope.A @ np.eye(4)[:3])


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


def test_rows_that_only_touch_give_a_flat_set():
    A = np.vstack([np.eye(3), -np.eye(3)])
    flat = Polytope.from_rows(A, [1, 1, 0, 1, 1, 0])
    assert flat.flatness == 1
    assert len(flat.vertices) == 4
    assert flat.check() == ()
    corner = Polytope.from_rows(A, [1, 1, 1, -1, -1, -1])
    assert corner.vertices == pytest.approx(np.ones((1, 3)))


def test_an_empty_set_is_refused_with_multipliers_that_prove_it():
    A, b = np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), np.array([-1.0, 0.0, 0.0])
    with pytest.raises(Infeasible, match="empty") as caught:
        Polytope.from_rows(A, b)
    y = caught.value.rows
    rows = A / np.linalg.norm(A, axis=1)[:, None]
    bounds = b / np.linalg.norm(A, axis=1)
    assert (y >= 0).all()
    assert y @ rows == pytest.approx(0, abs=1e-12)
    assert y @ bounds < -0.1


def test_a_set_without_end_is_refused_with_the_direction():
    with pytest.raises(Unbounded) as caught:
        Polytope.from_rows([[1.0, 0.0], [-1.0, 0.0], [0.0, -1.0]], [1.0, 1.0, 0.0])
    assert caught.value.direction @ [0.0, -1.0] < 0


@pytest.mark.parametrize(
    "bounds",
    [(1.3660253171818983, 0.36602545378443874), (1.3660254037844386, 0.36602540378443876)],
)
def test_a_bounded_polygon_stays_bounded_when_rows_move_by_a_ten_millionth(bounds):
    """Two rows pass within 1e-7 of a corner of a square; cddlib finds a ray in the first case."""
    half, root = 0.49999999999999994, 0.8660254037844387
    A = np.array([[half, root], [root, -half], [0, -1], [1, 0], [0, 1], [-1, 0]])
    found = Polytope.from_rows(A, np.array([*bounds, 1, 1, 1, 1]))
    assert found.check() == ()
    expected = [[-1, -1], [-1, 1], [1, 1], [-0.15470054, -1]]
    for corner in expected:
        assert np.linalg.norm(found.vertices - corner, axis=1).min() < 2e-7
    assert volume(found) == pytest.approx(2.8452994616, abs=1e-6)


def test_a_short_segment_comes_back_from_its_rows():
    """pycddlib turns this segment into a half line on the way back."""
    ends = np.array([[-0.00008, 0.00933], [0.00008, -0.00933]])
    made = Polytope.from_points(ends)
    again = Polytope.from_rows(made.A, made.b, made.E, made.e)
    assert np.sort(again.vertices, axis=0) == pytest.approx(np.sort(ends, axis=0), abs=1e-14)


def test_a_thin_box_stays_bounded():
    low, high = [0.00275714, 2.7, 0.4], [0.00306, 3.0, 0.5]
    thin = Polytope.box(low, high)
    again = Polytope.from_rows(thin.A, thin.b)
    assert len(thin.A) == 6
    assert again.vertices.min(axis=0) == pytest.approx(low, rel=1e-12)
    assert volume(again) == pytest.approx(0.00030286 * 0.3 * 0.1, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_very_unlike_length_do_not_empty_a_set(seed):
    """189 rows in four dimensions; lengths over 18 orders of magnitude change nothing."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(189, 4))
    A /= np.linalg.norm(A, axis=1)[:, None]
    b = rng.uniform(0.5, 1.0, 189)
    plain = Polytope.from_rows(A, b)
    stretch = 10.0 ** rng.uniform(-9, 9, 189)
    again = Polytope.from_rows(A * stretch[:, None], b * stretch)
    assert len(again.vertices) == len(plain.vertices) > 10
    assert same(plain, again)
    assert again.check() == ()


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e3, 1e9])
def test_the_answer_does_not_depend_on_the_unit(scale):
    points = np.random.default_rng(3).normal(size=(20, 4))
    plain, scaled = Polytope.from_points(points), Polytope.from_points(scale * points)
    assert len(scaled.A) == len(plain.A)
    again = Polytope.from_rows(scaled.A, scaled.b)
    assert len(again.vertices) == len(plain.vertices)
    assert volume(again) == pytest.approx(scale**4 * volume(plain), rel=1e-9)


def test_facets_are_consistent_on_a_polytope_with_many_coplanar_points():
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 5)] * 3), -1).reshape(-1, 3)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    found = Polytope.from_points(grid @ turn.T)
    assert len(found.A) == 6
    assert len(found.vertices) == 8
    assert found.check() == ()


def test_verification_notices_a_wrong_side():
    broken = Polytope(CUBE.A, CUBE.b * [1, 1, 1, 1, 1, 1.01], CUBE.vertices)
    assert "side 5 holds too few" in broken.check()[0]
    cut = Polytope(CUBE.A, CUBE.b * [1, 1, 1, 1, 1, 0.99], CUBE.vertices)
    assert "outside a row" in cut.check()[0]


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


def test_intersection_and_inclusion():
    moved = Polytope.box([0, 0, 0], [2, 2, 2])
    common = intersection(CUBE, moved)
    assert same(common, Polytope.box([0, 0, 0], [1, 1, 1]))
    assert inclusion(common, CUBE)
    assert not inclusion(CUBE, moved)
    told = inclusion(CUBE, moved)
    assert told.excess == pytest.approx(1)
    assert not moved.contains(told.witness)
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


def test_nonsense_is_refused():
    with pytest.raises(NoSolution, match="not finite"):
        Polytope.from_points([[0.0, np.nan], [1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(NoSolution, match="2 rows need as many bounds"):
        Polytope.from_rows(np.eye(2), [1.0])
    with pytest.raises(NoSolution, match="lower <= upper"):
        Polytope.box([0, 1], [1, 0])
    with pytest.raises(Infeasible, match="row 1 says 0 <= -1"):
        Polytope.from_rows([[1.0, 0.0], [0.0, 0.0]], [1.0, -1.0])
