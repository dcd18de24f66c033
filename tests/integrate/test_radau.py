"""Radau IIA: its order, its damping of stiff parts, its error estimate."""

import numpy as np
import pytest

from homodyn.integrate.radau import (
    COEFFICIENTS,
    NODES,
    QUADRATURE_WEIGHTS,
    predicted_stages,
    radau_factors,
    radau_step,
    refined_error,
)

ALLOWED = np.full(2, 1e-12)


def oscillator(times, states):
    """Rates of a nonlinear oscillator: y' = v, v' = -y ** 3."""
    return np.stack([states[:, 1], -(states[:, 0] ** 3)], axis=1)


def oscillator_jacobian(y):
    return np.array([[0.0, 1.0], [-3 * y[0] ** 2, 0.0]])


def integrate(h, duration=2.0):
    y, last = np.array([1.0, 0.0]), None
    for k in range(round(duration / h)):
        slope = oscillator(None, y[None])[0]
        guess = None if last is None else predicted_stages(last, 1.0)
        factors = radau_factors(oscillator_jacobian(y), h)
        last = radau_step(oscillator, k * h, y, slope, factors, ALLOWED, guess)
        assert last is not None
        y = last.y
    return y


def test_the_method_satisfies_its_simplifying_assumptions():
    # Hairer and Wanner, Solving ordinary differential equations II, IV.5: B(5) and C(3).
    for k in range(1, 6):
        assert QUADRATURE_WEIGHTS @ NODES ** (k - 1) == pytest.approx(1 / k, abs=1e-15)
    for k in range(1, 4):
        np.testing.assert_allclose(COEFFICIENTS @ NODES ** (k - 1), NODES**k / k, atol=1e-15)


def test_the_order_is_five():
    exact = integrate(0.005)
    errors = [np.abs(integrate(h) - exact).max() for h in (0.1, 0.05)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(5, abs=0.4)


def test_a_fast_component_is_damped_in_one_step():
    # The stability function of the method vanishes at infinity.
    rates = np.diag([-1e8, -1.0])
    factors = radau_factors(rates, 0.1)
    y = np.array([1.0, 1.0])
    step = radau_step(lambda t, z: z @ rates.T, 0.0, y, rates @ y, factors, np.full(2, 1e-10))
    assert step is not None
    assert abs(step.y[0]) < 1e-6
    assert step.y[1] == pytest.approx(np.exp(-0.1), abs=1e-7)
    # The first estimate sees the fast component; the refined one sees that it is gone.
    refined = refined_error(factors, step, rates @ (y + step.error))
    assert abs(step.error[0]) > 0.1
    assert abs(refined[0]) < 1e-6


def test_the_polynomial_of_a_step_passes_through_its_stages():
    y = np.array([1.0, 0.0])
    factors = radau_factors(oscillator_jacobian(y), 0.2)
    slope = oscillator(None, y[None])[0]
    step = radau_step(oscillator, 0.0, y, slope, factors, ALLOWED)
    assert step is not None
    np.testing.assert_allclose(step.changes(NODES), step.stages, atol=1e-15)
    np.testing.assert_allclose(y + step.changes(np.ones(1))[0], step.y, atol=1e-15)


def test_rates_that_are_not_smooth_end_the_step():
    y = np.ones(2)
    factors = radau_factors(oscillator_jacobian(y), 0.1)
    assert radau_step(lambda t, z: None, 0.0, y, y, factors, ALLOWED) is None


def test_iterations_that_do_not_converge_end_the_step():
    y = np.array([1.0, 0.0])
    factors = radau_factors(np.zeros((2, 2)), 40.0)
    slope = oscillator(None, y[None])[0]
    assert radau_step(oscillator, 0.0, y, slope, factors, ALLOWED) is None
