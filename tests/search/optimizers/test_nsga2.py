"""NSGA-II: fronts against their definition, a problem with a known front, stages, resumption."""

import numpy as np

from homodyn.search import Objective, Space, minimize
from homodyn.search.optimizers import NSGA2
from homodyn.search.optimizers.nsga2 import crowding_distances, front_ranks, nondominated_mask


def dominates(a, b):
    return bool((a <= b).all() and (a < b).any())


def test_fronts_are_those_of_the_definition():
    costs = np.random.default_rng(3).integers(0, 6, size=(40, 3)).astype(float)
    rank = front_ranks(costs)
    left = list(range(len(costs)))
    for front in range(rank.max() + 1):
        free = [k for k in left if not any(dominates(costs[j], costs[k]) for j in left)]
        assert sorted(free) == np.flatnonzero(rank == front).tolist()
        left = [k for k in left if k not in free]
    assert not left
    kept = np.flatnonzero(nondominated_mask(costs))
    assert {tuple(costs[k]) for k in kept} == {tuple(costs[k]) for k in np.flatnonzero(rank == 0)}


def test_a_higher_stage_is_in_an_earlier_front():
    costs = np.array([[0.0, 0.0], [5.0, 5.0], [np.nan, 1.0]])
    assert front_ranks(costs, np.array([0, 1, 0])).tolist() == [1, 0, 2]


def test_distances_are_infinite_at_the_ends_and_relative_inside():
    costs = np.array([[0.0, 4.0], [1.0, 1.0], [4.0, 0.0]])
    assert crowding_distances(costs).tolist() == [np.inf, 2.0, np.inf]


def zdt1(values):
    x, rest = values[:, 0], values[:, 1:]
    g = 1 + 9 * rest.mean(axis=1)
    return np.stack([x, g * (1 - np.sqrt(x / g))], axis=-1)


def test_the_front_of_zdt1_is_found_and_resumed_to_the_bit(tmp_path):
    space = Space({f"x{k}": (0.0, 1.0) for k in range(6)})
    goal = [Objective("first"), Objective("second")]

    def search(iterations, database=None):
        from homodyn.search import Goal

        return minimize(
            zdt1,
            space,
            objectives=Goal(objectives=tuple(goal), combine="sum"),
            optimizer=NSGA2(40),
            batch=True,
            iterations=iterations,
            seed=4,
            name="zdt1",
            database=database,
        )

    whole = search(60)
    front = np.array([list(one.objectives.values()) for one in whole.pareto_front()])
    error = front[:, 1] - (1 - np.sqrt(front[:, 0]))
    assert len(front) >= 20
    assert np.ptp(front[:, 0]) > 0.7
    assert np.median(error) < 0.05
    search(25, tmp_path / "study.db")
    resumed = search(60, tmp_path / "study.db")
    assert resumed.best.value == whole.best.value
    again = np.array([list(one.objectives.values()) for one in resumed.pareto_front()])
    assert again.tobytes() == front.tobytes()
