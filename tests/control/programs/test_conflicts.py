"""The smallest set of owners whose constraints contradict."""

from dataclasses import replace

import numpy as np

from homodyn.control.programs.conflicts import conflicting_owners
from homodyn.control.programs.dense_solver import solve_by_daqp
from homodyn.control.programs.quadratic_program import (
    ProgramPattern,
    QuadraticProgram,
    RowKind,
)


def program(rows: list[list[float]], low: list[float], high: list[float]) -> QuadraticProgram:
    n, m = len(rows[0]), len(rows)
    columns = tuple(tuple(range(n)) for _ in rows)
    return QuadraticProgram(
        curvature=np.ones(n),
        gradient=np.zeros(n),
        rows=np.array(rows, dtype=float),
        target=np.zeros(m),
        lower=np.full(n, -1.0),
        upper=np.full(n, 1.0),
        row_lower=np.array(low),
        row_upper=np.array(high),
        pattern=ProgramPattern(n, columns, (RowKind.INEQUALITY,) * m),
        row_owners=("left", "right", "other"),
    )


def test_only_the_rows_in_conflict_are_named() -> None:
    crossed = program([[1, 0], [1, 0], [0, 1]], [0.5, -0.9, 0.1], [0.9, 0.2, 0.3])
    assert conflicting_owners(crossed, "bounds") == ("left", "right")
    assert not solve_by_daqp(crossed)[0].solved


def test_bounds_are_named_where_they_are_part_of_it() -> None:
    far = program([[1, 0], [0, 1], [1, 1]], [-1, -1, 2.5], [1, 1, 3])
    assert conflicting_owners(far, "the bounds") == ("other", "the bounds")


def test_a_feasible_program_has_no_conflict() -> None:
    fine = program([[1, 0], [0, 1], [1, 1]], [0.1, 0.1, 0.1], [1, 1, 3])
    assert conflicting_owners(fine, "bounds") == ()
    solution = solve_by_daqp(fine)[0]
    assert solution.solved
    np.testing.assert_allclose(solution.x, [0.1, 0.1], atol=1e-9)


def test_crossed_bounds_are_a_conflict_of_their_own() -> None:
    good = program([[1, 0], [0, 1], [1, 1]], [-1, -1, -1], [1, 1, 3])
    crossed = replace(good, lower=np.array([0.5, 0.0]), upper=np.array([0.4, 1.0]))
    assert conflicting_owners(crossed, "bounds") == ("bounds",)
    assert not solve_by_daqp(crossed)[0].solved
