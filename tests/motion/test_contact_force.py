"""Forces at points as one wrench: nothing is lost, and the point is the center of pressure."""

import numpy as np
import pytest

from homodyn.motion import ContactForce, Side

UP = np.array([0.0, 0.0, 1.0])


def moment_about_origin(force):
    return np.cross(np.nan_to_num(force.point), force.force) + force.torque


@pytest.fixture(scope="module")
def random_forces():
    rng = np.random.default_rng(3)
    forces, points, couples = rng.normal(size=(3, 5, 4, 3))
    forces[..., 2] = np.abs(forces[..., 2]) + 0.1
    return forces, points, couples


def test_the_wrench_is_that_of_all_forces(random_forces):
    forces, points, couples = random_forces
    found = ContactForce.from_points("FootRight", forces, points, UP, couples=couples)
    np.testing.assert_allclose(found.force, forces.sum(axis=1), atol=1e-12)
    expected = (np.cross(points, forces) + couples).sum(axis=1)
    np.testing.assert_allclose(moment_about_origin(found), expected, atol=1e-12)
    assert found.side is Side.RIGHT


def test_level_points_leave_a_free_moment_about_the_vertical_alone(random_forces):
    forces, points, _ = random_forces
    level = points * [1.0, 1.0, 0.0]
    found = ContactForce.from_points("FootLeft", forces, level, UP)
    np.testing.assert_allclose(found.torque[:, :2], 0.0, atol=1e-12)
    assert np.abs(found.torque[:, 2]).min() > 1e-3
    # The center of pressure by its definition: horizontal moments vanish there.
    moment = np.cross(level, forces).sum(axis=1)
    total = forces.sum(axis=1)
    np.testing.assert_allclose(found.point[:, 0], -moment[:, 1] / total[:, 2], atol=1e-12)
    np.testing.assert_allclose(found.point[:, 1], moment[:, 0] / total[:, 2], atol=1e-12)


def test_a_wall_has_a_point_of_application_too():
    forces = np.array([[[10.0, 0.0, 0.0], [30.0, 0.0, 0.0]]])
    points = np.array([[[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]]])
    found = ContactForce.from_points("hand", forces, points, UP)
    np.testing.assert_allclose(found.point, [[0.0, 0.0, 1.75]])
    np.testing.assert_allclose(found.torque, 0.0, atol=1e-12)
    assert found.side is None


def test_an_unloaded_body_has_no_point():
    found = ContactForce.from_points("hand", np.zeros((2, 3, 3)), np.ones((2, 3, 3)), UP)
    assert np.isnan(found.point).all()
    assert not found.force.any()
    assert not found.torque.any()


def test_forces_are_resampled_linearly_and_points_by_the_nearest_frame():
    old, new = np.array([0.0, 1.0]), np.array([0.0, 0.4, 0.6])
    point = np.array([[np.nan] * 3, [1.0, 2.0, 0.0]])
    force = ContactForce("foot", None, np.array([[0.0] * 3, [10.0] * 3]), point, np.zeros((2, 3)))
    found = force.resample(old, new)
    np.testing.assert_allclose(found.force[:, 2], [0.0, 4.0, 6.0])
    assert np.isnan(found.point[:2]).all()
    np.testing.assert_array_equal(found.point[2], [1.0, 2.0, 0.0])
