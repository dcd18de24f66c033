"""Random programs: block pivoting against daqp, and against the conditions of an optimum."""

import casadi as ca
import numpy as np
import pytest

from homodyn.control.programs.block_pivoting import pivoting_kernel
from homodyn.control.programs.dense_solver import solve_by_daqp
from homodyn.control.programs.quadratic_program import (
    ProgramPattern,
    QuadraticProgram,
    RowKind,
)

COST, EQUALITY, INEQUALITY = RowKind.COST, RowKind.EQUALITY, RowKind.INEQUALITY


def random_program(
    seed: int, kinds: tuple[RowKind, ...], *, states: int = 12, variables: int = 14
) -> QuadraticProgram:
    """Feasible programs with sparse rows and tight bounds."""
    rng = np.random.default_rng(seed)
    n, m = variables, len(kinds)
    columns = tuple(tuple(sorted(int(c) for c in rng.choice(n, 6, replace=False))) for _ in kinds)
    pattern = ProgramPattern(n, columns, kinds)
    rows = np.zeros((states, m, n))
    places = pattern.entries
    rows[:, places[0], places[1]] = rng.normal(size=(states, len(places[0])))
    lower, upper = -rng.uniform(0.05, 1, (states, n)), rng.uniform(0.05, 1, (states, n))
    inside = rng.uniform(0.8 * lower, 0.8 * upper)
    value = np.einsum("ski,si->sk", rows, inside)
    equal = np.array([kind is EQUALITY for kind in kinds])
    target = np.where(equal, value, rng.normal(size=(states, m)))
    curvature = rng.uniform(1e-3, 1, (states, n))
    return QuadraticProgram(
        curvature=curvature,
        gradient=curvature * rng.normal(size=(states, n)),
        rows=rows,
        target=target,
        lower=lower,
        upper=upper,
        row_lower=value - 0.05,
        row_upper=value + 0.02,
        pattern=pattern,
        row_owners=tuple(f"row {k}" for k in range(m)),
    )


def solve(program: QuadraticProgram) -> tuple[np.ndarray, ...]:
    entries = program.rows[:, *program.pattern.entries]
    return pivoting_kernel(program.pattern)(
        *(program.curvature, program.gradient, program.lower, program.upper),
        *(entries, program.target, program.row_lower, program.row_upper),
    )


@pytest.mark.parametrize(
    "kinds",
    [
        (COST,) * 6,
        (COST,) * 4 + (EQUALITY,) * 3,
        (COST,) * 4 + (EQUALITY,) * 2 + (INEQUALITY,) * 3,
    ],
    ids=["bounds", "equalities", "inequalities"],
)
def test_solutions_are_those_of_daqp(kinds: tuple[RowKind, ...]) -> None:
    program = random_program(len(kinds), kinds)
    x, _, active, _, violations = solve(program)
    # Equalities whose variables are all at bounds end some searches; the caller uses daqp there.
    assert (violations == 0).sum() >= 11
    for k, expected in enumerate(solve_by_daqp(program)):
        assert expected.solved
        if violations[k] == 0:
            np.testing.assert_allclose(x[k], expected.x, atol=1e-7)
    assert (active != 0).sum() > 10, "the test is about active bounds"


@pytest.mark.parametrize("repeats", [1, 2])
def test_active_inequalities_hold_where_bounds_leave_little_freedom(repeats: int) -> None:
    """More active rows than free variables: rows that depend on active bounds must not be lost."""
    rng = np.random.default_rng(5)
    states, n, costs, count = 200, 5, 4, 4
    m = costs + repeats * count
    kinds = (COST,) * costs + (INEQUALITY,) * (repeats * count)
    pattern = ProgramPattern(n, (tuple(range(n)),) * m, kinds)
    rows = rng.normal(size=(states, m, n))
    rows[:, :costs] *= 10
    rows[:, costs:] = np.tile(rows[:, costs : costs + count], (1, repeats, 1))
    inside = rng.choice([-1.0, 1.0], (states, n)) * rng.uniform(0.5, 1.0, (states, n))
    low = np.einsum("ski,si->sk", rows, inside) - 0.05
    ones = np.ones((states, n))
    program = QuadraticProgram(
        curvature=1e-6 * ones,
        gradient=0 * ones,
        rows=rows,
        target=30 * rng.normal(size=(states, m)),
        lower=-ones,
        upper=ones,
        row_lower=low,
        row_upper=np.full((states, m), np.inf),
        pattern=pattern,
        row_owners=tuple(f"row {k}" for k in range(m)),
    )
    x, *_, violations = solve(program)
    solved = violations == 0
    assert solved.sum() > 100
    slack = (np.einsum("ski,si->sk", rows, x) - low)[:, costs:]
    assert slack[solved].min() > -1e-5
    assert (np.abs(x[solved]) <= 1 + 1e-9).all()


def test_multipliers_satisfy_the_conditions_of_an_optimum() -> None:
    program = random_program(3, (COST,) * 4 + (EQUALITY,) * 2 + (INEQUALITY,) * 2)
    x, y, active, _, _ = solve(program)
    costs = program.pattern.indices(COST)
    residual = program.target - np.einsum("ski,si->sk", program.rows, x)
    np.testing.assert_allclose(y[:, costs], residual[:, costs], atol=1e-9)
    slope = program.curvature * x - program.gradient - np.einsum("ski,sk->si", program.rows, y)
    np.testing.assert_allclose(slope[active == 0], 0, atol=1e-9)
    assert (slope[active > 0] < 1e-9).all()
    assert (slope[active < 0] > -1e-9).all()


def test_a_row_given_twice_changes_nothing() -> None:
    once = random_program(5, (COST,) * 3 + (EQUALITY,) * 2)
    pattern = once.pattern
    twice = QuadraticProgram(
        curvature=once.curvature,
        gradient=once.gradient,
        rows=np.concatenate([once.rows, once.rows[:, -1:]], axis=1),
        target=np.concatenate([once.target, once.target[:, -1:]], axis=1),
        lower=once.lower,
        upper=once.upper,
        row_lower=np.zeros((12, 6)),
        row_upper=np.zeros((12, 6)),
        pattern=ProgramPattern(
            14, (*pattern.columns, pattern.columns[-1]), (*pattern.kinds, EQUALITY)
        ),
    )
    np.testing.assert_allclose(solve(twice)[0], solve(once)[0], atol=1e-6)


def test_the_objective_is_that_of_the_rows() -> None:
    program = random_program(7, (COST,) * 3, states=1)
    x = np.random.default_rng(0).normal(size=(1, 14))
    rows = program.rows[0] @ x[0] - program.target[0]
    direct = (program.curvature[0] * x[0] ** 2 / 2 - program.gradient[0] * x[0]).sum()
    direct += (rows**2).sum() / 2 - (program.target[0] ** 2).sum() / 2
    assert program.objective(x)[0] == pytest.approx(float(direct))


def test_numbers_that_are_not_finite_are_not_solved() -> None:
    program = random_program(9, (COST,) * 3)
    curvature = np.array(program.curvature)
    curvature[0, 0] = np.nan
    entries = program.rows[:, *program.pattern.entries]
    violations = pivoting_kernel(program.pattern)(
        *(curvature, program.gradient, program.lower, program.upper),
        *(entries, program.target, program.row_lower, program.row_upper),
    )[4]
    assert violations[0] > 0
    assert (violations[1:] == 0).all()


def test_native_code_equals_the_virtual_machine() -> None:
    program = random_program(11, (COST,) * 2 + (INEQUALITY,), variables=6 + 1)
    interpreted = solve(program)[0]
    kernel = pivoting_kernel(program.pattern)
    if not kernel.compile().compiled:
        pytest.skip("no C compiler")
    np.testing.assert_allclose(solve(program)[0], interpreted, atol=1e-12)
    assert isinstance(kernel.traced.graph, ca.Function)
