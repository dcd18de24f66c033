"""Forces that are not linear in the activation, against IPOPT."""

import casadi as ca
import numpy as np

from homodyn.muscle.redundancy.compliant_solver import solve_compliant
from homodyn.muscle.redundancy.sharing_problem import SharingProblem

FRAMES, MUSCLES = 6, 4


def force(activations, strengths):
    return strengths * (activations + 0.4 * activations**2 + 0.05)


def test_activations_are_those_of_ipopt():
    generator = np.random.default_rng(3)
    arms = generator.normal(size=(FRAMES, MUSCLES, 1))
    strengths = generator.uniform(50, 200, (FRAMES, MUSCLES))
    given = generator.uniform(0.05, 0.8, (FRAMES, MUSCLES))
    loads = np.einsum("fmc,fm->fc", arms, force(given, strengths))
    shape = (FRAMES, MUSCLES)
    problem = SharingProblem(
        muscles=tuple("abcd"),
        coordinates=("knee",),
        torques=strengths[:, :, None] * arms,
        loads=loads,
        lower=np.full(MUSCLES, 0.01),
        upper=np.ones(MUSCLES),
        weight=np.ones(shape),
        pull=np.zeros(shape),
        target=np.zeros(shape),
        strength=np.array([5.0]),
        power=2.0,
    )
    solution = solve_compliant(problem, arms, lambda a, rows: force(a, strengths[rows]))
    assert solution.solved.all()
    for frame in range(FRAMES):
        a, r = ca.SX.sym("a", MUSCLES), ca.SX.sym("r")
        produced = ca.dot(arms[frame, :, 0], force(a, ca.DM(strengths[frame]))) + r
        solver = ca.nlpsol(
            "s",
            "ipopt",
            {
                "x": ca.vertcat(a, r),
                "f": ca.sumsqr(a) + (r / 5.0) ** 2,
                "g": produced - loads[frame, 0],
            },
            {"ipopt.print_level": 0, "print_time": 0, "ipopt.tol": 1e-11},
        )
        answer = solver(
            x0=np.r_[np.full(MUSCLES, 0.3), 0],
            lbx=np.r_[np.full(MUSCLES, 0.01), -np.inf],
            ubx=np.r_[np.ones(MUSCLES), np.inf],
            lbg=0,
            ubg=0,
        )
        expected = np.array(answer["x"]).ravel()[:MUSCLES]
        np.testing.assert_allclose(solution.activations[frame], expected, atol=1e-5)
