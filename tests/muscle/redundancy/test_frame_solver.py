"""Frames that muscles can and cannot produce."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.muscle.redundancy.frame_solver import solve_frames
from homodyn.muscle.redundancy.sharing_problem import SharingProblem


def make_problem(loads, strength=0.0):
    """Two muscles that flex a joint with 10 and 20 N m, and one that extends it with 5 N m."""
    frames = len(loads)
    torques = np.tile(np.array([[10.0], [20.0], [-5.0]]), (frames, 1, 1))
    shape = (frames, 3)
    return SharingProblem(
        muscles=("short", "long", "extensor"),
        coordinates=("elbow",),
        torques=torques,
        loads=np.array(loads, dtype=float)[:, None],
        lower=np.zeros(3),
        upper=np.ones(3),
        weight=np.ones(shape),
        pull=np.zeros(shape),
        target=np.zeros(shape),
        strength=np.array([strength]),
        power=2.0,
    )


def test_activations_are_in_proportion_to_the_torques():
    solution = solve_frames(make_problem([5.0, 12.0]))
    # Least squares with one row: activation is proportional to the torque of the muscle.
    np.testing.assert_allclose(solution.activations[0], [0.1, 0.2, 0.0], atol=1e-7)
    np.testing.assert_allclose(solution.activations[1], [0.24, 0.48, 0.0], atol=1e-7)
    np.testing.assert_allclose(solution.multipliers[:, 0], [0.02, 0.048], atol=1e-7)
    assert solution.solved.all()
    assert not solution.infeasible.any()


def test_a_bound_leaves_the_rest_to_the_other_muscle():
    solution = solve_frames(make_problem([29.0]))
    np.testing.assert_allclose(solution.activations[0], [0.9, 1.0, 0.0], atol=1e-7)


def test_an_infeasible_frame_states_the_missing_torque():
    solution = solve_frames(make_problem([40.0, 5.0, -7.0]))
    assert solution.infeasible.tolist() == [True, False, True]
    assert solution.solved.tolist() == [False, True, False]
    np.testing.assert_allclose(solution.reserves[:, 0], [10.0, 0.0, -2.0], atol=1e-3)
    np.testing.assert_allclose(solution.residual, [10.0, 0.0, 2.0], atol=1e-3)
    np.testing.assert_allclose(solution.activations[0], [1.0, 1.0, 0.0], atol=1e-3)


def test_a_reserve_makes_every_frame_feasible():
    problem = make_problem([40.0, 5.0], strength=2.0)
    solution = solve_frames(problem)
    assert solution.solved.all()
    np.testing.assert_allclose(solution.reserves[0], 10.0, rtol=1e-6)
    # Stationarity: 2 r / S^2 is the multiplier of the torque.
    expected = 2 * solution.reserves[1, 0] / 2.0**2
    np.testing.assert_allclose(solution.multipliers[1, 0], expected, rtol=1e-6)
    cost = problem.objective(solution.activations, solution.reserves)
    np.testing.assert_allclose(cost[0], 2.0 + 25.0, rtol=1e-6)


def test_a_frame_without_a_load_costs_nothing():
    problem = make_problem([0.0])
    assert problem.objective(
        *[getattr(solve_frames(problem), x) for x in ("activations", "reserves")]
    )[0] == pytest.approx(0, abs=1e-8)


def test_units_of_torque_do_not_matter():
    problem = make_problem([5.0, 12.0])
    small = replace(problem, torques=1e-3 * problem.torques, loads=1e-3 * problem.loads)
    np.testing.assert_allclose(
        solve_frames(small).activations, solve_frames(problem).activations, atol=1e-9
    )
