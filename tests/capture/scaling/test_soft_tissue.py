"""Soft-tissue artifacts as unknowns: their features, and what they leave of a known artifact."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import Trial, calibrate
from homodyn.capture.scaling import ScalingPrior
from homodyn.capture.scaling.soft_tissue import ARTIFACT_FEATURES, artifact_features
from homodyn.dynamics import marker_positions

ARTIFACTS_M_PER_RAD = {"Thigh": [0.02, 0.0, 0.01], "Shank": [-0.01, 0.0, 0.01]}
"""Displacement of the markers of thighs and shanks per radian of knee flexion."""


@pytest.fixture(scope="module")
def model():
    return hd.catalog.heiman()


def bent(model, angles):
    """Poses with both knees bent, hips and ankles following."""
    q = np.tile(model.neutral(), (len(angles), 1))
    for side in ("Right", "Left"):
        q[:, model.coordinate_index(f"Knee{side}_RY")] = angles
        q[:, model.coordinate_index(f"Hip{side}_RY")] = -0.9 * angles
        q[:, model.coordinate_index(f"Ankle{side}_RY")] = -0.3 * angles
    return q


def test_features_are_the_largest_angles_of_the_joints_of_a_body(model):
    angles = np.linspace(0.0, 1.2, 7)
    features = artifact_features(model, bent(model, angles))
    assert features.shape == (7, len(model.markers), ARTIFACT_FEATURES)
    assert np.abs(features[0]).max() < 1e-12
    at = {marker.name: k for k, marker in enumerate(model.markers)}
    np.testing.assert_allclose(features[:, at["RTHI"]].T, [angles, -0.9 * angles], atol=1e-12)
    np.testing.assert_allclose(features[:, at["RTIB"]].T, [angles, -0.3 * angles], atol=1e-12)
    np.testing.assert_allclose(features[:, at["RASI"]].T, [-0.9 * angles] * 2, atol=1e-12)
    assert not features[:, at["RFHD"]].any()


def test_artifacts_of_bent_knees_do_not_shift_the_zero_of_the_knee(model):
    """Standing, then squatting with skin that moves over thighs and shanks."""
    angles = np.concatenate([np.zeros(4), np.linspace(0.2, 1.6, 14)])
    q = bent(model, angles)
    positions = marker_positions(model, q)
    for k, marker in enumerate(model.markers):
        displacement = ARTIFACTS_M_PER_RAD.get(
            marker.body.removesuffix("Right").removesuffix("Left")
        )
        if displacement is not None:
            axes = hd.dynamics.orientation(model, q, marker.body)
            positions[:, k] += angles[:, None] * (axes @ np.array(displacement))
    positions += np.random.default_rng(0).normal(0.0, 5e-4, positions.shape)
    squats = Trial("squats", tuple(m.name for m in model.markers), positions, rate=20.0)

    def zero(prior):
        found = calibrate(model, squats, mass=75.0, prior=prior)
        standing = hd.capture.inverse_kinematics(found.model, squats).q[:4]
        knees = [model.coordinate_index(f"Knee{side}_RY") for side in ("Right", "Left")]
        return np.degrees(np.abs(standing[:, knees].mean()))

    without, found = zero(ScalingPrior(artifact=0.0)), zero(ScalingPrior())
    assert without > 2.0
    assert found < 0.5 * without


def test_a_recording_without_residuals_has_no_artifacts(model):
    q = bent(model, np.linspace(0.0, 1.2, 12))
    exact = Trial("exact", tuple(m.name for m in model.markers), marker_positions(model, q), 20.0)
    found = calibrate(model, replace(exact), mass=75.0, frames=8)
    assert found.noise_levels["artifact"] < 1e-3
    assert found.rms_after < 1e-4
