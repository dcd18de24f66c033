"""Lemke's algorithm against enumeration of all complementary bases."""

from itertools import product

import numpy as np
import pytest

from homodyn.simulate.solvers import lemke


def all_bases(M, q):
    """All basic solutions of a complementarity problem."""
    n = len(q)
    found = []
    for inside in product([False, True], repeat=n):
        chosen = np.nonzero(inside)[0]
        z = np.zeros(n)
        if len(chosen):
            block = M[np.ix_(chosen, chosen)]
            if abs(np.linalg.det(block)) < 1e-12:
                continue
            z[chosen] = np.linalg.solve(block, -q[chosen])
        w = M @ z + q
        if z.min() > -1e-9 and w.min() > -1e-9:
            found.append(z)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_positive_definite_problems_have_the_solution_of_enumeration(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    G = rng.normal(size=(n, n + 1))
    # A skew part makes the matrix unsymmetric, as friction does, and keeps it positive definite.
    S = rng.normal(size=(n, n))
    M, q = G @ G.T + S - S.T, rng.normal(size=n)
    (expected,) = all_bases(M, q)
    result = lemke(M, q)
    np.testing.assert_allclose(result.z, expected, atol=1e-8)


def test_a_degenerate_problem_terminates():
    """With many ties, pivoting without the lexicographic rule cycles or stalls."""
    M = np.kron(np.ones((4, 4)), np.eye(3)) + 1e-12 * np.eye(12)
    q = -np.ones(12)
    z = lemke(M, q).z
    assert z is not None
    w = M @ z + q
    assert min(z.min(), w.min()) > -1e-9
    assert abs(z @ w) < 1e-9


def test_a_problem_without_solution_terminates_in_a_ray():
    result = lemke(np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([-1.0, -1.0]))
    assert result.z is None
    assert result.finished


def test_the_limit_of_pivots_is_distinct_from_a_ray():
    rng = np.random.default_rng(0)
    G = rng.normal(size=(8, 8))
    result = lemke(G @ G.T, -np.ones(8), pivots=1)
    assert result.z is None
    assert not result.finished
