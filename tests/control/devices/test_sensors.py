"""Encoders and force sensors; inertial sensors are tested with their estimator."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.control import InertialSensor, JointEncoders, SupportForceSensors
from homodyn.errors import ModelError


def test_encoders_round_and_do_not_see_the_root() -> None:
    bip = hd.catalog.bip()
    q = np.linspace(-0.5, 0.5, bip.nq)
    reading = JointEncoders(resolution=0.01).measure(bip, q, np.random.default_rng(0))
    assert np.isnan(reading[:6]).all()
    np.testing.assert_allclose(reading[6:], q[6:], atol=0.005 + 1e-12)
    np.testing.assert_allclose(reading[6:] / 0.01, np.round(reading[6:] / 0.01), atol=1e-9)


def test_noise_has_its_standard_deviation() -> None:
    bip = hd.catalog.bip()
    rng = np.random.default_rng(1)
    encoders = JointEncoders(noise=1e-3)
    readings = np.array([encoders.measure(bip, bip.neutral(), rng) for _ in range(200)])
    assert readings[:, 6:].std() == pytest.approx(1e-3, rel=0.1)


def test_forces_are_summed_by_support() -> None:
    sensors = SupportForceSensors({"right": ["a", "b"], "left": ["c"]})
    forces = np.array([[5.0, 0.0, 10.0], [0.0, 3.0, 20.0], [0.0, 0.0, 7.0]])
    found = sensors.measure(["a", "b", "c"], forces, np.random.default_rng(0))
    assert found == {"right": 30.0, "left": 7.0}


def test_negative_noise_is_refused() -> None:
    for make in (
        lambda: JointEncoders(noise=-1.0),
        lambda: SupportForceSensors({}, noise=-1.0),
        lambda: InertialSensor("pelvis", -1.0),
    ):
        with pytest.raises(ModelError, match="from 0 up"):
            make()
