"""The kernel of one frame against IPOPT and against its optimality conditions."""

import casadi as ca
import numpy as np
import pytest

from homodyn.muscle.redundancy.interior_point import FrameProgram, effort_gradient

MUSCLES, COORDINATES, FRAMES = 9, 3, 12
POWERS = (1.0, 1.5, 2.0, 3.0, 4.0)
ACTIVATION_TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def sharing():
    """Random torques, loads that muscles can produce, and costs."""
    generator = np.random.default_rng(7)
    pattern = generator.random((MUSCLES, COORDINATES)) < 0.5
    pattern[np.arange(MUSCLES), np.arange(MUSCLES) % COORDINATES] = True
    torques = np.where(pattern, generator.normal(size=(FRAMES, MUSCLES, COORDINATES)), 0.0)
    activations = generator.uniform(0, 0.9, (FRAMES, MUSCLES))
    return {
        "pattern": pattern,
        "torques": torques,
        "loads": np.einsum("fmc,fm->fc", torques, activations),
        "compliance": np.array([0.0, 1e-3, 0.5]),
        "lower": np.full(MUSCLES, 0.01),
        "upper": generator.uniform(0.9, 1.0, MUSCLES),
        "weight": generator.uniform(0.5, 2.0, (FRAMES, MUSCLES)),
        "pull": np.where(generator.random((FRAMES, MUSCLES)) < 0.3, 3.0, 0.0),
        "target": generator.uniform(0, 1, (FRAMES, MUSCLES)),
    }


def solve(sharing, power):
    pattern = sharing["pattern"]
    program = FrameProgram(tuple(tuple(map(bool, row)) for row in pattern), power)
    given = [sharing[name] for name in ("loads", "compliance", "lower", "upper")]
    costs = [sharing[name] for name in ("weight", "pull", "target")]
    return program.kernel()(sharing["torques"][:, pattern], *given, *costs)


def solve_with_ipopt(sharing, frame, power):
    """Activations of one frame from a general solver of nonlinear programs."""
    a, r = ca.SX.sym("a", MUSCLES), ca.SX.sym("r", COORDINATES)
    has = sharing["compliance"] > 0
    strength = np.sqrt(2 * sharing["compliance"][has])
    cost = ca.dot(sharing["weight"][frame], a**power)
    cost += ca.dot(sharing["pull"][frame], (a - sharing["target"][frame]) ** 2)
    cost += ca.sumsqr(r[np.flatnonzero(has).tolist()] / strength)
    rows = ca.DM(sharing["torques"][frame].T) @ a + r - sharing["loads"][frame]
    options = {"ipopt.print_level": 0, "print_time": 0, "ipopt.tol": 1e-11}
    solver = ca.nlpsol("s", "ipopt", {"x": ca.vertcat(a, r), "f": cost, "g": rows}, options)
    free = np.where(has, np.inf, 0.0)
    answer = solver(
        x0=np.r_[np.full(MUSCLES, 0.3), np.zeros(COORDINATES)],
        lbx=np.r_[sharing["lower"], -free],
        ubx=np.r_[sharing["upper"], free],
        lbg=0,
        ubg=0,
    )
    return np.array(answer["x"]).ravel()[:MUSCLES], float(answer["f"])


@pytest.mark.parametrize("power", [1.5, 2.0, 4.0])
def test_activations_are_those_of_ipopt(sharing, power):
    activations, _, _ = solve(sharing, power)
    for frame in range(4):
        expected, _ = solve_with_ipopt(sharing, frame, power)
        np.testing.assert_allclose(activations[frame], expected, atol=10 * ACTIVATION_TOLERANCE)


def test_a_linear_effort_costs_no_more_than_with_ipopt(sharing):
    activations, multipliers, _ = solve(sharing, 1.0)
    for frame in range(4):
        _, cost = solve_with_ipopt(sharing, frame, 1.0)
        a = activations[frame]
        own = sharing["weight"][frame] @ a
        own += sharing["pull"][frame] @ (a - sharing["target"][frame]) ** 2
        own += (sharing["compliance"] * multipliers[frame] ** 2 / 2).sum()
        assert own <= cost + 1e-6


@pytest.mark.parametrize("power", POWERS)
def test_the_conditions_of_an_optimum_hold(sharing, power):
    activations, multipliers, iterations = solve(sharing, power)
    produced = np.einsum("fmc,fm->fc", sharing["torques"], activations)
    error = produced + sharing["compliance"] * multipliers - sharing["loads"]
    assert np.abs(error).max() < 1e-9
    gradient = effort_gradient(activations, sharing["weight"], power)
    gradient = gradient + 2 * sharing["pull"] * (activations - sharing["target"])
    gradient = gradient - np.einsum("fmc,fc->fm", sharing["torques"], multipliers)
    moved = np.clip(activations - gradient, sharing["lower"], sharing["upper"])
    assert np.abs(moved - activations).max() < ACTIVATION_TOLERANCE
    assert iterations.max() < 40


def test_the_bits_of_a_frame_do_not_depend_on_others(sharing):
    together, _, _ = solve(sharing, 2.0)
    per_frame = ("torques", "loads", "weight", "pull", "target")
    alone = {k: (v[3:4] if k in per_frame else v) for k, v in sharing.items()}
    np.testing.assert_array_equal(solve(alone, 2.0)[0][0], together[3])
