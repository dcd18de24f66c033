"""Tree searches of a point around a wall: limits, valid edges, shortcuts that are not longer."""

from itertools import pairwise

import numpy as np
import pytest

from homodyn.plan.bidirectional_tree import (
    FlightNode,
    SpeedLimits,
    TreeSearch,
    flight_of_nodes,
    interpolate_nodes,
    path_length,
    shorten_path,
    subdivide,
)

WALL_TOP_M = 0.25
LIMITS = SpeedLimits(2.0, 4.0)


def is_free(position: np.ndarray) -> np.ndarray:
    """Whether points (..., 3) are outside a wall at x = 0.3 to 0.4 that is 0.25 m high."""
    x, z = position[..., 0], position[..., 2]
    return ~((x > 0.3) & (x < 0.4) & (z < WALL_TOP_M))


def wall_search(seed: int, max_iterations: int = 400) -> TreeSearch:
    def validate(time, position, rotation, q):
        return np.tile(q, (len(time), 1)) if is_free(position).all() else None

    first = FlightNode(0.0, np.array([0.0, 0.0, 0.0]), np.eye(3), np.zeros(2))
    last = FlightNode(1.5, np.array([0.7, 0.1, 0.0]), np.eye(3), np.ones(2))
    return TreeSearch(
        first,
        last,
        LIMITS,
        validate,
        lambda position, rotation: True,
        np.random.default_rng(seed),
        max_iterations,
    )


@pytest.mark.parametrize("seed", range(10))
def test_path_goes_around_the_wall_in_time(seed):
    search = wall_search(seed)
    nodes, iterations = search.run()
    assert nodes
    assert iterations > 0
    time = np.array([node.time for node in nodes])
    assert (np.diff(time) > 0).all()
    assert time[0] == 0.0
    assert time[-1] == 1.5
    np.testing.assert_array_equal(nodes[0].position, search.first.position)
    np.testing.assert_array_equal(nodes[-1].position, search.last.position)
    for a, b in pairwise(nodes):
        assert LIMITS.allow(a, b)
        # Much denser than the samples of the search, which are 6 cm apart.
        dense = interpolate_nodes(a, b, np.linspace(0, 1, 200))[1]
        depth = WALL_TOP_M - dense[~is_free(dense)][:, 2]
        assert depth.max(initial=0.0) < 0.06
    assert max(node.position[2] for node in nodes) > WALL_TOP_M


def test_shortcuts_are_valid_and_not_longer():
    for seed in range(5):
        search = wall_search(seed)
        nodes, _ = search.run()
        shorter = shorten_path(search, nodes, 30)
        assert path_length(shorter) <= path_length(nodes) + 1e-12
        assert shorter[0] is nodes[0]
        assert shorter[-1] is nodes[-1]
        time = np.array([node.time for node in shorter])
        assert (np.diff(time) > 0).all()
        for a, b in pairwise(shorter):
            assert LIMITS.allow(a, b)
            dense = interpolate_nodes(a, b, np.linspace(0, 1, 200))[1]
            assert (WALL_TOP_M - dense[~is_free(dense)][:, 2]).max(initial=0.0) < 0.06


def test_too_short_a_time_has_no_path():
    search = wall_search(0, max_iterations=40)
    late = FlightNode(0.2, search.last.position, np.eye(3), np.ones(2))
    hasty = TreeSearch(search.first, late, LIMITS, search.validate, search.is_clear, search.rng, 40)
    assert hasty.run() == ([], 40)


def test_subdivided_path_keeps_its_nodes():
    nodes, iterations = wall_search(1).run()
    path = flight_of_nodes("right_foot", nodes, iterations)
    finer = subdivide(path)
    assert len(finer.time) == 2 * len(path.time) - 1
    np.testing.assert_allclose(finer.position[::2], path.position)
    position, _ = path.pose(path.time)
    np.testing.assert_allclose(position, path.position, atol=1e-12)
    assert abs(finer.length - path.length) < 1e-9
