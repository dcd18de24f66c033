"""Answers are run again between their nodes, and must arrive where they say."""

import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn.dynamics import forward_dynamics
from support.optimal import jump, pendulum, swing_up


def test_an_interval_arrives_where_small_steps_lead():
    solution = swing_up(10).solve()
    swing, (arrival,) = solution.phase("swing"), solution.arrivals
    model = pendulum()
    q, v = swing.q[:-1].copy(), swing.v[:-1].copy()
    steps = 2000
    h = 0.2 / steps
    for _ in range(steps):
        a = forward_dynamics(model, q, v, swing.tau)
        q, v = q + h * v + h**2 / 2 * a, v + h * a
    np.testing.assert_allclose(arrival.q, q - swing.q[1:], atol=1e-4)
    assert arrival.worst > 5e-3
    assert "bar arrives" in str(arrival)


def test_the_error_between_nodes_falls_with_the_cube_of_the_step():
    coarse, fine = (swing_up(n).solve().between_nodes for n in (20, 40))
    assert 6 < coarse / fine < 10


@pytest.mark.parametrize("transcription", ["collocation", "forward"])
def test_higher_orders_hold_between_nodes(transcription):
    assert swing_up(20).solve(transcription).between_nodes < 1e-4


def test_a_mesh_too_coarse_is_not_called_solved():
    solution = jump(4).solve()
    assert solution.status is oc.Status.COARSE
    assert not solution.status.good
    assert "arrives" in solution.sentence
    assert "more intervals" in solution.explain()
    assert jump(4).solve(between=None).status is oc.Status.SOLVED
