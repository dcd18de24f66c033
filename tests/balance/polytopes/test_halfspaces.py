"""Vertex enumeration: flat, empty and unbounded sets, and cases on which other programs fail."""

import numpy as np
import pytest

from homodyn.balance.polytopes import Infeasible, Polytope, Unbounded, inclusion, volume


def same(first: Polytope, second: Polytope, tolerance: float = 1e-9) -> bool:
    return bool(inclusion(first, second, tolerance) and inclusion(second, first, tolerance))


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
    polytope = Polytope.from_points(ends)
    again = Polytope.from_rows(polytope.A, polytope.b, polytope.E, polytope.e)
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
