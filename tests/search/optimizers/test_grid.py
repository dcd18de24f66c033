"""Grid search."""

import numpy as np

from homodyn.search import Grid, LinearConstraint, Pool, Space


def test_a_grid_has_every_combination_once():
    space = Space(
        {"x": (0, 1), "y": (0, 2), "z": (0, 1)},
        [Pool("p", {"a": ("x",), "b": ("y",)})],
    )
    grid = Grid({"x": 3, "y": 2, "z": 4}, population=5).start(space)
    rows, sizes = set(), []
    while not grid.finished:
        population = grid.ask()
        sizes.append(len(population))
        rows |= {
            (int(g[0]), *map(float, v))
            for g, v in zip(
                population.groups, np.nan_to_num(population.values, nan=-1), strict=True
            )
        }
        grid.tell(np.zeros(len(population)))
    assert sizes == [5, 5, 5, 5]
    assert len(rows) == 3 * 4 + 2 * 4
    assert {row[1] for row in rows if row[0] == 0} == {0, 0.5, 1}
    assert {row[2] for row in rows if row[0] == 1} == {0, 2}


def test_points_that_violate_constraints_are_left_out():
    space = Space({"x": (0, 1), "y": (0, 1)}, constraints=[LinearConstraint({"x": 1, "y": 1}, 1.0)])
    grid = Grid(3, population=100).start(space)
    assert len(grid.ask()) == 6


def test_the_number_of_remaining_points_is_known():
    space = Space({"x": (0, 1), "y": (0, 1)})
    grid = Grid(7, population=20).start(space, iterations=100)
    assert grid.remaining(100, 20) == 49
    grid.ask()
    grid.tell(np.zeros(20))
    assert grid.remaining(100, 20) == 29
    assert grid.remaining(2, 20) == 20
