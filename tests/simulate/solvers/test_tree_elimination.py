"""Elimination along the tree against dense solutions."""

import casadi as ca
import numpy as np
import pytest

from homodyn.simulate.solvers.tree_elimination import eliminate_along_tree, solve_along_tree

PARENTS = (-1, 0, 1, 1, 3, 0, 5)
"""Two branches on a stem."""


def tree_pattern():
    places = set()
    for leaf in range(len(PARENTS)):
        chain, k = [], leaf
        while k >= 0:
            chain.append(k)
            k = PARENTS[k]
        places |= {(i, j) for i in chain for j in chain}
    return places


@pytest.mark.parametrize("coupled", [(), ((4, 6), (6, 4))], ids=["tree", "coupled branches"])
def test_solutions_of_unsymmetric_matrices(coupled):
    rng = np.random.default_rng(3)
    n = len(PARENTS)
    for _ in range(20):
        A = np.zeros((n, n))
        for place in (*tree_pattern(), *coupled):
            A[place] = rng.normal()
        A += 6 * np.eye(n)
        b = rng.normal(size=n)
        entries = {place: ca.SX(A[place]) for place in (*tree_pattern(), *coupled)}
        x = solve_along_tree(entries, ca.SX(b))
        np.testing.assert_allclose(np.array(ca.evalf(x))[:, 0], np.linalg.solve(A, b), rtol=1e-10)


def test_factors_serve_several_right_hand_sides():
    rng = np.random.default_rng(4)
    n = len(PARENTS)
    A = 6 * np.eye(n)
    for place in tree_pattern():
        A[place] += rng.normal()
    factors = eliminate_along_tree({place: ca.SX(A[place]) for place in tree_pattern()}, n)
    for b in rng.normal(size=(3, n)):
        x = np.array(ca.evalf(factors.solve(ca.SX(b))))[:, 0]
        np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-10)


def test_negative_pivots_of_an_invertible_matrix():
    """Friction that follows a large normal force makes diagonal entries negative."""
    rng = np.random.default_rng(5)
    n = len(PARENTS)
    A = np.diag([5.0, 4.0, -300.0, 3.0, -20.0, 6.0, 2.0])
    for place in tree_pattern():
        A[place] += 0.1 * rng.normal()
    b = rng.normal(size=n)
    entries = {place: ca.SX(A[place]) for place in tree_pattern()}
    x = eliminate_along_tree(entries, n, any_sign=True).solve(ca.SX(b))
    np.testing.assert_allclose(np.array(ca.evalf(x))[:, 0], np.linalg.solve(A, b), rtol=1e-10)
