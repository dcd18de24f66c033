"""Assembled derivatives against finite differences, and a program with a known answer."""

import numpy as np

from homodyn.balance.com_planning.separable_nlp import NlpTerm, SeparableNlp

QUIET = {"print_level": 0, "sb": "yes"}


def example():
    # One unknown is taken twice by the first copy, and one is a constant in the second.
    cost = NlpTerm(
        lambda y, p: p[0] * (y[0] - 1) ** 2 * y[1] + y[1] ** 4,
        np.array([[0, 0], [-1, 1], [2, 1]]),
        np.array([[1.0, 0.5], [1.0, 2.0], [1.0, 1.0]]),
        np.array([[0.0, 0.1], [3.0, 0.0], [0.0, 0.0]]),
        parameters=1,
    )
    bound = NlpTerm(
        lambda y, p: y[0] * y[1] ** 2,
        np.array([[2, 0], [1, 1]]),
        np.ones((2, 2)),
        np.zeros((2, 2)),
    )
    return SeparableNlp(3, [cost], np.array([0.1, 0.2, 0.3]), [bound], QUIET)


def test_assembled_derivatives_are_those_of_differences():
    program = example()
    x, p, weight = np.array([0.7, -0.4, 1.3]), np.array([1.0, 2.0, -0.5]), np.array([0.3, -1.1])
    functions, step = program.functions, 1e-6
    gradient = np.array(functions["grad_f"](x, p)[1]).ravel()
    jacobian = np.array(functions["jac_g"](x, p)[1])
    hessian = np.array(functions["hess_lag"](x, p, 0.8, weight))
    hessian = hessian + np.triu(hessian, 1).T

    def slope(at):
        costs = np.array(functions["grad_f"](at, p)[1]).ravel()
        return 0.8 * costs + np.array(functions["jac_g"](at, p)[1]).T @ weight

    for k in range(3):
        move = step * np.eye(3)[k]
        ahead, behind = (functions["jac_g"](x + s * move, p)[0] for s in (1, -1))
        costs = [float(functions["grad_f"](x + s * move, p)[0]) for s in (1, -1)]
        assert np.isclose((costs[0] - costs[1]) / (2 * step), gradient[k], atol=1e-7)
        assert np.allclose(np.array(ahead - behind).ravel() / (2 * step), jacobian[:, k], atol=1e-7)
        bend = (slope(x + move) - slope(x - move)) / (2 * step)
        assert np.allclose(bend, hessian[:, k], atol=1e-6)


def test_a_program_with_a_known_answer_is_solved():
    square = NlpTerm(
        lambda y, p: (y[0] - p[0]) ** 2,
        np.array([[0], [1]]),
        np.ones((2, 1)),
        np.zeros((2, 1)),
        parameters=1,
    )
    ring = NlpTerm(
        lambda y, p: y[0] ** 2 + y[1] ** 2, np.array([[0, 1]]), np.ones((1, 2)), np.zeros((1, 2))
    )
    program = SeparableNlp(2, [square], np.zeros(2), [ring], QUIET)
    free = np.full(2, np.inf)
    x, status, _ = program.solve(
        np.array([0.1, 0.2]), np.array([3.0, 4.0]), (-free, free), (np.zeros(1), np.ones(1))
    )
    assert status == "Solve_Succeeded"
    assert np.allclose(x, [0.6, 0.8], atol=1e-6)
