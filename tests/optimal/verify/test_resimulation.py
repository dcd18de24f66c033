"""Solutions are resimulated between their nodes."""

import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn.dynamics import forward_dynamics
from support.optimal import jump, pendulum, swing_up


def test_a_defect_agrees_with_an_integration_by_small_steps():
    solution = swing_up(10).solve()
    swing, (defect,) = solution.phase("swing"), solution.integration_defects
    model = pendulum()
    q, v = swing.q[:-1].copy(), swing.v[:-1].copy()
    steps = 2000
    h = 0.2 / steps
    for _ in range(steps):
        a = forward_dynamics(model, q, v, swing.tau)
        q, v = q + h * v + h**2 / 2 * a, v + h * a
    np.testing.assert_allclose(defect.q, q - swing.q[1:], atol=1e-4)
    assert defect.max_error > 5e-3
    assert "bar has an integration defect" in str(defect)


def test_the_defect_falls_with_the_cube_of_the_step():
    coarse, fine = (swing_up(n).solve().max_defect for n in (20, 40))
    assert 6 < coarse / fine < 10


@pytest.mark.parametrize("transcription", ["collocation", "multiple_shooting"])
def test_higher_orders_have_small_defects(transcription):
    assert swing_up(20).solve(transcription).max_defect < 1e-4


def test_a_mesh_that_is_too_coarse_is_not_reported_as_solved():
    solution = jump(4).solve()
    assert solution.status is oc.SolveStatus.COARSE
    assert not solution.status.success
    assert "integration defect" in solution.sentence
    assert "more intervals" in solution.explain()
    assert jump(4).solve(defect_tolerance=None).status is oc.SolveStatus.SOLVED
