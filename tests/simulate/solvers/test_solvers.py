"""Three solvers against enumeration, against the contact law, and against each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn.simulate.solvers import ConeProblem, ConeStatus, gauss_seidel, newton, pivot
from support.contact_modes import law_violation, random_problem, solve_by_enumeration

SOLVERS = [pivot, newton, gauss_seidel]
INFINITY = np.inf


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("solver", SOLVERS)
def test_bounds_and_one_tangent_as_enumeration(solver, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, cones=int(rng.integers(0, 3)), tangents=1, extra=2)
    expected = solve_by_enumeration(problem)
    assert expected is not None
    found = solver(problem)
    assert found.status is ConeStatus.SOLVED
    assert law_violation(problem, found.force) < 1e-8
    if not len(problem.cones):
        np.testing.assert_allclose(found.force, expected, atol=1e-7)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_round_cone_as_enumeration(solver, seed):
    rng = np.random.default_rng(100 + seed)
    # For a small coefficient the solution is unique.
    problem = random_problem(rng, cones=1, tangents=2, extra=1, frictions=(0.1, 0.2))
    expected = solve_by_enumeration(problem)
    assert expected is not None
    found = solver(problem)
    assert found.status is ConeStatus.SOLVED
    np.testing.assert_allclose(found.force, expected, atol=1e-7)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_exact_solvers_satisfy_the_law(seed, cones, extra, dependent):
    problem = random_problem(
        np.random.default_rng(seed), cones=cones, tangents=2, extra=extra, dependent=dependent
    )
    for solver in (pivot, newton):
        found = solver(problem)
        if found.status is ConeStatus.SOLVED:
            assert law_violation(problem, found.force) < 1e-7
            assert found.residual <= 1e-8 * np.abs(problem.b).max()
        else:
            # An inexact solution does not have the status SOLVED.
            assert found.residual > 1e-10 * np.abs(problem.b).max()
    assert ConeStatus.SOLVED in (pivot(problem).status, newton(problem).status)


@pytest.mark.parametrize("seed", range(10))
def test_solvers_agree_on_the_motion_where_friction_is_small(seed):
    problem = random_problem(
        np.random.default_rng(seed), cones=3, tangents=2, extra=2, frictions=(0.05, 0.1)
    )
    answers = [solver(problem) for solver in SOLVERS]
    assert all(answer.status is ConeStatus.SOLVED for answer in answers)
    for other in answers[1:]:
        np.testing.assert_allclose(other.motion, answers[0].motion, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_friction_tangential_forces_are_zero(solver):
    A = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.0], [0.1, 0.0, 1.0]])
    found = solver(ConeProblem(A, np.array([-4.0, 1.0, 1.0]), ((0, 1, 2),), 0.0))
    assert found.status is ConeStatus.SOLVED
    np.testing.assert_allclose(found.force, [2.0, 0.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_redundant_contacts_give_the_motion_of_one(solver):
    """Eight equal contacts: forces are not unique, their sum and the motion are."""
    rng = np.random.default_rng(4)
    G = rng.normal(size=(3, 6))
    b = np.array([-1.0, 0.2, 0.1])
    single = solver(ConeProblem(G @ G.T, b, ((0, 1, 2),), 0.7))
    many = np.tile(np.eye(3), (8, 1))
    cones = tuple((3 * k, 3 * k + 1, 3 * k + 2) for k in range(8))
    repeated = solver(ConeProblem(many @ (G @ G.T) @ many.T, many @ b, cones, 0.7))
    assert single.status is repeated.status is ConeStatus.SOLVED
    np.testing.assert_allclose(repeated.force.reshape(8, 3).sum(0), single.force, atol=1e-7)
    np.testing.assert_allclose(repeated.motion[:3], single.motion, atol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_contradictory_rows_are_inconsistent(solver):
    """A body that would have to move in two opposite directions."""
    A = np.array([[1.0, -1.0], [-1.0, 1.0]])
    found = solver(ConeProblem(A, np.array([-1.0, -1.0])))
    assert found.status is ConeStatus.INCONSISTENT
    assert found.residual > 0.1


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_equation_that_no_force_satisfies_is_inconsistent(solver):
    problem = ConeProblem(np.diag([1.0, 0.0]), np.array([1.0, 1.0]), lower=-INFINITY)
    assert solver(problem).status is ConeStatus.INCONSISTENT
    satisfied = ConeProblem(np.diag([1.0, 0.0]), np.array([1.0, 0.0]), lower=-INFINITY)
    assert solver(satisfied).status is ConeStatus.SOLVED


@pytest.mark.parametrize("solver", SOLVERS)
def test_values_that_are_not_finite_are_invalid(solver):
    problem = ConeProblem(np.eye(2), np.array([np.nan, 1.0]))
    assert solver(problem).status is ConeStatus.INVALID


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_of_two_rows_opens(solver):
    """A = [[2, 1], [1, 2]] against (3, -1): forces (1.5, 0)."""
    found = solver(ConeProblem(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-3.0, 1.0])))
    assert found.status is ConeStatus.SOLVED
    np.testing.assert_allclose(found.force, [1.5, 0.0], atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_batch_equals_its_single_problems(solver):
    rng = np.random.default_rng(7)
    problems = [random_problem(rng, cones=2, tangents=2, extra=0) for _ in range(6)]
    batch = ConeProblem(
        np.array([p.A for p in problems]).reshape(2, 3, 6, 6),
        np.array([p.b for p in problems]).reshape(2, 3, 6),
        problems[0].cones,
        np.array([p.friction for p in problems]).reshape(2, 3, 2),
    )
    found = solver(batch)
    assert found.force.shape == (2, 3, 6)
    assert found.status.shape == found.residual.shape == (2, 3)
    for k, problem in enumerate(problems):
        single = solver(problem)
        place = divmod(k, 3)
        np.testing.assert_allclose(found.force[place], single.force, rtol=0, atol=1e-13)
        assert found.status[place] is single.status


def test_a_good_start_saves_iterations():
    problem = random_problem(np.random.default_rng(3), cones=4, tangents=2, extra=2)
    first = newton(problem)
    again = newton(problem, start=first.force)
    assert again.iterations == 0
    near = newton(problem, start=first.force * (1 + 1e-4))
    assert near.iterations <= 3
    assert gauss_seidel(problem, start=first.force).iterations == 0


def test_an_empty_problem_is_solved():
    for solver in SOLVERS:
        assert solver(ConeProblem(np.zeros((0, 0)), np.zeros(0))).status is ConeStatus.SOLVED
