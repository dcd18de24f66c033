"""Derivatives are those of the function that was sampled."""

import numpy as np
import pytest

from homodyn.capture.filters import derivatives


def test_polynomials_up_to_degree_five_are_exact():
    time = np.arange(40) / 50
    powers = np.random.default_rng(2).normal(size=(6, 2))
    polynomial = [np.polynomial.Polynomial(column) for column in powers.T]
    values = np.stack([p(time) for p in polynomial], axis=1)
    first, second = derivatives(values, 50)
    np.testing.assert_allclose(first, np.stack([p.deriv()(time) for p in polynomial], 1), atol=1e-8)
    np.testing.assert_allclose(
        second, np.stack([p.deriv(2)(time) for p in polynomial], 1), atol=1e-6
    )


@pytest.mark.parametrize(("style", "ends"), [("free", 0.02), ("natural", 0.2), ("opensim", 0.2)])
def test_sines_are_differentiated_around_gaps(style, ends):
    rate, w = 100, 2 * np.pi * 1.5
    time = np.arange(300) / rate
    wave = np.sin(w * time)
    wave[100:120] = np.nan
    first, second = derivatives(wave, rate, style=style)
    assert np.isnan(first[100:120]).all()
    assert np.isnan(second[100:120]).all()
    seen = np.isfinite(wave)
    error = np.abs(second + w**2 * np.sin(w * time)) / w**2
    assert np.nanmax(error[seen]) < ends
    inside = np.r_[15:85, 135:285]
    np.testing.assert_allclose(first[inside], w * np.cos(w * time)[inside], atol=1e-4)
    assert error[inside].max() < 1e-4


def test_short_runs_get_the_polynomial_through_them():
    values = np.array([1.0, 3.0, 5.0, np.nan, 7.0, np.nan, 0.0, 1.0, 4.0, 9.0])
    first, second = derivatives(values, 10.0)
    np.testing.assert_allclose(first[:3], 20)
    np.testing.assert_allclose(second[:3], 0, atol=1e-9)
    assert np.isnan(first[4])
    np.testing.assert_allclose(first[6:], [0, 20, 40, 60], atol=1e-9)
    np.testing.assert_allclose(second[6:], 200, atol=1e-7)
