import numpy as np
import pytest
import scipy

from homodyn.errors import CaptureError
from homodyn.track.streams import CausalFilter

RATE = 100.0


def run(filter_, times, positions):
    return [filter_.add(t, p) for t, p in zip(times, positions, strict=True)]


def test_parabolas_pass_with_the_stated_delay():
    times = np.arange(30) / RATE
    shape = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]])
    path = lambda t: shape * (0.3 - 1.2 * t + 4.0 * t**2)  # noqa: E731
    out = run(CausalFilter(0.08, 0.03), times, [path(t) for t in times])[-1]
    t = times[-1] - 0.03
    assert abs(out.time - t) < 1e-12
    np.testing.assert_allclose(out.positions, path(t), atol=1e-9)
    np.testing.assert_allclose(out.velocities, shape * (-1.2 + 8.0 * t), atol=1e-8)
    np.testing.assert_allclose(out.accelerations, shape * 8.0, atol=1e-6)


def test_half_the_window_is_the_filter_of_savitzky_and_golay():
    samples = np.random.default_rng(0).normal(size=(9, 1, 3))
    out = run(CausalFilter(0.08), np.arange(9) / RATE, samples)[-1]
    for derivative, got in ((0, out.positions), (1, out.velocities), (2, out.accelerations)):
        taps = scipy.signal.savgol_coeffs(9, 2, deriv=derivative, delta=1 / RATE, use="dot")
        np.testing.assert_allclose(got[0], taps @ samples[:, 0], rtol=1e-9, atol=1e-9)


def test_missing_samples_and_uneven_times_are_part_of_the_fit():
    times = np.cumsum([0.0, 0.01, 0.013, 0.007, 0.02, 0.01, 0.01])
    values = np.stack([np.full((1, 3), 2.0 * t - t**2) for t in times])
    values[3] = np.nan
    out = run(CausalFilter(0.1, 0.02), times, values)[-1]
    t = times[-1] - 0.02
    np.testing.assert_allclose(out.positions[0], 2.0 * t - t**2, atol=1e-10)


def test_noise_falls_and_a_marker_that_is_gone_is_not_extrapolated():
    rng = np.random.default_rng(4)
    noise = rng.normal(size=(500, 1, 3))
    out = run(CausalFilter(0.08), np.arange(500) / RATE, noise)
    rms = np.sqrt(np.mean([each.positions**2 for each in out[20:]]))
    assert rms < 0.6  # 0.505 for nine samples
    gone = CausalFilter(0.08, 0.02)
    run(gone, np.arange(20) / RATE, np.zeros((20, 1, 3)))
    missing = np.full((1, 3), np.nan)
    later = [gone.add((20 + k) / RATE, missing) for k in range(5)]
    assert np.isfinite(later[0].positions).all()
    assert np.isnan(later[-1].positions).all()


def test_without_window_positions_pass():
    filter_ = CausalFilter(0.0)
    points = np.random.default_rng(1).normal(size=(5, 2, 3))
    out = run(filter_, np.arange(5) / RATE, points)[-1]
    np.testing.assert_array_equal(out.positions, points[-1])
    assert out.time == 4 / RATE
    assert np.isfinite(out.velocities).all()
    filter_.reset()
    assert np.isnan(filter_.add(10.0, points[0]).velocities).all()


@pytest.mark.parametrize(("window", "delay"), [(-1.0, None), (0.1, 0.2), (0.1, -0.1), (11.0, 0.0)])
def test_impossible_filters_are_refused(window, delay):
    with pytest.raises(CaptureError, match="delay"):
        CausalFilter(window, delay)
