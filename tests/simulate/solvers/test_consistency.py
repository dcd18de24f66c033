"""Contradictory rows, compared with systems whose motions are known."""

import numpy as np
import pytest

from homodyn.simulate.solvers import ConeProblem
from homodyn.simulate.solvers.consistency import is_contradictory


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    ("A", "b", "contradictory"),
    [
        # One coordinate between two walls: w = (x, -x) + b can be >= 0 where b sums to >= 0.
        ([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0], True),
        ([[1.0, -1.0], [-1.0, 1.0]], [-1.0, 1.0], False),
        ([[1.0, -1.0], [-1.0, 1.0]], [-1.0, 2.0], False),
        # A row that no force moves.
        ([[1.0, 0.0], [0.0, 0.0]], [-1.0, -1.0], True),
        ([[1.0, 0.0], [0.0, 0.0]], [-1.0, 1.0], False),
    ],
)
def test_rows_of_one_coordinate_contradict_where_their_gaps_overlap(A, b, contradictory, scale):
    problem = ConeProblem(np.array(A) * scale, np.array(b) * scale)
    assert is_contradictory(problem) == contradictory


def test_equations_must_hold_with_both_signs():
    A = np.diag([1.0, 0.0])
    for b, contradictory in ((1.0, True), (-1.0, True), (0.0, False)):
        problem = ConeProblem(A, np.array([1.0, b]), lower=-np.inf)
        assert is_contradictory(problem) == contradictory


def test_rows_with_two_bounds_and_tangents_yield():
    A, b = np.zeros((3, 3)), np.array([1.0, -5.0, 5.0])
    assert not is_contradictory(ConeProblem(A, -b, lower=-1.0, upper=1.0))
    sliding = ConeProblem(A, b, cones=((0, 1, 2),), friction=0.5)
    assert not is_contradictory(sliding)
    penetrating = ConeProblem(A, np.array([-1.0, 0.0, 0.0]), cones=((0, 1, 2),), friction=0.5)
    assert is_contradictory(penetrating)


def test_independent_rows_never_contradict():
    rng = np.random.default_rng(4)
    for _ in range(10):
        G = rng.normal(size=(4, 6))
        assert not is_contradictory(ConeProblem(G @ G.T, rng.normal(size=4), lower=-np.inf))
