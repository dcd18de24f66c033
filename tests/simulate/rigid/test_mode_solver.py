"""Forces in likely modes are solutions of the contact law, or there are none."""

import numpy as np
import pytest

from homodyn.simulate.rigid.contact_modes import ContactModes
from homodyn.simulate.rigid.mode_solver import row_layout, solve_in_modes
from homodyn.simulate.solvers import ConeProblem, ConeStatus, newton
from homodyn.simulate.solvers.cone_problem import residual


def modes_of(contacts, sliding=(), limits=0):
    closed = np.ones(contacts + limits, bool)
    return ContactModes(
        contacts,
        closed,
        np.isin(np.arange(contacts), sliding),
        np.zeros(0),
        np.zeros((contacts, 2)),
        np.zeros(contacts + limits),
    )


def problem_of(layout, A, b):
    return ConeProblem(A, b, layout.cones, layout.friction, lower=layout.lower, upper=layout.upper)


@pytest.mark.parametrize("seed", range(20))
def test_a_solution_satisfies_the_law_and_is_that_of_newton(seed):
    rng = np.random.default_rng(seed)
    layout = row_layout(modes_of(4, limits=2), np.full(4, 0.7), np.zeros(0))
    # Four contacts of one body: fourteen rows of rank eight.
    G = np.concatenate([rng.normal(size=(12, 6)), np.zeros((12, 2))], axis=1)
    G = np.concatenate([G, np.eye(8)[6:]])
    A = G @ G.T
    b = G @ rng.normal(size=8)
    b[[0, 3, 6, 9]] -= 1.0
    exact = newton(problem_of(layout, A, b))
    solution = solve_in_modes(layout, A, b, exact.force)
    if solution is None:
        # A contact slips, or it has no force but for rounding.
        normals = exact.force[0:12:3]
        tangents = np.hypot(exact.force[1:12:3], exact.force[2:12:3])
        assert (tangents >= 0.69 * normals).any() or (normals < 1e-9).any()
        return
    assert solution.status is ConeStatus.SOLVED
    assert residual(problem_of(layout, A, b), solution.force) < 1e-8
    np.testing.assert_allclose(A @ solution.force, A @ exact.force, atol=1e-7)


def test_sliding_contacts_have_one_row():
    layout = row_layout(modes_of(2, sliding=[1]), np.array([0.5, 0.6]), np.zeros(0))
    np.testing.assert_array_equal(layout.rows, [0, 1, 2, 3])
    np.testing.assert_array_equal(layout.sliding_rows, [3])
    np.testing.assert_array_equal(layout.friction, [0.5])
    A = np.diag([1.0, 2.0, 2.0, 1.0])
    solution = solve_in_modes(layout, A, np.array([-1.0, 0.1, 0.0, -3.0]), None)
    np.testing.assert_allclose(solution.force, [1.0, -0.05, 0.0, 3.0], atol=1e-12)


def test_a_demand_outside_of_the_cone_is_left_to_other_solvers():
    layout = row_layout(modes_of(1), np.array([0.5]), np.zeros(0))
    b = np.array([-1.0, 0.8, 0.0])
    assert solve_in_modes(layout, np.eye(3), b, None) is None
    assert solve_in_modes(layout, np.eye(3), b, np.array([1.0, -0.4, 0.0])) is None
