"""Three solvers against enumeration, against the law as it is written, and against each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn.errors import HomodynError
from homodyn.simulate.solvers import (
    ConeProblem,
    ConeStatus,
    gauss_seidel,
    newton,
    pivot,
    residual,
)
from homodyn.symbolic import kernel
from support.contact_modes import enumerated, law_violation, random_problem

SOLVERS = [pivot, newton, gauss_seidel]
INFINITY = np.inf


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("solver", SOLVERS)
def test_bounds_and_one_tangent_as_enumeration(solver, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, cones=int(rng.integers(0, 3)), tangents=1, extra=2)
    expected = enumerated(problem)
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
    # A small coefficient, for which the answer is unique.
    problem = random_problem(rng, cones=1, tangents=2, extra=1, frictions=(0.1, 0.2))
    expected = enumerated(problem)
    assert expected is not None
    found = solver(problem)
    assert found.status is ConeStatus.SOLVED
    np.testing.assert_allclose(found.force, expected, atol=1e-7)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_exact_solvers_meet_the_law(seed, cones, extra, dependent):
    problem = random_problem(
        np.random.default_rng(seed), cones=cones, tangents=2, extra=extra, dependent=dependent
    )
    for solver in (pivot, newton):
        found = solver(problem)
        if found.status is ConeStatus.SOLVED:
            assert law_violation(problem, found.force) < 1e-7
            assert found.residual <= 1e-8 * np.abs(problem.b).max()
        else:
            # Never a half-solution under the name of one.
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
def test_zero_friction_leaves_the_tangents_alone(solver):
    A = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.0], [0.1, 0.0, 1.0]])
    found = solver(ConeProblem(A, np.array([-4.0, 1.0, 1.0]), ((0, 1, 2),), 0.0))
    assert found.status is ConeStatus.SOLVED
    np.testing.assert_allclose(found.force, [2.0, 0.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_redundant_contacts_give_the_motion_of_one(solver):
    """The same contact eight times: forces are not unique, their sum and the motion are."""
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
def test_rows_that_contradict_each_other_are_called_so(solver):
    """A thing that must leave to the left and to the right at once."""
    A = np.array([[1.0, -1.0], [-1.0, 1.0]])
    found = solver(ConeProblem(A, np.array([-1.0, -1.0])))
    assert found.status is ConeStatus.INCONSISTENT
    assert found.residual > 0.1


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_equation_that_nothing_moves_is_called_inconsistent(solver):
    problem = ConeProblem(np.diag([1.0, 0.0]), np.array([1.0, 1.0]), lower=-INFINITY)
    assert solver(problem).status is ConeStatus.INCONSISTENT
    met = ConeProblem(np.diag([1.0, 0.0]), np.array([1.0, 0.0]), lower=-INFINITY)
    assert solver(met).status is ConeStatus.SOLVED


@pytest.mark.parametrize("solver", SOLVERS)
def test_numbers_that_are_none_are_refused(solver):
    problem = ConeProblem(np.eye(2), np.array([np.nan, 1.0]))
    assert solver(problem).status is ConeStatus.INVALID


@pytest.mark.parametrize("solver", SOLVERS)
def test_two_rows_of_which_one_lets_go(solver):
    """A = [[2, 1], [1, 2]] against (3, -1): forces (1.5, 0)."""
    found = solver(ConeProblem(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-3.0, 1.0])))
    assert found.status is ConeStatus.SOLVED
    np.testing.assert_allclose(found.force, [1.5, 0.0], atol=1e-9)


def test_too_few_sweeps_are_told():
    problem = random_problem(np.random.default_rng(1), cones=4, tangents=2, extra=0)
    found = gauss_seidel(problem, sweeps=1)
    assert found.status is ConeStatus.UNSOLVED
    assert found.residual == pytest.approx(float(residual(problem, found.force)))


def test_a_pyramid_differs_from_the_round_cone_and_says_by_how_much():
    A, b = np.eye(3), np.array([-1.0, 1.0, 1.0])
    square = pivot(ConeProblem(A, b, ((0, 1, 2),), 0.5), facets=4, round_cones=False)
    cone = pivot(ConeProblem(A, b, ((0, 1, 2),), 0.5))
    assert square.status is cone.status is ConeStatus.SOLVED
    np.testing.assert_allclose(cone.force, [1, -0.5 / np.sqrt(2), -0.5 / np.sqrt(2)], atol=1e-9)
    assert np.abs(square.force[1:]).sum() == pytest.approx(0.5)
    assert square.residual > 0.01 > 1e-9 > cone.residual


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_batch_is_its_problems_one_by_one(solver):
    rng = np.random.default_rng(7)
    ones = [random_problem(rng, cones=2, tangents=2, extra=0) for _ in range(6)]
    batch = ConeProblem(
        np.array([p.A for p in ones]).reshape(2, 3, 6, 6),
        np.array([p.b for p in ones]).reshape(2, 3, 6),
        ones[0].cones,
        np.array([p.friction for p in ones]).reshape(2, 3, 2),
    )
    found = solver(batch)
    assert found.force.shape == (2, 3, 6)
    assert found.status.shape == found.residual.shape == (2, 3)
    for k, one in enumerate(ones):
        alone = solver(one)
        place = divmod(k, 3)
        np.testing.assert_allclose(found.force[place], alone.force, rtol=0, atol=1e-13)
        assert found.status[place] is alone.status


def test_sweeps_become_part_of_a_kernel():
    rng = np.random.default_rng(11)
    ones = [random_problem(rng, cones=2, tangents=2, extra=1) for _ in range(5)]
    cones, lower, upper = ones[0].cones, ones[0].lower, ones[0].upper

    def steps(A, b, start):
        problem = ConeProblem(A, b, cones, 0.4, lower, upper)
        found = gauss_seidel(problem, start=start, sweeps=12)
        return {"force": found.force, "residual": found.residual}

    traced = kernel(steps, A=(7, 7), b=7, start=7)
    A, b = np.array([p.A for p in ones]), np.array([p.b for p in ones])
    start = rng.normal(size=(5, 7))
    found = traced(A, b, start)
    numbers = gauss_seidel(
        ConeProblem(A, b, cones, 0.4, lower, upper), start=start, sweeps=12, tolerance=0.0
    )
    np.testing.assert_allclose(found["force"], numbers.force, atol=1e-11)
    np.testing.assert_allclose(found["residual"], numbers.residual, atol=1e-11)


def test_a_good_guess_is_taken_up():
    problem = random_problem(np.random.default_rng(3), cones=4, tangents=2, extra=2)
    first = newton(problem)
    again = newton(problem, start=first.force)
    assert again.iterations == 0
    near = newton(problem, start=first.force * (1 + 1e-4))
    assert near.iterations <= 3
    assert gauss_seidel(problem, start=first.force).iterations == 0


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"cones": ((0, 1), (1, 2))}, "different rows"),
        ({"cones": ((0,),)}, "2 or 3 rows"),
        ({"cones": ((0, 1, 2),), "friction": -0.1}, "negative"),
        ({"cones": ((0, 1, 2),), "friction": [0.1, 0.2]}, "one coefficient"),
        ({"lower": 1.0, "upper": 0.0}, "above its upper"),
        ({"A": np.eye(2)}, "to fit b"),
    ],
)
def test_what_is_no_problem_is_refused(fields, said):
    with pytest.raises(HomodynError, match=said):
        ConeProblem(**({"A": np.eye(3), "b": np.zeros(3)} | fields))


def test_nothing_to_solve_is_solved():
    for solver in SOLVERS:
        assert solver(ConeProblem(np.zeros((0, 0)), np.zeros(0))).status is ConeStatus.SOLVED
