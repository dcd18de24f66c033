"""The genetic algorithm."""

import numpy as np

from homodyn.search import GA, Pool, Space


def test_pools_are_searched():
    space = Space(
        {"x": (0, 1), "y": (0, 1)},
        [
            Pool("p", {"one": ("x",), "two": ("x", "y")}),
            Pool("q", {"off": (), "on": ()}),
        ],
    )
    search = GA(30).start(space, seed=0)
    for _ in range(60):
        population = search.ask()
        x, y = np.nan_to_num(population.values).T
        bowl = (x - 0.3) ** 2 + (y - 0.6) ** 2
        search.tell(bowl + (population.groups[:, 0] == 0) + (population.groups[:, 1] == 0))
    k = search.score.best()
    assert search.groups[k].tolist() == [1, 1]
    assert search.score.value[k] < 1e-3
