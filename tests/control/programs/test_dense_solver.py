"""Dense programs: optima of small steps, and rows without bounds."""

import warnings

import numpy as np

from homodyn.control.programs.dense_solver import DenseSolver, solve_by_daqp
from homodyn.control.programs.quadratic_program import ProgramPattern, QuadraticProgram, RowKind


def program(rng: np.random.Generator, scale: float) -> QuadraticProgram:
    """Small curvatures, 6 costs and 12 inequalities, of which every third has no bounds.

    Capsules touch obstacles: the others are at least zero, so that the optimum is proportional to
    the targets.
    """
    n, costs, hard = 20, 6, 12
    kinds = (RowKind.COST,) * costs + (RowKind.INEQUALITY,) * hard
    free = np.arange(hard) % 3 == 0
    low = np.r_[np.zeros(costs), np.where(free, -np.inf, 0.0)]
    return QuadraticProgram(
        curvature=np.full(n, 1e-4),
        gradient=scale * 1e-4 * rng.normal(size=n),
        rows=rng.normal(size=(costs + hard, n)),
        target=np.r_[scale * rng.normal(size=costs), np.zeros(hard)],
        lower=np.full(n, -0.5),
        upper=np.full(n, 0.5),
        row_lower=low,
        row_upper=np.full(costs + hard, np.inf),
        pattern=ProgramPattern(n, (tuple(range(n)),) * (costs + hard), kinds),
    )


def test_small_steps_are_solved_as_large_ones() -> None:
    """The tolerances of daqp are absolute; the optimum is proportional to the targets."""
    for seed in range(30):
        large, small = (program(np.random.default_rng(seed), scale) for scale in (1e-2, 1e-5))
        (first,), (second,) = solve_by_daqp(large), solve_by_daqp(small)
        assert first.solved
        assert second.solved
        np.testing.assert_allclose(1e3 * second.x, first.x, atol=1e-4)


def test_a_contradiction_is_not_polished_into_a_solution() -> None:
    solver = DenseSolver(2, 2)
    solver.hessian[:] = np.eye(2)
    solver.rows[:] = [[1.0, 1.0], [1.0, 1.0]]
    solver.row_lower[:], solver.row_upper[:] = [1.0, -3.0], [2.0, 0.0]
    solver.lower[:], solver.upper[:] = -5.0, 5.0
    assert not solver.solve().solved


def test_multipliers_of_limits_at_infinity_are_not_active():
    """daqp returns multipliers of the size of rounding for them; infinity must not be a target."""
    solver = DenseSolver(2, 2)
    solver.hessian[:], solver.linear[:] = np.eye(2), (-1.0, -2.0)
    solver.rows[:] = np.eye(2)
    solver.row_lower[:], solver.row_upper[:] = -np.inf, (0.5, np.inf)
    solver.lower[:], solver.upper[:] = -np.inf, np.inf
    solver._x[:] = (0.5, 2.0)
    solver._row[:], solver._bound[:] = (0.5, 5e-13), (0.0, 1e-13)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = solver._polish_solution()
    assert found.solved
    np.testing.assert_allclose(found.x, (0.5, 2.0))
