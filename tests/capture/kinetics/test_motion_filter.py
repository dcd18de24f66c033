"""Coordinates smoothed and differentiated, orientations included."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import filter_motion
from homodyn.errors import CaptureError
from homodyn.motion import Motion


@pytest.fixture(scope="module")
def turning():
    """A free body that turns all the way round, sampled densely."""
    model = hd.catalog.hdm()
    time = np.arange(601) / 300
    rng = np.random.default_rng(5)
    v = np.stack([np.sin(2 * time + k) for k in range(model.nv)], -1) * rng.uniform(
        0.5, 4, model.nv
    )
    q = [model.integrate(model.neutral(), 0.3 * rng.normal(size=model.nv))]
    # Steps of a tenth of a frame keep the error of going forward well below the tolerance.
    fine = np.linspace(0, time[-1], 10 * (len(time) - 1) + 1)
    for t in 0.5 * (fine[1:] + fine[:-1]):
        now = np.array([np.interp(t, time, column) for column in v.T])
        q.append(model.integrate(q[-1], now * (fine[1] - fine[0])))
    still = np.zeros_like(v)
    return Motion(model, time, np.array(q[::10]), still, still), v


def test_speeds_are_those_that_moved_the_model(turning):
    motion, v = turning
    found = filter_motion(motion, cutoff=None)
    np.testing.assert_allclose(found.v[5:-5], v[5:-5], atol=2e-3)
    rate = np.gradient(found.v, motion.time, axis=0)
    np.testing.assert_allclose(found.a[20:-20], rate[20:-20], atol=2e-2)


def test_the_sign_of_a_quaternion_does_not_matter(turning):
    motion, _ = turning
    q = np.array(motion.q)
    q[100:250, 3:7] *= -1
    flipped = filter_motion(replace(motion, q=q), cutoff=6.0)
    plain = filter_motion(motion, cutoff=6.0)
    np.testing.assert_allclose(flipped.v, plain.v, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(flipped.q[:, 3:7], axis=-1), 1, atol=1e-12)


def test_slow_motion_passes_and_fast_noise_does_not():
    model = hd.catalog.coman()
    time = np.arange(401) / 100
    slow = np.sin(2 * np.pi * 0.8 * time)
    q = np.tile(model.neutral(), (401, 1)) + slow[:, None]
    noisy = q + 0.01 * np.sin(2 * np.pi * 30 * time)[:, None]
    still = np.zeros((401, model.nv))
    found = filter_motion(Motion(model, time, noisy, still, still), cutoff=6.0)
    inner = slice(30, -30)
    np.testing.assert_allclose(found.q[inner], q[inner], atol=2e-3)
    exact = -((2 * np.pi * 0.8) ** 2) * slow
    assert np.abs(found.a[inner] - exact[inner, None]).max() < 0.05 * np.abs(exact).max()
    assert "6 Hz" in found.method


@pytest.mark.parametrize(
    ("change", "named", "message"),
    [
        ({}, {"cutoff": 60.0}, "half the rate"),
        ({}, {"style": "best"}, "accepted: zero-lag, opensim"),
        ({"time": np.arange(400) ** 1.01 / 100}, {}, "equally spaced"),
    ],
)
def test_motions_that_cannot_be_filtered_are_refused(change, named, message):
    model = hd.catalog.coman()
    still = np.zeros((400, model.nv))
    motion = Motion(model, np.arange(400) / 100, np.zeros((400, model.nq)), still, still)
    with pytest.raises(CaptureError, match=message):
        filter_motion(replace(motion, **change), **named)


def test_too_few_frames_are_refused():
    model = hd.catalog.coman()
    still = np.zeros((5, model.nv))
    with pytest.raises(CaptureError, match="5 frames; 6 are needed"):
        filter_motion(Motion(model, np.arange(5) / 100, np.zeros((5, model.nq)), still, still))
