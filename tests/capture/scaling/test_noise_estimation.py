"""Noise levels of a recording, and errors that repeat with the pose."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import homodyn as hd
from homodyn.capture import calibrate
from homodyn.capture.scaling import ScalingPrior
from homodyn.capture.scaling.noise_estimation import (
    INDEPENDENT_FRAMES,
    MAX_ARTIFACT_RATIO,
    MIN_ARTIFACT,
    NoiseLevels,
    artifact_level,
    camera_noise,
)
from homodyn.dynamics import marker_positions
from support.subjects import subject


def smooth(frames: int, seed: int = 0) -> np.ndarray:
    """Paths of ten markers that swing about once a second, at 100 frames a second."""
    rng = np.random.default_rng(seed)
    t = np.arange(frames)[:, None, None] / 100
    return 0.3 * np.sin(2 * np.pi * t * rng.uniform(0.5, 1.5, (10, 3)) + rng.uniform(0, 6, (10, 3)))


@pytest.mark.parametrize("noise", [2e-4, 1e-3, 5e-3])
def test_camera_noise_is_separated_from_smooth_movement(noise):
    rng = np.random.default_rng(1)
    positions = smooth(300) + rng.normal(0, noise, (300, 10, 3))
    positions[50:80, 3] = np.nan
    positions[200, 5] += 1.0
    assert camera_noise(positions) == pytest.approx(noise, rel=0.1)
    assert camera_noise(smooth(300)) < 2e-5
    assert camera_noise(positions[:3]) == np.inf


def test_movement_between_distant_frames_is_no_camera_noise():
    # Three rigid clusters that move and turn by much from frame to frame, as in a thinned trial.
    rng = np.random.default_rng(2)
    bodies = ["thigh"] * 4 + ["shank"] * 4 + ["foot"] * 2
    places = rng.normal(0, 0.1, (10, 3))
    cluster = np.array([0] * 4 + [1] * 4 + [2] * 2)
    turns = Rotation.from_rotvec(rng.normal(0, 0.5, (120, 3))).as_matrix().reshape(40, 3, 3, 3)
    paths = rng.normal(0, 0.2, (40, 3, 3))
    positions = paths[:, cluster] + np.einsum("fmij,mj->fmi", turns[:, cluster], places)
    positions += rng.normal(0, 4e-4, positions.shape)
    assert camera_noise(positions) > 0.1
    assert camera_noise(positions, bodies) == pytest.approx(4e-4, rel=0.2)
    # Where every marker is alone on its body, only positions are left.
    assert camera_noise(positions, [str(k) for k in range(10)]) == camera_noise(positions)


def test_errors_that_repeat_count_as_a_few_frames():
    white = NoiseLevels(0.01, 0.03, noise=0.001, camera=0.001, factors=np.ones(2))
    frames = np.array([40, 2])
    np.testing.assert_allclose(white.effective_noise(frames), 0.001)
    np.testing.assert_allclose(replace(white, camera=np.inf).effective_noise(frames), 0.001)
    repeated = NoiseLevels(0.01, 0.03, noise=0.004, camera=0.0, factors=np.ones(2))
    many, few = repeated.effective_noise(np.array([30, 2]))
    # Many frames together carry as much information as a few.
    assert many / np.sqrt(30) == pytest.approx(0.004 / np.sqrt(INDEPENDENT_FRAMES))
    # A marker that only a static trial shows loses nothing to the frames that lack it.
    assert few == pytest.approx(0.004)


def test_residuals_of_rounding_are_no_artifacts():
    spread = ScalingPrior()
    assert artifact_level(spread, noise=0.9 * spread.min_noise, camera=0.0) == MIN_ARTIFACT
    assert artifact_level(spread, noise=0.002, camera=0.002) == MIN_ARTIFACT
    repeated = np.sqrt(3e-4**2 - 1e-4**2)
    found = artifact_level(spread, noise=3e-4, camera=1e-4)
    assert found == pytest.approx(MAX_ARTIFACT_RATIO * repeated)
    assert artifact_level(spread, noise=0.002, camera=2e-4) == spread.artifact


def test_a_marker_with_large_errors_has_a_noise_of_its_own():
    """Shoulders of a model without a shoulder girdle must not blur the knees."""
    generic = hd.catalog.heiman()
    person = subject(generic, 22, shift=0.005, frames=30)
    rng = np.random.default_rng(3)
    k = person.trial.markers.index("C7")
    positions = person.trial.positions.copy()
    positions[:, k] += rng.normal(0.0, 0.04, (30, 3))
    trial = replace(person.trial, positions=positions)
    found = calibrate(generic, trial, mass=80.0, symmetric=False)
    assert found.noise_levels["noise"] < 0.002
    assert found.marker_shifts[k].rms_after > 0.03


def test_skin_that_slides_with_the_pose_does_not_lengthen_bones():
    """A marker that slides by up to 8 mm with the angles looks like another joint center."""
    generic = hd.catalog.heiman()
    person = subject(generic, 21, shift=0.005, frames=2)
    rng = np.random.default_rng(2)
    phase = 2 * np.pi * np.arange(220)[:, None] / 110 + rng.uniform(0, 2 * np.pi, generic.nv)
    q = np.tile(generic.neutral(), (220, 1))
    low, high = generic.lower[6:], generic.upper[6:]
    swing = np.clip(0.3 * (high - low), 0.0, 0.35)
    q[:, 6:] = (low + high) / 2 + swing * np.sin(phase[:, 6:])
    seen = marker_positions(person.model, q)
    slide = rng.uniform(-0.008, 0.008, (len(generic.markers), 3))
    with_hips = np.sin(phase[:, 6])[:, None, None]
    seen = seen + slide * with_hips + rng.normal(0.0, 3e-4, seen.shape)
    trial = replace(person.trial, positions=seen, filled=np.zeros((0, 0), dtype=bool))
    found = calibrate(generic, trial, mass=80.0, symmetric=False)
    assert camera_noise(trial.positions) == pytest.approx(3e-4, rel=0.3)
    for name in ("ThighRight", "ShankRight", "ThighLeft", "ShankLeft"):
        i = generic.body_names.index(name)
        row = found.bodies[i]
        assert abs(row.scale[2] - person.scales[i, 2]) < 3 * row.sd[2] + 0.005, name
        assert row.sd[2] < 0.06
