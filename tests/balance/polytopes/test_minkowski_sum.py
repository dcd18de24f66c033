"""Vertices of sums by walks: all that a hull of all sums has."""

import numpy as np
import pytest

from homodyn.balance import Grasp, Stance, point_contact, sole_contact, wrench_set
from homodyn.balance.polytopes.convex_hull import convex_hull, hull_with_normals
from homodyn.balance.polytopes.minkowski_sum import minkowski_sum_hull, minkowski_sum_vertices
from homodyn.errors import NoSolution


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
    points, found = minkowski_sum_hull(parts, at_most=2000)
    assert found is not None
    expected = convex_hull(all_sums(parts))
    assert as_set(points) == as_set(all_sums(parts)[expected.vertices])
    assert as_set(np.c_[found.A, found.b]) == as_set(np.c_[expected.A, expected.b])
    assert (found.incidence.sum(axis=1) >= n).all()


def test_a_normal_that_is_missing_is_told_by_a_direction_near_it():
    cube = all_sums([np.array([np.zeros(3), edge]) for edge in np.eye(3)])
    normals = np.vstack([np.eye(3), -np.eye(3)])
    whole = hull_with_normals(cube, normals)
    assert as_set(np.c_[whole.A, whole.b]) == as_set(
        np.c_[convex_hull(cube).A, convex_hull(cube).b]
    )
    cut = np.vstack([cube[:-1], 0.8 * cube[-1:]])
    asked = hull_with_normals(cut, normals)
    assert len(asked)
    assert (asked @ np.ones(3) > 0).all()


def with_rows(count: int) -> Stance:
    return Stance(
        tuple(
            sole_contact(f"s{k}", (0.4 * k, 0.3 * (-1) ** k, 0.1 * k), length=0.25, width=0.1,
                 friction=0.6, yaw=0.3 * k, limit=500.0)
            for k in range(count)
        )
    )  # fmt: skip


def test_a_set_with_too_many_vertices_is_refused_at_once_with_what_would_help():
    hands = [Grasp(f"hand {k}", (0.3, 0.5 * k, 1.0), 200.0, 20.0) for k in range(2)]
    with pytest.raises(NoSolution, match=r"more than 2000 vertices: let contacts share one limit"):
        wrench_set(with_rows(4).with_support(*hands))


def test_limits_of_each_and_of_all_are_found_by_walks_as_by_programs():
    points = [(0.0, 0.2, 0.0), (0.5, -0.1, 0.1), (0.2, 0.4, 0.3)]
    each = [
        point_contact(f"p{k}", at, normal=(0.1 * k, -0.2, 1), friction=0.5, limit=300.0)
        for k, at in enumerate(points)
    ]
    stance = Stance(tuple(each), 500.0)
    walked, asked = wrench_set(stance), wrench_set(stance, method="programs")
    assert len(walked.polytope.A) == len(asked.polytope.A)
    assert as_set(np.round(walked.polytope.vertices, 4)) == as_set(
        np.round(asked.polytope.vertices, 4)
    )
