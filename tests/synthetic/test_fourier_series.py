import numpy as np
import pytest

from homodyn.synthetic.fourier_series import FourierSeries, smooth_step


def test_a_series_goes_through_band_limited_samples_and_drifts():
    time = np.arange(32) * (0.8 / 32)
    wave = 2 * np.pi / 0.8
    curve = np.stack([1 + np.cos(3 * wave * time) + 1.5 * time, np.sin(wave * time)], -1)
    series = FourierSeries.from_samples(curve, 0.8, harmonics=5, drift=np.array([1.5, 0.0]))
    np.testing.assert_allclose(series(time), curve, atol=1e-13)
    later = series(time + 0.8)
    np.testing.assert_allclose(later[:, 0], curve[:, 0] + 1.5 * 0.8, atol=1e-13)
    np.testing.assert_allclose(later[:, 1], curve[:, 1], atol=1e-13)


@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_of_a_series_are_those_of_its_values(order):
    rng = np.random.default_rng(0)
    series = FourierSeries.from_samples(
        rng.normal(size=(64, 3)), 1.1, harmonics=6, drift=np.array([1.0, 0.0, -2.0])
    )
    time, h = np.linspace(-0.4, 2.0, 50), 1e-5
    numeric = (series(time + h, order - 1) - series(time - h, order - 1)) / (2 * h)
    np.testing.assert_allclose(series(time, order), numeric, rtol=1e-6, atol=1e-4)


def test_a_smooth_step_is_flat_at_both_ends():
    x = np.array([-1.0, 0.0, 1e-3, 0.5, 1 - 1e-3, 1.0, 2.0])
    y = smooth_step(x)
    np.testing.assert_allclose(y[[0, 1, 3, 5, 6]], [0, 0, 0.5, 1, 1])
    assert y[2] < 4e-6
    assert 1 - y[4] < 4e-6
