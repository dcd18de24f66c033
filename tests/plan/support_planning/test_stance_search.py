"""A* over stances: shortest sequences, forbidden stances, and goals at the right height."""

import itertools

import numpy as np

from homodyn.motion import BoxObstacle, Scene
from homodyn.motion.supports import sole_contact
from homodyn.plan.support_planning.foot_places import FootPlace, FootPlaces
from homodyn.plan.support_planning.stance_search import FootStance, StanceSearch
from homodyn.plan.support_planning.support_search_options import SupportSearchOptions

FEET = {
    f"{name}_foot": sole_contact(name, (0, y, 0), (0.28, 0.12), friction=0.7, body=f"{name}_foot")
    for name, y in (("left", 0.1), ("right", -0.1))
}
START = FootStance({name: FootPlace(patch, 0.0, True) for name, patch in FEET.items()})


def search(
    finish: tuple[float, float, float], *obstacles: BoxObstacle, **options: float
) -> StanceSearch:
    scene = Scene("room", obstacles=obstacles, supports={p.name: p for p in FEET.values()})
    places = FootPlaces(
        scene,
        SupportSearchOptions(**options),  # type: ignore[arg-type]
        79.0,
        FEET,
        {"left_foot": 1.0, "right_foot": -1.0},
    )
    return StanceSearch(places, np.array(finish), 0.94)


def test_the_cheapest_sequence_has_few_steps():
    for greed in (1.0, 2.5):
        path = search((1.0, 0.0, 0.94), greed=greed, max_nodes=20000).path(START)
        assert path is not None
        # A foot is at most 0.6 m ahead of the other: one step is too few for 0.9 m.
        assert 2 <= len(path) - 1 <= 5
        assert all(a.moved != b.moved for a, b in itertools.pairwise(path))


def test_forbidden_stances_are_avoided():
    problem = search((0.7, 0.0, 0.94))
    first = problem.path(START)
    assert first is not None
    problem.forbidden.add(first[1].key)
    second = problem.path(START)
    assert second is not None
    assert second[1].key != first[1].key


def test_the_start_is_a_goal_where_the_finish_is_above_it():
    assert search((0.05, 0.0, 0.94)).path(START) == [START]


def test_a_goal_has_the_height_of_the_finish():
    problem = search((0.6, 0.0, 2.5), max_nodes=100)
    assert problem.path(START) is None
    assert problem.opened == 100
    assert problem.nearest == np.inf
