"""The plane of covariation, compared with the eigenvectors of the covariance matrix."""

import numpy as np
import pytest

from homodyn.analysis.elevation_plane import fit_plane


def test_the_plane_has_the_principal_axes_of_the_covariance():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(400, 3)) @ np.diag([20.0, 8.0, 1.5]) @ rng.normal(size=(3, 3))
    shift = np.array([10.0, -5.0, 30.0])
    found = fit_plane(points + shift)
    variance, axes = np.linalg.eigh(np.cov(points.T))
    np.testing.assert_allclose(found.center, points.mean(axis=0) + shift, atol=1e-12)
    np.testing.assert_allclose(np.abs((found.axes * axes[:, ::-1]).sum(axis=0)), 1, atol=1e-9)
    assert found.variance_percent == pytest.approx(100 * variance[1:].sum() / variance.sum())


def test_points_of_a_plane_are_all_in_it_and_its_normal_is_the_last_axis():
    angle = np.linspace(0, 2 * np.pi, 60)
    normal = np.array([2.0, -1.0, 2.0]) / 3
    first = np.array([1.0, 2.0, 0.0]) / np.sqrt(5)
    second = np.cross(normal, first)
    loop = 40 * np.cos(angle)[:, None] * first + 15 * np.sin(angle)[:, None] * second
    found = fit_plane(loop)
    assert found.variance_percent == pytest.approx(100.0, abs=1e-10)
    assert abs(found.axes[:, 2] @ normal) == pytest.approx(1.0)
    assert abs(found.axes[:, 0] @ first) == pytest.approx(1.0, abs=1e-3)


def test_frames_with_a_missing_angle_are_left_out():
    points = np.random.default_rng(3).normal(size=(30, 3))
    holes = np.vstack([points, [[np.nan, 1.0, 2.0], [500.0, np.nan, 0.0]]])
    np.testing.assert_array_equal(fit_plane(holes).axes, fit_plane(points).axes)


def test_equal_points_have_no_variance():
    assert fit_plane(np.ones((5, 3))).variance_percent == 0.0
