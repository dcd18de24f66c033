"""Dormand and Prince's method: steps, error estimates and dense output against SciPy."""

import numpy as np
import pytest
from scipy.integrate import RK45

from homodyn.integrate import dense_output, dormand_prince_step


def rate(t, y):
    return np.array([y[1], -np.sin(y[0]) + 0.3 * np.cos(2 * t)])


START = np.array([0.4, -0.2])


def reference(h):
    """SciPy's solver after one step of the length h."""
    solver = RK45(rate, 0.0, START, 10.0, first_step=h, max_step=h, rtol=1e-3, atol=1e3)
    solver.step()
    assert solver.t == h
    return solver


@pytest.mark.parametrize("h", [0.05, 0.4])
def test_a_step_is_that_of_scipy(h):
    step = dormand_prince_step(rate, 0.0, START, rate(0.0, START), h)
    solver = reference(h)
    np.testing.assert_allclose(step.y, solver.y, rtol=1e-14)
    np.testing.assert_allclose(step.slope, rate(h, step.y), rtol=1e-14)
    # The estimate of SciPy has the opposite sign.
    np.testing.assert_allclose(step.error, -(solver.K.T @ solver.E) * h, rtol=1e-7, atol=1e-17)


@pytest.mark.parametrize("fraction", [0.0, 0.3, 0.9, 1.0])
def test_dense_output_is_that_of_scipy(fraction):
    h = 0.3
    step = dormand_prince_step(rate, 0.0, START, rate(0.0, START), h)
    inside = dense_output(fraction, h, START, np.array(step.stages))
    np.testing.assert_allclose(inside, reference(h).dense_output()(fraction * h), rtol=1e-13)


def test_the_error_estimate_falls_with_the_fifth_power_of_the_step():
    slope = rate(0.0, START)
    errors = [
        np.abs(dormand_prince_step(rate, 0.0, START, slope, h).error).max() for h in (0.1, 0.05)
    ]
    assert 25 < errors[0] / errors[1] < 40


def test_a_step_has_order_five_and_its_interpolation_order_four():
    """y' = y: halving h divides the error of a step by 2^6, of its interpolation by 2^5."""

    def errors(h):
        one = np.ones(1)
        step = dormand_prince_step(lambda t, y: y, 0.0, one, one, h)
        interpolated = dense_output(0.4, h, one, np.array(step.stages))
        return np.abs([step.y[0] - np.exp(h), interpolated[0] - np.exp(0.4 * h), step.error[0]])

    orders = np.log2(errors(0.2) / errors(0.1))
    np.testing.assert_allclose(orders, [6, 5, 5], atol=0.3)
