"""The program of all frames together against IPOPT."""

import casadi as ca
import numpy as np
import pytest

from homodyn.muscle.redundancy.frame_solver import solve_frames
from homodyn.muscle.redundancy.sharing_problem import SharingProblem
from homodyn.muscle.redundancy.smooth_solver import solve_smooth

FRAMES, MUSCLES, COORDINATES = 8, 5, 2


@pytest.fixture(scope="module")
def problem():
    generator = np.random.default_rng(2)
    torques = generator.normal(size=(FRAMES, MUSCLES, COORDINATES))
    activations = generator.uniform(0, 0.9, (FRAMES, MUSCLES))
    shape = (FRAMES, MUSCLES)
    return SharingProblem(
        muscles=tuple("abcde"),
        coordinates=("hip", "knee"),
        torques=torques,
        loads=np.einsum("fmc,fm->fc", torques, activations),
        lower=np.full(MUSCLES, 0.01),
        upper=np.ones(MUSCLES),
        weight=np.ones(shape),
        pull=np.zeros(shape),
        target=np.zeros(shape),
        strength=np.array([0.0, 0.3]),
        power=2.0,
    )


def solve_with_ipopt(problem, smoothness, time):
    a = ca.SX.sym("a", MUSCLES, FRAMES)
    r = ca.SX.sym("r", FRAMES)
    rates = (a[:, 1:] - a[:, :-1]) / ca.repmat(ca.DM(np.diff(time)).T, MUSCLES, 1)
    cost = ca.sumsqr(a) + ca.sumsqr(r / 0.3) + smoothness * ca.sumsqr(rates)
    rows = []
    for k in range(FRAMES):
        produced = ca.DM(problem.torques[k].T) @ a[:, k]
        rows.append(produced + ca.vertcat(0, r[k]) - problem.loads[k])
    x = ca.vertcat(ca.vec(a), r)
    options = {"ipopt.print_level": 0, "print_time": 0, "ipopt.tol": 1e-11}
    solver = ca.nlpsol("s", "ipopt", {"x": x, "f": cost, "g": ca.vertcat(*rows)}, options)
    count = FRAMES * MUSCLES
    answer = solver(
        x0=np.full(count + FRAMES, 0.3),
        lbx=np.r_[np.full(count, 0.01), np.full(FRAMES, -np.inf)],
        ubx=np.r_[np.ones(count), np.full(FRAMES, np.inf)],
        lbg=0,
        ubg=0,
    )
    return np.array(answer["x"]).ravel()[:count].reshape(FRAMES, MUSCLES)


def test_smooth_activations_are_those_of_ipopt(problem):
    time = np.cumsum(np.r_[0, np.linspace(0.01, 0.03, FRAMES - 1)])
    solution = solve_smooth(problem, 1e-3, time)
    assert solution.solved.all()
    np.testing.assert_allclose(
        solution.activations, solve_with_ipopt(problem, 1e-3, time), atol=1e-5
    )


def test_rates_decrease_with_their_weight(problem):
    time = 0.01 * np.arange(FRAMES)
    rates = [
        np.square(np.diff(solve_smooth(problem, weight, time).activations, axis=0)).sum()
        for weight in (1e-9, 1e-4, 1e-2)
    ]
    assert rates[0] > rates[1] > rates[2]


def test_without_weight_every_frame_is_its_own(problem):
    time = 0.01 * np.arange(FRAMES)
    np.testing.assert_allclose(
        solve_smooth(problem, 0.0, time).activations, solve_frames(problem).activations, atol=1e-6
    )
