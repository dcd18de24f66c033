"""Radau IIA: its order, stability, error estimate and what it refuses."""

import numpy as np
import pytest

from homodyn.integrate import predicted_stages, radau_factors, radau_step, refined_error


def pendulum(times, states):
    """A pendulum with a force that depends on time."""
    angle, speed = states[:, 0], states[:, 1]
    return np.stack([speed, -np.sin(angle) + 0.3 * np.cos(2 * times)], axis=1)


def pendulum_jacobian(y):
    return np.array([[0.0, 1.0], [-np.cos(y[0]), 0.0]])


def integrate(f, jacobian, y, end, steps, allowed=1e-12):
    h = end / steps
    t = 0.0
    for _ in range(steps):
        slope = f(np.array([t]), y[None])[0]
        step = radau_step(f, t, y, slope, radau_factors(jacobian(y), h), np.full(len(y), allowed))
        assert step is not None
        t, y = t + h, step.y
    return y


def test_the_order_is_five():
    """y'' = -y + 0.3 cos 2t has the solution cos t - 0.1 cos 2t."""
    matrix = np.array([[0.0, 1.0], [-1.0, 0.0]])

    def oscillator(times, states):
        return states @ matrix.T + np.outer(0.3 * np.cos(2 * times), [0.0, 1.0])

    exact = [np.cos(2.0) - 0.1 * np.cos(4.0), -np.sin(2.0) + 0.2 * np.sin(4.0)]
    errors = [
        np.abs(integrate(oscillator, lambda y: matrix, np.array([0.9, 0.0]), 2.0, n) - exact).max()
        for n in (4, 8, 16, 32)
    ]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    np.testing.assert_allclose(orders, 5.0, atol=0.3)


def test_a_step_of_a_linear_system_is_the_pade_approximation():
    """R(z) = (1 + 2z/5 + z^2/20) / (1 - 3z/5 + 3z^2/20 - z^3/60), which vanishes at infinity."""
    for z in (-0.1, -3.0, -1e4):
        slope = np.array([z])
        step = radau_step(
            lambda t, y, z=z: z * y, 0.0, np.ones(1), slope, radau_factors(slope[:, None], 1.0),
            np.full(1, 1e-8),
        )  # fmt: skip
        expected = (1 + 2 * z / 5 + z**2 / 20) / (1 - 3 * z / 5 + 3 * z**2 / 20 - z**3 / 60)
        assert step.y[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_errors_of_stiff_components_are_refined_away():
    """y' = -1e6 (y - cos t): the first estimate is that of the start off the slow solution."""
    rate = 1e6

    def f(times, states):
        return -rate * (states - np.cos(times)[:, None])

    start = np.array([1.0 + 1e-3])
    slope = f(np.zeros(1), start[None])[0]
    factors = radau_factors(np.array([[-rate]]), 0.1)
    step = radau_step(f, 0.0, start, slope, factors, np.full(1, 1e-9))
    assert step.y[0] == pytest.approx(np.cos(0.1), abs=1e-6)
    shifted = f(np.zeros(1), (start + step.error)[None])[0]
    assert np.abs(refined_error(factors, step, shifted)).max() < 0.01 * np.abs(step.error).max()


def test_the_collocation_polynomial_predicts_the_next_stages():
    h, y = 0.05, np.array([1.0, 0.5])
    factors = radau_factors(pendulum_jacobian(y), h)
    allowed = np.full(2, 1e-9)
    first = radau_step(pendulum, 0.0, y, pendulum(np.zeros(1), y[None])[0], factors, allowed)
    np.testing.assert_allclose(first.changes(np.array([1.0]))[0], first.stages[2], atol=1e-15)
    half = integrate(pendulum, pendulum_jacobian, y, h / 2, 4)
    np.testing.assert_allclose(y + first.changes(np.array([0.5]))[0], half, atol=1e-7)
    slope = pendulum(np.array([h]), first.y[None])[0]
    blind = radau_step(pendulum, h, first.y, slope, factors, allowed)
    guess = predicted_stages(first, 1.0)
    guided = radau_step(pendulum, h, first.y, slope, factors, allowed, guess)
    assert guided.iterations < blind.iterations
    np.testing.assert_allclose(guided.y, blind.y, atol=1e-10)


def test_what_cannot_be_integrated_gives_no_step():
    y, slope = np.ones(1), np.ones(1)
    factors = radau_factors(np.zeros((1, 1)), 1.0)
    allowed = np.full(1, 1e-9)
    assert radau_step(lambda t, s: None, 0.0, y, slope, factors, allowed) is None
    assert radau_step(lambda t, s: np.full((3, 1), np.nan), 0.0, y, slope, factors, allowed) is None
    # Iterations with a Jacobian of the wrong sign diverge.
    wrong = radau_factors(np.array([[100.0]]), 1.0)
    assert radau_step(lambda t, s: -100.0 * s, 0.0, y, -100.0 * y, wrong, allowed) is None
