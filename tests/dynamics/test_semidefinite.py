"""Semidefinite systems over symbols: rank, minimum norm and least squares, against SVD."""

import casadi as ca
import numpy as np
import pytest

from homodyn.dynamics.semidefinite import SemidefiniteFactor


def solver(n):
    """A numeric function (A, b) -> (x, rank) made of the symbolic factorization."""
    A, b = ca.SX.sym("A", n, n), ca.SX.sym("b", n)
    factor = SemidefiniteFactor.of([[A[i, j] for j in range(i + 1)] for i in range(n)])
    x = factor.solve([b[i] for i in range(n)])
    return ca.Function("solve", [A, b], [ca.vertcat(*x), factor.rank])


def gram(rng, n, rank):
    """A random semidefinite matrix of given rank and moderate condition."""
    factor = rng.normal(size=(n, rank)) * rng.uniform(0.3, 3, size=rank)
    return factor @ factor.T


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_every_rank_is_found_and_the_solution_is_that_of_the_pseudo_inverse(n):
    rng = np.random.default_rng(n)
    solve = solver(n)
    for rank in range(n + 1):
        for _ in range(5):
            A = gram(rng, n, rank)
            b = A @ rng.normal(size=n)
            x, found = solve(A, b)
            inverse = np.linalg.pinv(A, rcond=1e-9, hermitian=True)
            assert float(found) == rank
            np.testing.assert_allclose(x.full()[:, 0], inverse @ b, rtol=1e-8, atol=1e-8)


def test_systems_without_a_solution_are_met_in_the_sense_of_least_squares():
    rng = np.random.default_rng(7)
    solve = solver(6)
    for _ in range(20):
        A, b = gram(rng, 6, 3), rng.normal(size=6)
        x, _ = solve(A, b)
        expected = np.linalg.lstsq(A, b, rcond=1e-9)[0]
        np.testing.assert_allclose(x.full()[:, 0], expected, rtol=1e-8, atol=1e-8)


def test_regular_systems_lose_nothing_to_the_treatment_of_singular_ones():
    rng = np.random.default_rng(8)
    solve = solver(8)
    for _ in range(20):
        A, b = gram(rng, 8, 8) + 0.1 * np.eye(8), rng.normal(size=8)
        x, _ = solve(A, b)
        left = np.abs(A @ x.full()[:, 0] - b).max()
        usual = np.abs(A @ np.linalg.solve(A, b) - b).max()
        assert left < 20 * max(usual, 1e-15)


def test_zero_rows_and_equal_rows_are_passed_over_without_division_by_zero():
    A = np.array([[0.0, 0, 0, 0], [0, 2, 2, 0], [0, 2, 2, 0], [0, 0, 0, 3.0]])
    x, rank = solver(4)(A, [0.0, 4.0, 4.0, 6.0])
    assert float(rank) == 2
    np.testing.assert_allclose(x.full()[:, 0], [0, 1, 1, 2], rtol=1e-14)


def test_scale_of_rows_does_not_matter():
    rng = np.random.default_rng(9)
    solve = solver(5)
    scale = np.diag([1e-6, 1e3, 1.0, 1e-3, 1e5])
    A = scale @ gram(rng, 5, 3) @ scale
    assert float(solve(A, np.zeros(5))[1]) == 3


def test_derivatives_stay_finite_where_rows_depend():
    n = 4
    A, b = ca.SX.sym("A", n, n), ca.SX.sym("b", n)
    x = ca.vertcat(
        *SemidefiniteFactor.of([[A[i, j] for j in range(i + 1)] for i in range(n)]).solve(
            [b[i] for i in range(n)]
        )
    )
    slope = ca.Function("slope", [A, b], [ca.jacobian(x, ca.veccat(A, b))])
    value = slope(np.ones((n, n)), np.ones(n)).full()
    assert np.isfinite(value).all()
    np.testing.assert_allclose(value[:, n * n :], np.full((n, n), 1 / n**2), atol=1e-14)
