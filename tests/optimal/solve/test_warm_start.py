"""A solution starts another solve, also on another mesh."""

import pytest

from support.optimal import swing_up


def test_a_solution_warm_starts_another_mesh():
    coarse = swing_up(20).solve()
    again = swing_up(33).solve(guess=coarse, solver="ipopt")
    cold = swing_up(33).solve(solver="ipopt")
    assert again.objective == pytest.approx(cold.objective, rel=1e-6)
    assert again.iterations < cold.iterations
