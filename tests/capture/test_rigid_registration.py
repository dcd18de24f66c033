"""Registration of point sets: known placements, and an independent solver."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from homodyn.capture.rigid_registration import register_points

RNG = np.random.default_rng(11)
POINTS = RNG.normal(size=(6, 3))
TURN = Rotation.from_rotvec([0.4, 1.9, -0.8]).as_matrix()
SHIFT = np.array([3.0, -2.0, 0.5])


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])])
def test_a_placement_without_noise_is_found(weights):
    rotation, translation = register_points(POINTS, POINTS @ TURN.T + SHIFT, weights)
    np.testing.assert_allclose(rotation, TURN, atol=1e-12)
    np.testing.assert_allclose(translation, SHIFT, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_noisy_points_are_registered_as_by_scipy(weighted):
    target = POINTS @ TURN.T + SHIFT + RNG.normal(scale=0.2, size=POINTS.shape)
    weights = RNG.uniform(0.2, 2.0, 6) if weighted else np.ones(6)
    center, goal = (np.average(p, axis=0, weights=weights) for p in (POINTS, target))
    expected, _ = Rotation.align_vectors(target - goal, POINTS - center, weights)
    rotation, translation = register_points(POINTS, target, weights if weighted else None)
    np.testing.assert_allclose(rotation, expected.as_matrix(), atol=1e-9)
    np.testing.assert_allclose(translation, goal - rotation @ center, atol=1e-12)


@pytest.mark.parametrize("weights", [None, np.ones(6)])
def test_mirrored_points_get_a_rotation_and_no_reflection(weights):
    rotation, _ = register_points(POINTS, POINTS * (1, -1, 1), weights)
    assert np.linalg.det(rotation) == pytest.approx(1.0)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)


def test_a_point_without_weight_has_no_influence():
    target = POINTS @ TURN.T + SHIFT
    target[2] += 50.0
    rotation, translation = register_points(POINTS, target, np.array([1.0, 1, 0, 1, 1, 1]))
    np.testing.assert_allclose(rotation, TURN, atol=1e-12)
    np.testing.assert_allclose(translation, SHIFT, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_batch_equals_its_single_sets(weighted):
    source, target = RNG.normal(size=(2, 4, 5, 3))
    weights = RNG.uniform(0.5, 1.0, (4, 5)) if weighted else None
    rotations, translations = register_points(source, target, weights)
    for k in range(4):
        each = None if weights is None else weights[k]
        rotation, translation = register_points(source[k], target[k], each)
        np.testing.assert_allclose(rotations[k], rotation, atol=1e-12)
        np.testing.assert_allclose(translations[k], translation, atol=1e-12)
