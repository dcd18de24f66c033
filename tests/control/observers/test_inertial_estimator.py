"""The inertial estimator: against exact motions, with errors of the size that it expects."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.control import InertialEstimate, InertialEstimator, InertialNoise, InertialSensor
from homodyn.dynamics import orientation, position, velocity
from homodyn.errors import ModelError
from homodyn.model import Model

CORNERS = ("front_right", "front_left", "rear_right", "rear_left")
SUPPORTS = {side: [f"{side}_{c}" for c in CORNERS] for side in ("right", "left")}
DT = 0.01


@pytest.fixture(scope="module")
def bip() -> Model:
    return hd.catalog.bip()


def swaying(model: Model, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A body that turns about the ankles of both feet: pose, velocity and acceleration.

    Feet keep their pose: the legs are parallel, and the pelvis moves on a circle.
    """
    angle = 0.12 * np.sin(2.0 * t)
    rate, bend = 0.24 * np.cos(2.0 * t), -0.48 * np.sin(2.0 * t)
    q, v, a = model.neutral(), np.zeros(model.nv), np.zeros(model.nv)
    for side in ("right", "left"):
        k = model.coordinate_index(f"{side}_ankle_pitch")
        q[model.position_index[k]], v[k], a[k] = -angle, -rate, -bend
    k = model.coordinate_index("root_ry")
    q[model.position_index[k]], v[k], a[k] = angle, rate, bend
    ankle = position(model, model.neutral(), "right_ankle")
    arm = position(model, model.neutral(), "pelvis")[2] - ankle[2]
    for name, values in {
        "root_tx": (
            arm * np.sin(angle),
            arm * np.cos(angle) * rate,
            arm * (np.cos(angle) * bend - np.sin(angle) * rate**2),
        ),
        "root_tz": (
            arm * (np.cos(angle) - 1),
            -arm * np.sin(angle) * rate,
            -arm * (np.sin(angle) * bend + np.cos(angle) * rate**2),
        ),
    }.items():
        k = model.coordinate_index(name)
        q[model.position_index[k]] += values[0]
        v[k], a[k] = values[1:]
    return q, v, a


def estimates(
    model: Model, sensor: InertialSensor, seed: int, seconds: float, supports: tuple[str, ...]
) -> list[tuple[float, InertialEstimate]]:
    rng = np.random.default_rng(seed)
    q, v, _ = swaying(model, 0.0)
    noise = InertialNoise(start_position=1e-4, start_velocity=1e-4, start_attitude=1e-4)
    estimator = InertialEstimator(model, sensor.frame, SUPPORTS, q, start_velocity=v, noise=noise)
    found = []
    for k in range(1, round(seconds / DT) + 1):
        force, rate = sensor.measure(model, *swaying(model, (k - 0.5) * DT), rng)
        q, _, _ = swaying(model, k * DT)
        joints = q.copy()
        joints[list(model.root.q)] = np.nan
        joints[6:] += 5e-4 * rng.standard_normal(len(q) - 6)
        found.append((k * DT, estimator.update(force, rate, joints, supports, DT)))
    return found


def test_the_feet_of_the_motion_rest(bip: Model) -> None:
    for t in (0.2, 0.9):
        q, v, _ = swaying(bip, t)
        for name in (*SUPPORTS["right"], *SUPPORTS["left"]):
            np.testing.assert_allclose(velocity(bip, q, v, name), 0, atol=1e-12)


def test_a_resting_sensor_reads_gravity_and_a_turning_one_its_rate(bip: Model) -> None:
    exact = InertialSensor("pelvis", 0.0, 0.0)
    rng = np.random.default_rng(0)
    still = bip.neutral(), np.zeros(bip.nv), np.zeros(bip.nv)
    force, rate = exact.measure(bip, *still, rng)
    np.testing.assert_allclose(force, [0, 0, 9.81], atol=1e-9)
    np.testing.assert_allclose(rate, 0, atol=1e-12)
    h = 1e-5
    q, v, a = swaying(bip, 0.4)
    force, rate = exact.measure(bip, q, v, a, rng)
    ahead, back = (swaying(bip, 0.4 + s * h) for s in (1, -1))
    change = (velocity(bip, *ahead[:2], "pelvis") - velocity(bip, *back[:2], "pelvis")) / (2 * h)
    turn = orientation(bip, q, "pelvis")
    np.testing.assert_allclose(force, turn.T @ (change - bip.gravity), atol=1e-6)
    np.testing.assert_allclose(rate, [0, 0.24 * np.cos(0.8), 0], atol=1e-12)


def test_biases_are_found_and_errors_are_those_expected(bip: Model) -> None:
    sensor = InertialSensor(
        "pelvis",
        0.05,
        0.005,
        accelerometer_bias=(0.08, -0.05, 0.06),
        gyroscope_bias=(0.01, -0.01, 0.0),
    )
    scores = []
    for seed in range(2):
        for t, estimate in estimates(bip, sensor, seed, 4.0, ("right", "left")):
            q, v, _ = swaying(bip, t)
            gap = estimate.position - position(bip, q, "pelvis")
            if t > 1.0:
                scores.append(np.mean((gap / estimate.position_error) ** 2))
                assert np.linalg.norm(gap) < 6e-3
                speed = estimate.velocity - velocity(bip, q, v, "pelvis")
                assert np.linalg.norm(speed) < 0.02
        assert np.abs(estimate.gyroscope_bias - [0.01, -0.01, 0.0]).max() < 2e-3
        np.testing.assert_allclose(
            position(bip, estimate.q, "pelvis"), estimate.position, atol=1e-8
        )
    # Squared errors in units of the expected variance average to one.
    assert 0.3 < np.mean(scores) < 3.0


def test_without_a_support_the_expected_error_grows_with_the_error(bip: Model) -> None:
    sensor = InertialSensor("pelvis", 0.05, 0.005, gyroscope_bias=(0.0, 0.02, 0.0))
    free = estimates(bip, sensor, 4, 2.0, ())
    t, last = free[-1]
    gap = np.linalg.norm(last.position - position(bip, swaying(bip, t)[0], "pelvis"))
    expected = np.linalg.norm(last.position_error)
    supported = estimates(bip, sensor, 4, 2.0, ("left",))[-1][1]
    assert expected > 20 * np.linalg.norm(supported.position_error)
    assert gap < 4 * expected
    assert not last.loaded


def test_wrong_readings_are_refused(bip: Model) -> None:
    estimator = InertialEstimator(bip, "pelvis", SUPPORTS, bip.neutral())
    with pytest.raises(ModelError, match="middle"):
        estimator.update(np.zeros(3), np.zeros(3), bip.neutral(), ("middle",), 0.01)
    with pytest.raises(ModelError, match="finite"):
        estimator.update([np.nan, 0, 0], np.zeros(3), bip.neutral(), (), 0.01)
