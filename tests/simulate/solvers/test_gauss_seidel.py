"""Projected Gauss-Seidel: residuals of few sweeps, and sweeps inside kernels."""

import numpy as np
import pytest

from homodyn.simulate.solvers import ConeProblem, ConeStatus, gauss_seidel, residual
from homodyn.symbolic import kernel
from support.contact_modes import random_problem


def test_too_few_sweeps_leave_a_problem_unsolved():
    problem = random_problem(np.random.default_rng(1), cones=4, tangents=2, extra=0)
    found = gauss_seidel(problem, sweeps=1)
    assert found.status is ConeStatus.UNSOLVED
    assert found.residual == pytest.approx(float(residual(problem, found.force)))


def test_sweeps_become_part_of_a_kernel():
    rng = np.random.default_rng(11)
    problems = [random_problem(rng, cones=2, tangents=2, extra=1) for _ in range(5)]
    cones, lower, upper = problems[0].cones, problems[0].lower, problems[0].upper

    def steps(A, b, start):
        problem = ConeProblem(A, b, cones, 0.4, lower, upper)
        found = gauss_seidel(problem, start=start, sweeps=12)
        return {"force": found.force, "residual": found.residual}

    traced = kernel(steps, A=(7, 7), b=7, start=7)
    A, b = np.array([p.A for p in problems]), np.array([p.b for p in problems])
    start = rng.normal(size=(5, 7))
    found = traced(A, b, start)
    numbers = gauss_seidel(
        ConeProblem(A, b, cones, 0.4, lower, upper), start=start, sweeps=12, tolerance=0.0
    )
    np.testing.assert_allclose(found["force"], numbers.force, atol=1e-11)
    np.testing.assert_allclose(found["residual"], numbers.residual, atol=1e-11)
