"""Construction of wrench sets: all methods agree, and sets that are too large are refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn.balance import Grasp, Stance, point_contact, sole_contact, wrench_set
from homodyn.balance.polytopes import inclusion
from homodyn.errors import NoSolution


def as_set(points):
    return {tuple(point) for point in np.round(points, 7) + 0.0}


@settings(max_examples=3)
@given(seed=st.integers(0, 10_000))
def test_all_methods_give_one_set(seed):
    rng = np.random.default_rng(seed)
    supports = [
        point_contact(
            f"p{k}", rng.uniform(-1, 1, 3), normal=rng.normal(size=3), friction=0.5, limit=limit
        )
        for k, limit in enumerate(rng.choice([300.0, np.inf], 2))
    ]
    stance = Stance((*supports, Grasp("hand", rng.uniform(-1, 1, 3), [0.0, 50.0, 100.0])), 500.0)
    simple = all(budget.has_one_part for budget in stance.forces.budgets)
    methods = ("hull", "shooting", "programs") if simple else ("shooting", "programs")
    found = [wrench_set(stance, method=m).polytope for m in methods]
    for other in found[1:]:
        tolerance = 1e-7 * found[0].size
        assert inclusion(found[0], other, tolerance)
        assert inclusion(other, found[0], tolerance)
    assert found[0].check() == ()


def soles(count: int) -> Stance:
    return Stance(
        tuple(
            sole_contact(
                f"s{k}",
                (0.4 * k, 0.3 * (-1) ** k, 0.1 * k),
                size=(0.25, 0.1),
                friction=0.6,
                orientation=0.3 * k,
                limit=500.0,
            )
            for k in range(count)
        )
    )


def test_a_set_with_too_many_vertices_is_refused_with_what_would_help():
    hands = [Grasp(f"hand {k}", (0.3, 0.5 * k, 1.0), 200.0, 20.0) for k in range(2)]
    with pytest.raises(NoSolution, match=r"more than 2000 vertices: give contacts a common limit"):
        wrench_set(soles(4).with_support(*hands))


def test_limits_of_each_and_of_all_are_found_by_walks_as_by_programs():
    points = [(0.0, 0.2, 0.0), (0.5, -0.1, 0.1), (0.2, 0.4, 0.3)]
    each = [
        point_contact(f"p{k}", at, normal=(0.1 * k, -0.2, 1), friction=0.5, limit=300.0)
        for k, at in enumerate(points)
    ]
    stance = Stance(tuple(each), 500.0)
    by_walks, by_programs = wrench_set(stance), wrench_set(stance, method="programs")
    assert len(by_walks.polytope.A) == len(by_programs.polytope.A)
    assert as_set(np.round(by_walks.polytope.vertices, 4)) == as_set(
        np.round(by_programs.polytope.vertices, 4)
    )
